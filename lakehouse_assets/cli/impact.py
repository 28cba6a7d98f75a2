"""`lakehouse impact`: who a change touches."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from lakehouse_assets.cli.completed import repository_names
from lakehouse_assets.cli.diff import definition_line, difference, difference_as_json, title
from lakehouse_assets.cli.output import json_option, print_json
from lakehouse_assets.core.settings import load_settings
from lakehouse_assets.core.text import visible

if TYPE_CHECKING:
    from lakehouse_assets.assets.change.between import Difference
    from lakehouse_assets.lake.impact import Impacted

_LIMIT = 4
_SHOWN = 200
"""Lines of a tree; --json has all of it."""


@click.command()
@click.argument("repo", shell_complete=repository_names)
@click.argument("commits", metavar="[A..B]", required=False)
@click.option(
    "--limit", type=click.IntRange(1, 100), default=_LIMIT, help=f"Steps from the change to follow (default: {_LIMIT})."
)
@json_option
def impact(repo: str, commits: str | None, limit: int, as_json: bool) -> None:
    """Tell who is touched by what changed in REPO from commit A to commit B, in every repository.

    Callers, subclasses and importers, by the shortest way to each. Without commits it tells of the last update.
    Starts no JVM.
    """
    from lakehouse_assets.lake.impact import impact_of
    from lakehouse_assets.lake.tables import Lake

    settings = load_settings()
    found = difference(settings, repo, commits)
    touched = impact_of(
        Lake(settings.lake), repo, found.definitions, found.files, from_commit=found.from_commit, limit=limit
    )
    if as_json:
        print_json(_as_json(repo, found, touched))
    else:
        _print(repo, found, touched)


def _as_json(repo: str, found: "Difference", touched: "Impacted") -> dict[str, Any]:
    return {
        **difference_as_json(repo, found),
        "callers": touched.callers.drop_columns(["repo"]).to_pylist(),
        "importers": touched.importers.drop_columns(["repo"]).to_pylist(),
        "impacted_files": touched.files.drop_columns(["repo"]).to_pylist(),
        "limit": touched.limit,
        "more_callers": touched.more_callers,
        "more_importers": touched.more_importers,
        "notes": [*found.notes, *touched.notes],
    }


def _print(repo: str, found: "Difference", touched: "Impacted") -> None:
    click.echo(title(repo, found))
    callers, importers = touched.callers.to_pylist(), touched.importers.to_pylist()
    called = children_of(callers)
    lines: list[str] = []
    for row in found.definitions.to_pylist():
        roots = [symbol for symbol in dict.fromkeys([row["symbol"], row["old_symbol"]]) if symbol]
        below = [line for root in roots for line in tree(called, root, "symbol")]
        if below:
            lines += [f"{visible(row['path'])}: {definition_line(row)}", *below]
    imported = children_of(importers)
    importing = [line for root in _roots(importers) for line in tree(imported, root, "impacted_path")]
    lines += ["importers", *importing] if importing else []
    for line in lines[:_SHOWN]:
        click.echo(line)
    if len(lines) > _SHOWN:
        click.echo(f"… {len(lines) - _SHOWN} more lines; --json has all")
    for note in (*found.notes, *touched.notes, *_limits(touched)):
        click.echo(note, err=True)
    changed = sum(row["distance"] == 0 for row in touched.files.to_pylist())
    click.echo(
        f"{found.definitions.num_rows} definitions in {changed} files changed; {len(callers)} definitions and "
        f"{touched.files.num_rows - changed} other files are touched",
        err=True,
    )


Children = Mapping[tuple[str, int], Sequence[Mapping[str, Any]]]


def children_of(rows: Sequence[Mapping[str, Any]]) -> Children:
    """Rows by what they were reached by, and at which distance: two repositories may have one symbol."""
    found: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
    for row in rows:
        found.setdefault((row["via_symbol"], row["distance"]), []).append(row)
    return found


def tree(children: Children, root: str, name: str, *, distance: int = 1, indent: str = "") -> list[str]:
    """Whoever was reached by `root`, and whoever was reached by them, one line each."""
    below = children.get((root, distance), ())
    lines: list[str] = []
    for number, row in enumerate(below):
        last = number == len(below) - 1
        where = f"{row['impacted_repo']}: {row[name]} ({row['reason'].replace('_', ' ')})"
        lines.append(indent + ("└─ " if last else "├─ ") + visible(where))
        deeper = indent + ("   " if last else "│  ")
        lines += tree(children, row[name], name, distance=distance + 1, indent=deeper)
    return lines


def _roots(importers: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the nearest importers import, in order."""
    return sorted({row["via_symbol"] for row in importers if row["distance"] == 1})


def _limits(touched: "Impacted") -> list[str]:
    words = [word for word, more in (("callers", touched.more_callers), ("importers", touched.more_importers)) if more]
    return [f"there are {' and '.join(words)} more than {touched.limit} steps away; see --limit"] if words else []
