"""`lakehouse replay`: takes a repository's commits one after the other, and tells what each update cost."""

import statistics
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from lakehouse_assets.cli.output import json_option, print_json, print_rows
from lakehouse_assets.cli.progress import Progress
from lakehouse_assets.core.settings import Settings, load_settings

if TYPE_CHECKING:
    from lakehouse_assets.core.repository import Repository
    from lakehouse_assets.sources.line import LineCommit

_SUBJECT_SHOWN = 44
_START = "(start: brought to the commit before)"


@dataclass(frozen=True, kw_only=True)
class Update:
    """What one update did and took; seconds by group are those of its assets, `total` also has what Dagster took."""

    commit_sha: str
    subject: str
    files_changed: int | None
    rows_changed: int
    seconds: Mapping[str, float]
    total: float
    run_id: str


@click.command()
@click.argument("name")
@click.argument("span", required=False, metavar="[A..B]")
@click.option("--last", type=click.IntRange(min=1), metavar="N", help="The last N commits of the head.")
@json_option
def replay(name: str, span: str | None, last: int | None, as_json: bool) -> None:
    """Take NAME's commits one after the other, each as an update of its own, and tell what each cost.

    The commits are those of the first-parent line, after A up to B, or the last N. The repository is first brought
    to the commit before them, and ends at the last.
    """
    if (span is None) == (last is None):
        raise click.UsageError("give A..B or --last N")
    if span is not None and not all(span.partition("..")):
        raise click.UsageError("A..B needs a commit on both sides")
    settings = load_settings()
    progress = Progress(quiet=as_json)
    done: list[Update] = []
    try:
        for update in replayed(settings, name, span, last, progress):
            done.append(update)
    finally:
        if done and not as_json:  # also what was done before an update failed
            _print(done)
    if as_json:
        print_json([_as_json(update) for update in done])


def replayed(settings: Settings, name: str, span: str | None, last: int | None, progress: Progress) -> Iterator[Update]:
    """Carry the updates out, one by one. Dagster is loaded and its instance opened once for all of them."""
    from lakehouse_assets.cli.runs import running
    from lakehouse_assets.lake.registry import Registry
    from lakehouse_assets.lake.tables import Lake

    (repository,) = Registry(Lake(settings.lake)).get([name])
    line = _line(settings, repository, span, last)
    with running(settings, Progress(quiet=True)) as run:  # a line for each update, not for each table
        groups = _groups()

        def update(commit: "LineCommit | str") -> Update:
            started = time.perf_counter()
            at_start = isinstance(commit, str)
            sha = commit if at_start else commit.commit_sha
            with progress.step(sha[:10]):
                (result,) = run({name: sha})
            seconds = dict.fromkeys(groups.values(), 0.0)
            for step, taken in result.seconds.items():
                seconds[groups[step]] += taken
            return Update(
                commit_sha=sha,
                subject=_START if at_start else commit.subject,
                files_changed=None if at_start else commit.files_changed,
                rows_changed=sum(result.rows.values()),
                seconds={group: round(taken, 2) for group, taken in seconds.items() if taken},
                total=round(time.perf_counter() - started, 2),
                run_id=result.run_id,
            )

        before = line[0].before if line else None
        if before is not None and _is_stale(settings, repository, before):
            yield update(before)
        yield from map(update, line)


def _line(settings: Settings, repository: "Repository", span: str | None, last: int | None) -> "list[LineCommit]":
    from lakehouse_assets.sources.head import resolve_head
    from lakehouse_assets.sources.line import read_line
    from lakehouse_assets.sources.mirror import git_directory, refresh

    refresh(repository, settings.mirrors, skip=settings.home)
    first, _, end = span.partition("..") if span else ("", "", None)
    after = resolve_head(repository, settings.mirrors, first).commit_sha if first else None
    head = resolve_head(repository, settings.mirrors, end)
    return read_line(git_directory(repository, settings.mirrors), repository.name, head, after=after, last=last)


def _is_stale(settings: Settings, repository: "Repository", commit: str) -> bool:
    from lakehouse_assets.assets.freshness import plan_sync

    plan = plan_sync(settings, [repository], to=commit)
    for error in plan.errors.values():
        raise error
    return bool(plan.stale)


def _groups() -> dict[str, str]:
    """The group of each step by its name; checks are one group."""
    from lakehouse_assets.definitions import defs

    return {
        each.node_def.name: next(iter(each.group_names_by_key.values()), "checks")
        for each in defs.resolve_asset_graph().assets_defs
        if each.is_executable
    }


def _print(done: list[Update]) -> None:
    groups = list(dict.fromkeys(group for update in done for group in update.seconds))
    rows = [
        {
            "commit": update.commit_sha[:10],
            "subject": _short(update.subject),
            "files": update.files_changed,
            "rows": update.rows_changed,
            **{f"{group} s": update.seconds.get(group, 0.0) for group in groups},
            "all s": update.total,
        }
        for update in done
    ]
    print_rows(rows, list(rows[0]))
    totals = [update.total for update in done if update.subject != _START]
    if totals:
        click.echo(
            f"\n{len(totals)} updates in {sum(totals):.1f} s: half of them within {statistics.median(totals):.2f} s, "
            f"all within {max(totals):.2f} s"
        )


def _short(text: str) -> str:
    return text if len(text) <= _SUBJECT_SHOWN else text[: _SUBJECT_SHOWN - 1] + "…"


def _as_json(update: Update) -> dict[str, Any]:
    return {
        "commit": update.commit_sha,
        "subject": update.subject,
        "files_changed": update.files_changed,
        "rows_changed": update.rows_changed,
        "seconds": {**update.seconds, "all": update.total},
        "run_id": update.run_id,
    }
