"""The graph as `nodes.csv` and `relationships.csv`, with the headers that `neo4j-admin database import` reads."""

from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.csv as pa_csv

from lakehouse_assets.lake.exports.atomic import atomic_file, output_folder
from lakehouse_assets.lake.exports.graph import open_graph
from lakehouse_assets.lake.exports.property_graph import EDGE_FIELDS, NODE_FIELDS, NUMBERS, PropertyGraphExport, feed
from lakehouse_assets.lake.tables import Lake

NODES_FILE, RELATIONSHIPS_FILE = "nodes.csv", "relationships.csv"

_WITHOUT_HEADER = pa_csv.WriteOptions(include_header=False, quoting_style="needed")
_HEADERS = {
    "id": "id:ID",
    "kind": ":LABEL",
    **{name: f"{name}:int" for name in NUMBERS},
}
_EDGE_HEADERS = {"source": ":START_ID", "target": ":END_ID", "kind": ":TYPE"}


def export_neo4j(lake: Lake, repository: str, folder: Path) -> PropertyGraphExport:
    """Both files take their places at the end, so that they are of one graph."""
    output_folder(folder)
    with (
        open_graph(lake, repository) as graph,
        atomic_file(folder / NODES_FILE) as nodes,
        atomic_file(folder / RELATIONSHIPS_FILE) as relationships,
    ):
        nodes.write(_header(NODE_FIELDS, _HEADERS))
        relationships.write(_header(EDGE_FIELDS, _EDGE_HEADERS))
        return feed(graph, _Writer(nodes, relationships))


class _Writer:
    def __init__(self, nodes: BinaryIO, relationships: BinaryIO) -> None:
        self._nodes = nodes
        self._relationships = relationships

    def nodes(self, rows: pa.RecordBatch) -> None:
        pa_csv.write_csv(rows.select(list(NODE_FIELDS)), self._nodes, _WITHOUT_HEADER)

    def edges(self, rows: pa.RecordBatch) -> None:
        pa_csv.write_csv(rows.select(list(EDGE_FIELDS)), self._relationships, _WITHOUT_HEADER)


def _header(fields: tuple[str, ...], names: dict[str, str]) -> bytes:
    return (",".join(names.get(field, field) for field in fields) + "\n").encode()
