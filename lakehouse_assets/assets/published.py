"""Which published commit somebody means by `REPO@COMMIT`: an id, the beginning of one, a branch or a tag."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.published import PublishedCommit, published_commits
from lakehouse_assets.lake.registry import Registry
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.sources.head import resolve_head

_BEGINNING = re.compile(r"[0-9a-f]{4,40}")
_NEAREST = 3


def find_published(settings: Settings, text: str) -> PublishedCommit:
    """The commit that `text` names, refused with the nearest ones if the graph was never brought to it."""
    name, at, wanted = text.partition("@")
    if not (name and at and wanted):
        raise BadInputError(
            subject=f"commit {text!r}",
            seen="it is not a repository and a commit with @ between them",
            why="a graph is read of one repository at one commit",
            remedy="write REPO@COMMIT, such as flask@main or flask@1a2b3c4",
        )
    lake = Lake(settings.lake)
    (repository,) = Registry(lake).get([name])
    known = published_commits(lake, name)
    begun = [each for each in known if each.commit_sha.startswith(wanted)] if _BEGINNING.fullmatch(wanted) else []
    if len(begun) > 1:
        raise BadInputError(
            subject=f"commit {text!r}",
            seen=f"{len(begun)} published commits begin like this: {_listed(begun)}",
            why="it does not say which of them is meant",
            remedy="give more digits of the commit's id",
        )
    if begun:
        return begun[0]
    sha = resolve_head(repository, settings.mirrors, wanted).commit_sha
    found = next((each for each in known if each.commit_sha == sha), None)
    if found is None:
        raise _never_published(lake, text, name, sha, known)
    return found


def told_commits(lake: Lake, repo: str) -> dict[str, dict[str, Any]]:
    """When each commit of the repository was made, and its subject, by id."""
    rows = lake.rows(COMMITS, columns=["repo", "commit_sha", "committed_at", "subject"])
    return {row["commit_sha"]: row for row in rows if row["repo"] == repo}


def _never_published(lake: Lake, text: str, name: str, sha: str, known: Sequence[PublishedCommit]) -> BadInputError:
    made = {commit: row["committed_at"] for commit, row in told_commits(lake, name).items()}
    near = _nearest(sha, known, made)
    return BadInputError(
        subject=f"commit {text!r}",
        seen=f"the graph was never brought to {sha[:12]}"
        + (f"; the nearest that it was brought to are {_listed(near)}" if near else ""),
        why="no version of the tables tells of it",
        remedy=f"`lakehouse sync {name} --to {sha[:12]}` brings it there; `lakehouse versions {name}` lists the others",
    )


def _nearest(sha: str, known: Sequence[PublishedCommit], made: dict[str, datetime | None]) -> list[PublishedCommit]:
    """By the time of the commit; the last published ones where that is not known."""
    at = made.get(sha)
    if at is None:
        return list(known[:_NEAREST])

    def distance(each: PublishedCommit) -> float:
        there = made.get(each.commit_sha)
        return float("inf") if there is None else abs((there - at).total_seconds())

    return sorted(known, key=distance)[:_NEAREST]


def _listed(commits: Sequence[PublishedCommit]) -> str:
    return ", ".join(each.commit_sha[:12] for each in commits)
