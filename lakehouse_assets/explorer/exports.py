"""Exports to download: written to a file of their own first, so that a half one is never sent."""

import shutil
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from lakehouse_assets import __version__
from lakehouse_assets.lake.exports.callgraph import export_callgraphs
from lakehouse_assets.lake.exports.graphml import export_graphml
from lakehouse_assets.lake.exports.neo4j import NODES_FILE, RELATIONSHIPS_FILE, export_neo4j
from lakehouse_assets.lake.exports.scip import export_scip
from lakehouse_assets.lake.registry import Registry
from lakehouse_assets.lake.tables import Lake

FORMATS: dict[str, tuple[str, str]] = {
    "scip": ("SCIP index", "{repo}.scip"),
    "graphml": ("GraphML", "{repo}.graphml"),
    "neo4j-csv": ("Neo4j's CSV, both files in a ZIP", "{repo}.neo4j.zip"),
    "callgraph": ("Call graph as JSON, in PyCG's shape", "{repo}.callgraph.json"),
}
"""By name: what it is, and the name of its file."""


def export_file(lake: Lake, name: str, repo: str) -> Path:
    """The export of a repository in a folder of its own, which its reader removes."""
    (repository,) = Registry(lake).get([repo])
    folder = Path(tempfile.mkdtemp(prefix="lakehouse-export-"))
    file = folder / FORMATS[name][1].format(repo=repository.name)
    writers: dict[str, Callable[[], object]] = {
        "scip": lambda: export_scip(lake, repository.name, file, tool_version=__version__),
        "graphml": lambda: export_graphml(lake, repository.name, file),
        "neo4j-csv": lambda: _export_neo4j_zip(lake, repository.name, file),
        "callgraph": lambda: export_callgraphs(lake, {repository.name: file}),
    }
    try:
        writers[name]()
    except BaseException:
        shutil.rmtree(folder)  # nobody will read it
        raise
    return file


def _export_neo4j_zip(lake: Lake, repo: str, file: Path) -> None:
    export_neo4j(lake, repo, file.parent)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name in (NODES_FILE, RELATIONSHIPS_FILE):
            archive.write(file.parent / name, name)
            (file.parent / name).unlink()
