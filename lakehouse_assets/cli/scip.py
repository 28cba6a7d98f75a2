"""`lakehouse scip`: SCIP indexes that other tools wrote."""

from collections import Counter
from pathlib import Path

import click

from lakehouse_assets.cli.completed import repository_names
from lakehouse_assets.cli.output import json_option, print_json
from lakehouse_assets.core.diagnostics import listening
from lakehouse_assets.core.settings import load_settings
from lakehouse_assets.core.text import visible

_EXAMPLES = 3


@click.group()
def scip() -> None:
    """Read SCIP indexes, such as scip-python and scip-typescript write."""


@scip.command("import")
@click.argument("name", shell_complete=repository_names)
@click.argument("index", type=click.Path(path_type=Path), metavar="INDEX")
@json_option
def import_(name: str, index: Path, as_json: bool) -> None:
    """Bring what the SCIP index INDEX says about the repository NAME into the scip tables.

    Documents that did not change are left alone, and those that the index no longer has are deleted. An index speaks
    for the documents of its own indexer only, so that a repository may have one of each. An index that cannot be read
    to its end is refused, and nothing is written.
    """
    from lakehouse_assets.cli.progress import Progress
    from lakehouse_assets.lake.registry import Registry
    from lakehouse_assets.lake.repository_locks import held
    from lakehouse_assets.lake.scip_import import import_index
    from lakehouse_assets.lake.tables import Lake

    settings = load_settings()
    progress = Progress(quiet=as_json)
    with listening(progress.on_diagnostic), held(settings.locks, [name]):
        (repository,) = Registry(Lake(settings.lake)).get([name])
        with progress.step("import"):
            done = import_index(settings, repository, index)
    if as_json:
        print_json(
            {
                "repository": done.repository,
                "indexer": done.indexer,
                "indexer_version": done.indexer_version,
                "documents": {
                    "added": done.added,
                    "changed": done.changed,
                    "removed": done.removed,
                    "unchanged": done.unchanged,
                },
                "rows_changed": dict(done.rows),
            }
        )
        return
    click.echo(
        f"{name}: {done.added:,} documents added, {done.changed:,} changed, {done.removed:,} removed, "
        f"{done.unchanged:,} unchanged ({visible(done.indexer)} {visible(done.indexer_version)})"
    )
    for table, rows in done.rows.items():
        click.echo(f"  {rows:,} rows changed in {table}")


@scip.command("check")
@click.argument("index", type=click.Path(path_type=Path), metavar="INDEX")
@json_option
@click.pass_context
def check(ctx: click.Context, index: Path, as_json: bool) -> None:
    """Check that a SCIP index keeps the format's rules; exit code 1 if it does not.

    Symbols follow the grammar, are told of once and defined once; occurrences are in order, within the document's text
    if the index has it, and of symbols that are told of; relationships lead somewhere.
    """
    from lakehouse_assets.extract.scip.check import check_index
    from lakehouse_assets.extract.scip.index import Index, open_index

    with open_index(index) as file:
        opened = Index(file, str(index))
        counts: Counter[str] = Counter()
        examples: dict[str, list[dict[str, str]]] = {}
        for problem in check_index(opened):
            counts[problem.rule] += 1
            if counts[problem.rule] <= _EXAMPLES:
                examples.setdefault(problem.rule, []).append({"path": problem.path, "what": problem.what})
        documents = sum(bool(entry.documents) for entry in opened.entries())
    if as_json:
        told = {rule: {"problems": count, "examples": examples[rule]} for rule, count in counts.items()}
        print_json({"documents": documents, "rules_broken": told})
    else:
        for rule, count in counts.items():
            click.echo(f"{rule}: {count:,} problems")
            for example in examples[rule]:
                click.echo(f"  {visible(example['path'])}: {visible(example['what'])}")
        click.echo(f"{documents:,} documents, {counts.total():,} problems")
    ctx.exit(1 if counts else 0)
