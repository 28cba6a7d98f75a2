"""`lakehouse verify`: builds repositories clean in a scratch lake and compares every table, row by row."""

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lakehouse_assets.cli.completed import repository_names
from lakehouse_assets.cli.output import json_option, print_json, print_rows
from lakehouse_assets.cli.progress import Progress
from lakehouse_assets.core.errors import LakeStateError
from lakehouse_assets.core.settings import Settings, load_settings

if TYPE_CHECKING:
    from lakehouse_assets.core.repository import Repository
    from lakehouse_assets.lake.comparison import Difference
    from lakehouse_assets.lake.ledger import Entry, EntryKey
    from lakehouse_assets.lake.tables import Lake

Compared = Mapping[str, "Sequence[Difference]"]
"""By repository the comparison of each of its tables."""


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME…]", shell_complete=repository_names)
@click.option("--all", "everything", is_flag=True, help="Every repository that was synced.")
@click.option("--at", "commit", metavar="COMMIT", help="Sync the one repository that is named to this commit first.")
@json_option
@click.pass_context
def verify(ctx: click.Context, names: tuple[str, ...], everything: bool, commit: str | None, as_json: bool) -> None:
    """Prove that the rows of repositories are what a clean build gives: zero rows may differ.

    The clean build goes into a scratch lake below LAKEHOUSE_HOME, which is removed again. What a repository reads of
    the others is built with it. Syncs may go on meanwhile: the rows of this moment are compared.
    """
    from lakehouse_assets.cli.sync import sync_repositories

    if everything == bool(names):
        raise click.UsageError("give NAMEs or --all")
    if commit is not None and len(names) != 1:
        raise click.UsageError("--at COMMIT goes with exactly one NAME")
    settings = load_settings()
    if commit is not None:
        sync_repositories(settings, names, to={names[0]: commit}, quiet=as_json)
    compared = verified(settings, names, quiet=as_json)
    if as_json:
        print_json([{"repo": repo, **difference_json(each)} for repo, found in compared.items() for each in found])
    else:
        for repo, found in compared.items():
            click.echo(f"{repo}\n")
            print_differences(found)
    ctx.exit(1 if any(each.is_there for found in compared.values() for each in found) else 0)


def verified(settings: Settings, names: Sequence[str] = (), *, quiet: bool) -> Compared:
    """The comparison of every table that tells of repositories at their heads; no names means all that were synced."""
    from lakehouse_assets.lake.comparison import compare
    from lakehouse_assets.lake.registry import Registry
    from lakehouse_assets.lake.tables import Lake
    from lakehouse_assets.recipes.catalog import HEAD_TABLES

    lake = Lake(settings.lake)
    Registry(lake).get(names)
    registered = Registry(lake).all()
    commits = _commits(lake, registered)
    chosen = list(names) or list(commits)
    _refuse_unsynced([name for name in chosen if name not in commits] if chosen else ["--all"])
    versions = _versions(settings, lake, [registered[name] for name in chosen], commits)
    with _scratch_home(settings) as scratch:
        clean = Lake(scratch.lake)
        Registry(clean).add(registered.values())
        _build_others(
            scratch, lake, [registered[name] for name in commits if name not in chosen], chosen, commits, quiet
        )
        _build(scratch, [registered[name] for name in chosen], commits, Progress(quiet=quiet))
        return {
            repo: [compare(lake, clean, table, repo, version=versions.get(table.name)) for table in HEAD_TABLES]
            for repo in chosen
        }


def _commits(lake: "Lake", registered: "Mapping[str, Repository]") -> dict[str, str]:
    """By repository the commit whose files were extracted last: what others see of it."""
    from lakehouse_assets.contracts.extracts import EXTRACTS
    from lakehouse_assets.contracts.snapshots import SNAPSHOTS
    from lakehouse_assets.lake.ledger import Ledger
    from lakehouse_assets.lake.neighbours import extracted
    from lakehouse_assets.plan.cursors import read_position

    latest = Ledger(lake).latest([SNAPSHOTS, EXTRACTS])
    entries = {repo: extracted(latest, repo) for repo in sorted(registered)}
    found = {repo: read_position(entry.cursor) for repo, entry in entries.items() if entry is not None}
    return {repo: each.commit for repo, each in found.items() if each is not None}


def _refuse_unsynced(names: Sequence[str]) -> None:
    for name in names:
        raise LakeStateError(
            subject="the lake" if name == "--all" else f"repository {name!r}",
            seen="it has never been synced",
            why="there are no rows to compare with a clean build",
            remedy=f"run `lakehouse sync {name}` first",
        )


def _versions(
    settings: Settings, lake: "Lake", chosen: "Sequence[Repository]", commits: Mapping[str, str]
) -> dict[str, int]:
    """The tables' versions, at which the chosen repositories are as their commits are.

    The ledger is read before and behind them: what was written meanwhile would be of another state.
    """
    from lakehouse_assets.assets.freshness import plan_sync
    from lakehouse_assets.lake.ledger import Ledger
    from lakehouse_assets.recipes.catalog import HEAD_TABLES

    names = {each.name for each in chosen}

    def entries() -> "dict[EntryKey, Entry]":
        return {key: entry for key, entry in Ledger(lake).latest(HEAD_TABLES).items() if key[1] in names}

    before = entries()
    versions = {table.name: lake.open(table).version() for table in HEAD_TABLES if lake.exists(table)}
    plan = plan_sync(settings, chosen, to=commits, fetch=False)
    for error in plan.errors.values():
        raise error
    behind = {each.repository.name: ", ".join(sorted({reason.asset for reason in each.reasons})) for each in plan.stale}
    behind |= {repo: table for (table, repo), entry in entries().items() if before.get((table, repo)) != entry}
    for name, tables in behind.items():
        raise LakeStateError(
            subject=f"repository {name!r}",
            seen=f"a sync of it is under way or due: {tables} not as what it is made from",
            why="its rows are of no one state that could be built clean",
            remedy="run `lakehouse sync --all`, then verify",
        )
    return versions


def _build(scratch: Settings, chosen: "Sequence[Repository]", commits: Mapping[str, str], progress: Progress) -> None:
    from lakehouse_assets.assets.freshness import plan_sync
    from lakehouse_assets.cli.runs import run_sync
    from lakehouse_assets.cli.sync import failed_in, until_fresh

    plan = plan_sync(scratch, chosen, to=commits, fetch=False)
    plan, results = until_fresh(scratch, plan, lambda stale: run_sync(scratch, stale, progress))
    for error in failed_in(plan, results).values():
        raise error


def _build_others(
    scratch: Settings,
    lake: "Lake",
    others: "Sequence[Repository]",
    chosen: Sequence[str],
    commits: Mapping[str, str],
    quiet: bool,
) -> None:
    """Make of the other repositories what those to compare may read."""
    from lakehouse_assets.assets.freshness import plan_sync
    from lakehouse_assets.cli.runs import run_sync
    from lakehouse_assets.lake.neighbours import readers_of
    from lakehouse_assets.recipes.catalog import READ_BY_OTHERS

    plan = plan_sync(scratch, others, to=commits, fetch=False)
    for name, error in plan.errors.items():
        readers = [reader for reader in readers_of(lake, name) if reader in chosen]
        if readers:
            raise LakeStateError(
                subject=f"repository {readers[0]!r}",
                seen=f"it was linked with {name!r}, which cannot be read: {error.seen}",
                why="a clean build without it would differ",
                remedy=f"{error.remedy}; or remove {name!r} and sync {readers[0]!r} before it is verified",
            )
        if not quiet:
            click.echo(f"{name} is left out: it cannot be read ({error.seen}), and nothing compared reads it", err=True)
    if plan.stale:
        run_sync(scratch, plan, Progress(quiet=quiet), assets=[table.name for table in READ_BY_OTHERS])


@contextmanager
def _scratch_home(settings: Settings) -> Iterator[Settings]:
    """A home of its own for the clean build; the mirrors of remote repositories are shared."""
    settings.home.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="verify-", dir=settings.home) as folder:
        home = Path(folder)
        settings.mirrors.mkdir(parents=True, exist_ok=True)
        kept = {name: os.environ.get(name) for name in ("LAKEHOUSE_HOME", "LAKEHOUSE_LAKE", "DAGSTER_HOME")}
        os.environ["LAKEHOUSE_HOME"] = str(home)
        os.environ["LAKEHOUSE_LAKE"] = str(home / "lake")  # on this machine's disk, wherever the lake itself is
        os.environ.pop("DAGSTER_HOME", None)  # the project's own: its storage is below LAKEHOUSE_HOME, and quicker
        try:
            scratch = load_settings()
            scratch.mirrors.parent.mkdir(parents=True, exist_ok=True)
            scratch.mirrors.symlink_to(settings.mirrors, target_is_directory=True)
            yield scratch
        finally:
            for name, value in kept.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value


def print_differences(differences: "Sequence[Difference]") -> None:
    wrong = [each for each in differences if each.is_there]
    rows = [
        {"table": each.table, "rows": each.rows, "only here": each.surplus, "only in a clean build": each.lacking}
        for each in differences
    ]
    print_rows(rows, list(rows[0]))
    for each in wrong:
        click.echo(f"\n{each.table} differs in {', '.join(each.owners) or 'rows without an owner'}; the first rows:")
        print_rows(each.examples, list(each.examples[0]))
    click.echo("\nEvery row is as in a clean build." if not wrong else f"\n{len(wrong)} tables differ.")


def difference_json(each: "Difference") -> dict[str, Any]:
    return {
        "table": each.table,
        "rows": each.rows,
        "surplus": each.surplus,
        "lacking": each.lacking,
        "owners": list(each.owners),
        "examples": list(each.examples),
    }
