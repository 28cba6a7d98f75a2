"""`lakehouse new`: starting points that run and pass their tests."""

import re
from collections.abc import Mapping
from pathlib import Path

import click

from lakehouse_assets.cli.output import json_option, print_json
from lakehouse_assets.cli.starting_points import asset_files, ingest_files, model_files, project_files
from lakehouse_assets.core.errors import BadInputError

_folder = click.option(
    "--folder", type=click.Path(path_type=Path), default=Path(), help="The project's folder; default: this one."
)


@click.group()
def new() -> None:
    """Write a starting point: a project, or one more ingest, model or asset for it, and schemas for editors."""


@new.command()
@click.argument("folder", type=click.Path(path_type=Path))
@json_option
def project(folder: Path, as_json: bool) -> None:
    """Write a project into FOLDER: data, an ingest, a model, an asset, and tests of them."""
    from lakehouse_assets.cli.editor_schemas import schema_files

    _write(folder, {**project_files(folder.resolve().name), **schema_files()}, as_json=as_json)
    click.echo(f"begin with `cd {folder} && lakehouse ingest --all`", err=True)


@new.command()
@click.argument("name")
@_folder
@json_option
def ingest(name: str, folder: Path, as_json: bool) -> None:
    """Write an ingest of files, with data and a test."""
    _write(folder, ingest_files(_checked(name)), as_json=as_json)


@new.command()
@click.argument("name")
@_folder
@json_option
def model(name: str, folder: Path, as_json: bool) -> None:
    """Write an SQL model and its unit test."""
    _write(folder, model_files(_checked(name)), as_json=as_json)


@new.command()
@click.argument("name")
@_folder
@json_option
def asset(name: str, folder: Path, as_json: bool) -> None:
    """Write a Dagster asset and its test."""
    _write(folder, asset_files(_checked(name)), as_json=as_json)


@new.command()
@_folder
@json_option
def schemas(folder: Path, as_json: bool) -> None:
    """Write JSON schemas of the YAML files in ingest and models, by which editors complete and check them.

    They are written anew each time, as this version knows them.
    """
    from lakehouse_assets.cli.editor_schemas import schema_files

    files = schema_files()
    for name in files:
        (folder / name).unlink(missing_ok=True)
    _write(folder, files, as_json=as_json)


def _checked(name: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,62}", name):
        raise BadInputError(
            subject=f"name {name!r}",
            seen="it has other characters than small letters, digits and underscores, or begins with none",
            why="it becomes the name of files, a table and a function",
            remedy="choose a name such as shop_orders",
        )
    return name


def _write(folder: Path, files: Mapping[str, str], *, as_json: bool) -> None:
    """All of them or none; packages that several share may be there already."""
    shared = {"assets/__init__.py"}
    there = [name for name in files if (folder / name).exists() and name not in shared]
    if there:
        raise BadInputError(
            subject=str(folder / there[0]),
            seen="it is there already",
            why="what somebody wrote would be lost; nothing was written",
            remedy="choose another name or folder",
        )
    written: list[str] = []
    for name, text in files.items():
        path = folder / name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            written.append(str(path))
    if as_json:
        print_json({"written": written})
    else:
        click.echo("\n".join(f"  {path}" for path in written))
