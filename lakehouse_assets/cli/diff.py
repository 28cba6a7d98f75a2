"""`lakehouse diff`: which files and definitions changed."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from lakehouse_assets.cli.completed import repository_names
from lakehouse_assets.cli.output import json_option, print_json
from lakehouse_assets.core.settings import Settings, load_settings
from lakehouse_assets.core.text import visible

if TYPE_CHECKING:
    from lakehouse_assets.assets.change.between import Difference

_SIGNS = {
    "added": "+",
    "deleted": "-",
    "removed": "-",
    "modified": "~",
    "body_changed": "~",
    "signature_changed": "!",
    "renamed": "→",
    "moved": "→",
    "mode_changed": "m",
}


@click.command()
@click.argument("repo", shell_complete=repository_names)
@click.argument("commits", metavar="[A..B]", required=False)
@click.option("--edges", is_flag=True, help="Tell which calls, imports, bases and references came and went instead.")
@click.option(
    "--kind",
    "kinds",
    multiple=True,
    type=click.Choice(["CALL", "IMPORT", "INHERITS", "OVERRIDES", "REF"]),
    help="Only edges of this kind; may be repeated. Goes with --edges.",
)
@json_option
def diff(repo: str, commits: str | None, edges: bool, kinds: tuple[str, ...], as_json: bool) -> None:
    """Tell which files and definitions of REPO changed from commit A to commit B.

    Without commits it tells of the last update. Comments and layout change no definition. Starts no JVM.
    """
    if kinds and not edges:
        raise click.UsageError("--kind goes with --edges")
    settings = load_settings()
    found = difference(settings, repo, commits)
    rows = _edge_rows(settings, repo, found, kinds) if edges else []
    if as_json:
        told = difference_as_json(repo, found)
        print_json({**{name: told[name] for name in ("repo", "from", "to")}, "edges": rows} if edges else told)
    elif edges:
        _print_edges(repo, found, rows)
    else:
        _print(repo, found)


def difference(settings: Settings, repo: str, commits: str | None) -> "Difference":
    from lakehouse_assets.assets.change.between import between, last_update
    from lakehouse_assets.lake.registry import Registry
    from lakehouse_assets.lake.tables import Lake

    lake = Lake(settings.lake)
    (repository,) = Registry(lake).get([repo])
    return between(settings, repository, commits) if commits else last_update(lake, repository)


def _edge_rows(settings: Settings, repo: str, found: "Difference", kinds: tuple[str, ...]) -> list[dict[str, Any]]:
    from lakehouse_assets.lake.edge_changes import KINDS, edge_changes
    from lakehouse_assets.lake.tables import Lake

    if found.from_commit is None or found.to_commit is None:
        return []
    ends = (found.from_commit, found.to_commit)
    return edge_changes(Lake(settings.lake), repo, ends, kinds or KINDS).to_pylist()


def difference_as_json(repo: str, found: "Difference") -> dict[str, Any]:
    return {
        "repo": repo,
        "from": found.from_commit,
        "to": found.to_commit,
        "files": found.files.drop_columns(["repo", "from_commit", "to_commit"]).to_pylist(),
        "definitions": found.definitions.drop_columns(["repo", "from_commit", "to_commit"]).to_pylist(),
        "notes": list(found.notes),
    }


def title(repo: str, found: "Difference") -> str:
    if found.to_commit is None:
        return f"{repo}: no update with changes is known; `lakehouse sync {repo}` makes the first"
    if found.from_commit is None:
        return f"{repo}: first brought to {found.to_commit[:12]}, so there is nothing to compare with"
    return f"{repo}: {found.from_commit[:12]}..{found.to_commit[:12]}"


def definition_line(row: Mapping[str, Any]) -> str:
    """A changed definition as one line: what it is now, and what became of its signature or place."""
    sign = _SIGNS[row["change"]]
    name = f"{row['kind']} {row['name']}{row['signature'] or row['old_signature'] or ''}"
    told = {
        "signature_changed": f", before: {row['old_signature'] or 'no signature'}",
        "moved": f", before: {row['old_symbol']}",
    }
    return visible(f"{sign} {name} ({row['change'].replace('_', ' ')}{told.get(row['change'], '')})")


def _print_edges(repo: str, found: "Difference", rows: list[dict[str, Any]]) -> None:
    click.echo(title(repo, found))
    for row in rows:
        elsewhere = "" if row["target_repo"] == repo else f"{row['target_repo']}: "
        line = f"{_SIGNS[row['change']]} {row['kind']} {row['source']} → {elsewhere}{row['target'] or 'unknown'}"
        click.echo(visible(line))
    click.echo(f"{len(rows)} edges changed", err=True)


def _print(repo: str, found: "Difference") -> None:
    click.echo(title(repo, found))
    by_path: dict[str, list[dict[str, Any]]] = {}
    for row in found.definitions.to_pylist():
        by_path.setdefault(row["path"], []).append(row)
    for file in found.files.to_pylist() if found.from_commit else ():
        renamed = f" from {file['old_path']}, {file['similarity']} % equal" if file["change"] == "renamed" else ""
        click.echo(visible(f"{_SIGNS[file['change']]} {file['path']} ({file['change'].replace('_', ' ')}{renamed})"))
        for row in by_path.get(file["path"], ()):
            click.echo(f"    {definition_line(row)}")
    for note in found.notes:
        click.echo(note, err=True)
    click.echo(f"{found.files.num_rows} files, {found.definitions.num_rows} definitions changed", err=True)
