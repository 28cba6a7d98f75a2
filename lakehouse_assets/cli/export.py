"""`lakehouse export`: the graph in the formats of other tools."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from lakehouse_assets import __version__
from lakehouse_assets.cli.completed import repository_names
from lakehouse_assets.cli.output import json_option, print_json
from lakehouse_assets.core.settings import load_settings

if TYPE_CHECKING:
    from lakehouse_assets.lake.tables import Lake

_T = TypeVar("_T")

_file_option = click.option(
    "-o", "--output", type=click.Path(path_type=Path), required=True, metavar="FILE", help="File to write."
)


@click.group()
def export() -> None:
    """Write a repository's graph in the formats of other tools.

    Files are written beside their place and renamed, so that what is there is always whole. Memory does not grow with
    the graph.
    """


@export.command("scip")
@click.argument("name", shell_complete=repository_names)
@_file_option
@json_option
def scip(name: str, output: Path, as_json: bool) -> None:
    """Write definitions, references and inheritance of NAME as a SCIP index.

    Symbols read `lakehouse LANGUAGE NAME COMMIT descriptors`. Edges that are guesses are left out.
    """
    from lakehouse_assets.lake.exports.scip import export_scip

    done = _run("scip", as_json, lambda lake: export_scip(lake, _known(lake, name), output, tool_version=__version__))
    _tell(as_json, {"repository": name, "file": str(output), **asdict(done)})


@export.command("graphml")
@click.argument("name", shell_complete=repository_names)
@_file_option
@json_option
def graphml(name: str, output: Path, as_json: bool) -> None:
    """Write all nodes and edges of NAME as GraphML, which Gephi, yEd and NetworkX read."""
    from lakehouse_assets.lake.exports.graphml import export_graphml

    done = _run("graphml", as_json, lambda lake: export_graphml(lake, _known(lake, name), output))
    _tell(as_json, {"repository": name, "file": str(output), **asdict(done)})


@export.command("neo4j-csv")
@click.argument("name", shell_complete=repository_names)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), required=True, metavar="DIR", help="Folder to write to."
)
@json_option
def neo4j_csv(name: str, output: Path, as_json: bool) -> None:
    """Write nodes.csv and relationships.csv of NAME for Neo4j.

    Load them with `neo4j-admin database import full --multiline-fields=true --nodes=nodes.csv
    --relationships=relationships.csv`.
    """
    from lakehouse_assets.lake.exports.neo4j import export_neo4j

    done = _run("neo4j-csv", as_json, lambda lake: export_neo4j(lake, _known(lake, name), output))
    _tell(as_json, {"repository": name, "folder": str(output), **asdict(done)})


@export.command("callgraph")
@click.argument("name", required=False, shell_complete=repository_names)
@click.option("--all", "everything", is_flag=True, help="Every registered repository, a file NAME.json each.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FILE_OR_DIR",
    help="File to write; with --all the folder.",
)
@json_option
def callgraph(name: str | None, everything: bool, output: Path, as_json: bool) -> None:
    """Write who calls whom as JSON in PyCG's shape: caller to list of callees.

    Names are dotted from the repository's root. Code of a module itself goes by the module's name, what is built in by
    `<builtin>.name`.
    """
    if everything == bool(name):
        raise click.UsageError("give NAME or --all")
    from lakehouse_assets.lake.exports.callgraph import export_callgraphs
    from lakehouse_assets.lake.registry import Registry

    def write(lake: "Lake") -> dict[str, Any]:
        if name:
            return export_callgraphs(lake, {_known(lake, name): output})
        from lakehouse_assets.lake.exports.atomic import output_folder

        folder = output_folder(output)
        return export_callgraphs(lake, {each: folder / f"{each}.json" for each in Registry(lake).all()})

    done = _run("callgraph", as_json, write)
    _tell(as_json, {"output": str(output), "callgraphs": {each: asdict(counts) for each, counts in done.items()}})


def _run(step: str, quiet: bool, write: "Callable[[Lake], _T]") -> _T:
    from lakehouse_assets.cli.progress import Progress
    from lakehouse_assets.lake.tables import Lake

    with Progress(quiet=quiet).step(f"export {step}"):
        return write(Lake(load_settings().lake))


def _known(lake: "Lake", name: str) -> str:
    from lakehouse_assets.lake.registry import Registry

    (repository,) = Registry(lake).get([name])
    return repository.name


def _tell(as_json: bool, facts: dict[str, Any]) -> None:
    if as_json:
        print_json(facts)
        return
    callgraphs = facts.pop("callgraphs", None)
    place = facts.pop("file", None) or facts.pop("folder", None) or facts.pop("output")
    facts.pop("repository", None)
    if callgraphs is not None:
        facts = {"callgraphs": len(callgraphs), "calls": sum(counts["calls"] for counts in callgraphs.values())}
    click.echo(f"{place}: " + ", ".join(f"{count:,} {what.replace('_', ' ')}" for what, count in facts.items()))
