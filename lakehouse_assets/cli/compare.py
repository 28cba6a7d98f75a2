"""`lakehouse run-diff` and `lakehouse delta-diff`: what differs between two runs, or two versions of a table."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lakehouse_assets.cli.completed import table_names
from lakehouse_assets.cli.instance import open_instance
from lakehouse_assets.cli.output import json_option, print_json
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.settings import load_settings
from lakehouse_assets.core.text import visible

if TYPE_CHECKING:
    from lakehouse_assets.stories.records import RowDiff, RunDiff

page_option = click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="File for the page.")


@click.command("run-diff")
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@page_option
@json_option
def run_diff(first: str, second: str, output: Path | None, as_json: bool) -> None:
    """Tell what differs between runs A and B: in logic, in settings, in inputs, and in the rows that came of it.

    The beginning of a run's id is enough. Rows are compared where contents differ.

    \b
    Example:
      lakehouse run-diff 223ab2e6 ac12a5d7 -o drift.html
    """
    from lakehouse_assets.automation.run_records import find_run, run_record
    from lakehouse_assets.lake.run_difference import run_difference
    from lakehouse_assets.lake.tables import Lake
    from lakehouse_assets.stories.diff_pages import run_diff_page
    from lakehouse_assets.stories.records import as_json as values

    settings = load_settings()
    with open_instance(settings) as instance:
        runs = [run_record(instance, find_run(instance, run)) for run in (first, second)]
    found = run_difference(Lake(settings.lake), *runs)
    if output is not None:
        _write(output, run_diff_page(found))
    if as_json:
        told = values(found)
        for drift, record in zip(told["drifts"], found.drifts, strict=True):
            drift["kinds"] = record.kinds
        print_json(told)
    elif output is None:
        for line in _run_lines(found):
            click.echo(visible(line))


@click.command("delta-diff")
@click.argument("table", shell_complete=table_names)
@click.argument("first", metavar="V1", type=click.IntRange(min=0))
@click.argument("second", metavar="V2", type=click.IntRange(min=0))
@click.option("--limit", type=click.IntRange(0, 1000), default=5, help="Rows of each kind to show (default: 5).")
@page_option
@json_option
def delta_diff(table: str, first: int, second: int, limit: int, output: Path | None, as_json: bool) -> None:
    """Tell which rows of TABLE were added, removed and changed from version V1 to V2, by key, with samples.

    Only files that one version has and the other has not are read. Starts no JVM.

    \b
    Example:
      lakehouse delta-diff snapshots 1 2
    """
    from lakehouse_assets.lake.run_story import table_contracts
    from lakehouse_assets.lake.tables import Lake
    from lakehouse_assets.lake.version_diff import version_diff
    from lakehouse_assets.stories.diff_pages import version_diff_page
    from lakehouse_assets.stories.records import as_json as values

    lake = Lake(load_settings().lake)
    contract = table_contracts(lake, [table]).get(table)
    if contract is None:
        raise BadInputError(
            subject=f"table {table!r}",
            seen="no table has this name",
            why="there is nothing to compare",
            remedy="see `lakehouse tables`",
        )
    found = version_diff(lake, contract, first, second, limit=limit)
    if output is not None:
        _write(output, version_diff_page(found))
    if as_json:
        print_json(values(found))
    elif output is None:
        for line in _row_lines(found):
            click.echo(visible(line))


def _write(output: Path, text: str) -> None:
    output.write_text(text, encoding="utf-8")
    click.echo(f"wrote {output}", err=True)


def _row_lines(diff: "RowDiff") -> Iterator[str]:
    from lakehouse_assets.stories.rows import sample_lines

    counts = f"{diff.added:,} added, {diff.removed:,} removed, {diff.changed:,} changed"
    yield f"{diff.table} from version {diff.before} to {diff.after}: {counts}"
    yield from sample_lines(diff.samples)


def _run_lines(diff: "RunDiff") -> Iterator[str]:
    yield f"run {diff.first.run_id[:8]} against {diff.second.run_id[:8]}"
    for drift in diff.drifts:
        if drift.kinds == ("none",):
            continue
        parts = ", ".join(part.name for part in drift.key.parts if part.changed)
        told = "new" if drift.kinds == ("new",) else f"{' and '.join(drift.kinds)} changed ({parts})"
        yield f"{drift.what}: {told}"
        if drift.rows is not None:
            yield f"  {drift.rows.added:,} rows added, {drift.rows.removed:,} removed, {drift.rows.changed:,} changed"
        elif drift.note:
            yield f"  {drift.note}"
    equal = sum(drift.kinds == ("none",) for drift in diff.drifts)
    yield f"{equal} of {len(diff.drifts)} are equal"
