"""The first-parent line of a head, commit by commit, with what each changed: how a repository came to where it is."""

from dataclasses import dataclass
from pathlib import Path

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.sources.commits import parsed_commit, shown_field, subject
from lakehouse_assets.sources.head import Head
from lakehouse_assets.sources.objects import Objects, shallow_boundary
from lakehouse_assets.sources.trees import NotComparable, changes_since, tree_files


@dataclass(frozen=True, kw_only=True)
class LineCommit:
    """A commit on the line; `before` is its first parent, None at the root and where a shallow clone is cut off."""

    commit_sha: str
    before: str | None
    subject: str
    files_changed: int


def read_line(
    git_dir: Path, repository: str, head: Head, *, after: str | None = None, last: int | None = None
) -> list[LineCommit]:
    """The commits up to the head, oldest first: those after the commit `after`, or the `last` ones."""
    if head.is_directory:
        raise BadInputError(
            subject=f"repository {repository}",
            seen="it is a plain directory",
            why="it has no commits to go along",
            remedy="make it a git repository",
        )
    objects = Objects(git_dir, repository)
    boundary = shallow_boundary(objects)
    line: list[LineCommit] = []
    sha: str | None = head.commit_sha
    while sha and sha != after and (last is None or len(line) < last):
        commit = parsed_commit(objects.read(sha, "commit"))
        parents = [] if sha in boundary else commit.parents
        before = parents[0] if parents else None
        line.append(
            LineCommit(
                commit_sha=sha,
                before=before,
                subject=shown_field(subject(commit.message), commit.encoding),
                files_changed=_files_changed(objects, before, commit.tree),
            )
        )
        sha = before
    if after is not None and sha != after:
        raise BadInputError(
            subject=f"commits {after[:12]}..{head.commit_sha[:12]} of repository {repository}",
            seen="the first is not on the first-parent line of the second",
            why="there is no way from one to the other, commit after commit",
            remedy=f"choose a commit that `git log --first-parent {head.commit_sha[:12]}` shows there",
        )
    return line[::-1]


def _files_changed(objects: Objects, before: str | None, tree: str) -> int:
    changes = changes_since(objects, before, tree) if before else None
    if changes is None or isinstance(changes, NotComparable):
        return sum(1 for _ in tree_files(objects, tree))
    return len(changes.files) + len(changes.gone)
