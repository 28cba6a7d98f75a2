"""The graph as GraphML, for Gephi, yEd, NetworkX and their like."""

from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO
from xml.sax.saxutils import escape

import pyarrow as pa

from lakehouse_assets.lake.exports.atomic import atomic_file
from lakehouse_assets.lake.exports.graph import open_graph
from lakehouse_assets.lake.exports.property_graph import EDGE_FIELDS, NODE_FIELDS, NUMBERS, PropertyGraphExport, feed
from lakehouse_assets.lake.tables import Lake

_NOT_IN_XML = {code: "\N{REPLACEMENT CHARACTER}" for code in (*range(32), 0xFFFE, 0xFFFF) if code not in (9, 10, 13)}
"""Characters that XML cannot hold, however they are written."""

_QUOTE = {'"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}


def export_graphml(lake: Lake, repository: str, path: Path) -> PropertyGraphExport:
    with open_graph(lake, repository) as graph, atomic_file(path) as out:
        out.write(_head().encode())
        done = feed(graph, _Writer(out))
        out.write(b"</graph>\n</graphml>\n")
    return done


class _Writer:
    """Elements as they come; a property that is NULL is left out."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out

    def nodes(self, rows: pa.RecordBatch) -> None:
        lines = [
            f'<node id="{_text(id_)}">{_data(NODE_FIELDS[1:], rest)}</node>\n'
            for id_, *rest in _rows(rows, NODE_FIELDS)
        ]
        self._out.write("".join(lines).encode())

    def edges(self, rows: pa.RecordBatch) -> None:
        lines = [
            f'<edge source="{_text(source)}" target="{_text(target)}">{_data(EDGE_FIELDS[2:], rest)}</edge>\n'
            for source, target, *rest in _rows(rows, EDGE_FIELDS)
        ]
        self._out.write("".join(lines).encode())


def _rows(rows: pa.RecordBatch, names: Sequence[str]) -> "zip[tuple[object, ...]]":
    return zip(*(rows.column(name).to_pylist() for name in names), strict=True)


def _data(names: Sequence[str], values: Sequence[object]) -> str:
    return "".join(
        [
            f'<data key="{name}">{_text(value)}</data>'
            for name, value in zip(names, values, strict=True)
            if value is not None and value != ""
        ]
    )


def _text(value: object) -> str:
    if isinstance(value, int):
        return str(value)
    return escape(str(value).translate(_NOT_IN_XML), _QUOTE)


def _head() -> str:
    keys = [
        f'<key id="{name}" for="{owner}" attr.name="{name}" attr.type="{"int" if name in NUMBERS else "string"}"/>\n'
        for owner, names in (("node", NODE_FIELDS[1:]), ("edge", EDGE_FIELDS[2:]))
        for name in names
        if owner == "node" or name not in NODE_FIELDS
    ]
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
        + "".join(keys).replace('id="kind" for="node"', 'id="kind" for="all"')
        + '<graph edgedefault="directed">\n'
    )
