"""Exports to download: written to a file of their own first, so that a half one is never sent."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from lakehouse_assets import __version__
from lakehouse_assets.lake.exports.callgraph import export_callgraphs
from lakehouse_assets.lake.exports.graphml import export_graphml
from lakehouse_assets.lake.exports.scip import export_scip
from lakehouse_assets.lake.registry import Registry
from lakehouse_assets.lake.tables import Lake

FORMATS: dict[str, tuple[str, str]] = {
    "scip": ("SCIP index", "{repo}.scip"),
    "graphml": ("GraphML", "{repo}.graphml"),
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
        "callgraph": lambda: export_callgraphs(lake, {repository.name: file}),
    }
    writers[name]()
    return file
