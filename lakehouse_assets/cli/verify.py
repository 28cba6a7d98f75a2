"""`lakehouse verify`: builds a repository clean in a scratch lake and compares every table, row by row."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lakehouse_assets.cli.completed import repository_names
from lakehouse_assets.cli.output import json_option, print_json, print_rows
from lakehouse_assets.core.errors import LakeStateError
from lakehouse_assets.core.settings import Settings, load_settings

if TYPE_CHECKING:
    from lakehouse_assets.lake.comparison import Difference


@click.command()
@click.argument("repo", shell_complete=repository_names)
@click.option("--at", "commit", metavar="COMMIT", help="Sync the repository to this commit first.")
@json_option
@click.pass_context
def verify(ctx: click.Context, repo: str, commit: str | None, as_json: bool) -> None:
    """Prove that REPO's rows are what a clean build gives: zero rows may differ.

    The clean build goes into a scratch lake below LAKEHOUSE_HOME, which is removed again.
    """
    from lakehouse_assets.cli.sync import sync_repositories

    settings = load_settings()
    if commit is not None:
        sync_repositories(settings, (repo,), to=commit, quiet=as_json)
    differences = verified(settings, repo, quiet=as_json)
    if as_json:
        print_json([difference_json(each) for each in differences])
    else:
        print_differences(differences)
    ctx.exit(1 if any(each.is_there for each in differences) else 0)


def verified(settings: Settings, repo: str, *, quiet: bool) -> "list[Difference]":
    """The comparison of every table that tells of the repository at its head."""
    from lakehouse_assets.assets.graph.derivation_list import HEAD_TABLES
    from lakehouse_assets.cli.sync import sync_repositories
    from lakehouse_assets.contracts.commits import COMMITS
    from lakehouse_assets.lake.comparison import compare
    from lakehouse_assets.lake.ledger import Ledger
    from lakehouse_assets.lake.registry import Registry
    from lakehouse_assets.lake.tables import Lake

    grown = Lake(settings.lake)
    registry = Registry(grown)
    registry.get([repo])
    entry = Ledger(grown).latest([COMMITS]).get((COMMITS.name, repo))
    if entry is None or not entry.cursor:
        raise LakeStateError(
            subject=f"repository {repo!r}",
            seen="it has never been synced",
            why="there are no rows to compare with a clean build",
            remedy=f"run `lakehouse sync {repo}` first",
        )
    with _scratch_home(settings) as scratch:
        clean = Lake(scratch.lake)
        Registry(clean).add(registry.all().values())
        for name in (*_neighbours(grown, repo), repo):
            at = Ledger(grown).latest([COMMITS])[COMMITS.name, name].cursor
            sync_repositories(scratch, (name,), to=at, quiet=quiet)
        return [compare(grown, clean, contract, repo) for contract in HEAD_TABLES]


def _neighbours(lake: Any, repo: str) -> list[str]:
    """The repositories in which linking this one found something, also where that led nowhere in the end."""
    from lakehouse_assets.lake.link_store import consulted_repositories

    return consulted_repositories(lake, repo)


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
