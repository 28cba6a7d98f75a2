"""`lakehouse models`: the models of the folder, and their unit tests."""

from typing import TYPE_CHECKING

import click

from lakehouse_assets.cli.output import json_option, print_json, print_rows
from lakehouse_assets.core.settings import Settings, load_settings

if TYPE_CHECKING:
    from lakehouse_assets.models.project import Project


@click.group()
def models() -> None:
    """SQL models: the .sql files of the folder that LAKEHOUSE_MODELS names."""


@models.command("list")
@json_option
def list_models(as_json: bool) -> None:
    """List the models with what they read; a model that is wrong is refused with its file and line."""
    rows = [
        {
            "model": name,
            "materialization": meaning.header.materialization,
            "reads": list(meaning.inputs),
            "tags": list(meaning.header.tags),
            "version": meaning.data,
            "description": meaning.header.description.strip(),
        }
        for name, meaning in _project(load_settings()).meanings.items()
    ]
    if as_json:
        print_json(rows)
    elif rows:
        shown = [row | {"reads": ", ".join(row["reads"]), "tags": ", ".join(row["tags"])} for row in rows]
        print_rows(shown, list(rows[0]))
    else:
        click.echo(f"there are no models in {load_settings().models}")


@models.command()
@click.argument("names", nargs=-1, metavar="[MODEL…]")
@json_option
@click.pass_context
def test(ctx: click.Context, names: tuple[str, ...], as_json: bool) -> None:
    """Run the unit tests of the models (`NAME.test.yaml` files) over the rows they give. Nothing is written."""
    from lakehouse_assets.lake.model_tests import run_test
    from lakehouse_assets.lake.session import runtime_for
    from lakehouse_assets.lake.tables import Lake
    from lakehouse_assets.models.unit_tests import unit_tests_in

    settings = load_settings()
    project = _project(settings)
    results = [
        run_test(
            Lake(settings.lake),
            project,
            each,
            engine=settings.engine,
            spark=lambda: runtime_for(settings).session,
        )
        for each in unit_tests_in(settings.models, settings.variables)
        if not names or each.model in names
    ]
    if as_json:
        print_json(
            [
                {
                    "test": each.test.name,
                    "model": each.test.model,
                    "passed": each.passed,
                    "missing": each.missing,
                    "surplus": each.surplus,
                }
                for each in results
            ]
        )
    else:
        for each in results:
            click.echo(f"{'✓' if each.passed else '✗'} {each.test.model}: {each.test.name}")
            for row in each.missing:
                click.echo(f"    expected, and not given: {dict(row)}")
            for row in each.surplus:
                click.echo(f"    given, and not expected: {dict(row)}")
        click.echo(f"{sum(each.passed for each in results)} of {len(results)} tests passed")
    ctx.exit(0 if all(each.passed for each in results) else 1)


def _project(settings: Settings) -> "Project":
    from lakehouse_assets.lake.known_tables import known_tables
    from lakehouse_assets.lake.tables import Lake
    from lakehouse_assets.models.files import files_in
    from lakehouse_assets.models.project import load_project

    return load_project(files_in(settings.models, settings.variables), known_tables(Lake(settings.lake)))
