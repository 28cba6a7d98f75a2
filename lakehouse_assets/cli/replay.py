"""`lakehouse replay`: takes a repository's commits one after the other, and tells what each update cost.

With `--verify-every N` it is the proof, over real history, that updates give what a clean build gives.
"""

import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from lakehouse_assets.cli.completed import repository_names
from lakehouse_assets.cli.output import json_option, print_json, print_rows
from lakehouse_assets.cli.progress import Progress
from lakehouse_assets.cli.verify import difference_json, print_differences, verified
from lakehouse_assets.core.settings import Settings, load_settings

if TYPE_CHECKING:
    from lakehouse_assets.core.repository import Repository
    from lakehouse_assets.lake.comparison import Difference
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
    compared: "Sequence[Difference] | None" = None
    """How every table compares with a clean build after it; None where that was not asked."""

    @property
    def is_wrong(self) -> bool:
        return any(each.is_there for each in self.compared or ())


@click.command()
@click.argument("name", shell_complete=repository_names)
@click.argument("span", required=False, metavar="[A..B]")
@click.option("--last", type=click.IntRange(min=1), metavar="N", help="The last N commits of the head.")
@click.option(
    "--verify-every",
    type=click.IntRange(min=1),
    metavar="N",
    help="After every N commits and after the last, compare every row with a clean build, as `verify` does.",
)
@json_option
@click.pass_context
def replay(
    ctx: click.Context, name: str, span: str | None, last: int | None, verify_every: int | None, as_json: bool
) -> None:
    """Take NAME's commits one after the other, each as an update of its own, and tell what each cost.

    The commits are those of the first-parent line, after A up to B, or the last N. The repository is first brought
    to the commit before them, and ends at the last; or, with --verify-every, where the first row differs from a clean
    build, with exit code 1.
    """
    if (span is None) == (last is None):
        raise click.UsageError("give A..B or --last N")
    if span is not None and not all(span.partition("..")):
        raise click.UsageError("A..B needs a commit on both sides")
    settings = load_settings()
    progress = Progress(quiet=as_json)
    done: list[Update] = []
    try:
        for update in replayed(settings, name, span, last, progress, verify_every=verify_every):
            done.append(update)
            if update.is_wrong:
                break
    finally:
        if done and not as_json:  # also what was done before an update failed
            _print(done)
    if as_json:
        print_json([_as_json(update) for update in done])
    ctx.exit(1 if done and done[-1].is_wrong else 0)


def replayed(
    settings: Settings,
    name: str,
    span: str | None,
    last: int | None,
    progress: Progress,
    *,
    verify_every: int | None = None,
) -> Iterator[Update]:
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
        for number, commit in enumerate(line, start=1):
            done = update(commit)
            if verify_every and (number % verify_every == 0 or number == len(line)):
                with progress.step(f"verify {commit.commit_sha[:10]}"):
                    done = replace(done, compared=verified(settings, [name], quiet=True)[name])
            yield done


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

    plan = plan_sync(settings, [repository], to={repository.name: commit})
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
    verifies = any(update.compared is not None for update in done)
    rows = [
        {
            "commit": update.commit_sha[:10],
            "subject": _short(update.subject),
            "files": update.files_changed,
            "rows": update.rows_changed,
            **{f"{group} s": update.seconds.get(group, 0.0) for group in groups},
            "all s": update.total,
            **({"rows that differ": _differing(update)} if verifies else {}),
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
    compared = [update for update in done if update.compared is not None]
    if compared:
        rows_compared = sum(each.rows for update in compared for each in update.compared or ())
        click.echo(f"compared with a clean build {len(compared)} times, {rows_compared:,} rows in all")
    if done[-1].is_wrong:
        click.echo(f"\nAt {done[-1].commit_sha[:10]}, where the repository now stands:\n")
        print_differences(done[-1].compared or ())


def _differing(update: Update) -> int | None:
    return None if update.compared is None else sum(each.surplus + each.lacking for each in update.compared)


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
        "compared": None if update.compared is None else [difference_json(each) for each in update.compared],
    }
