"""Local facts as one value, to be kept in a cell of a table and read back in parts.

The tables are Arrow streams, each compressed as a whole (a stream's own compression works buffer by buffer, which small
files gain nothing from) and preceded by its length, so that a reader skips what it was not asked for.
"""

import struct
from collections.abc import Sequence
from typing import Literal

import numpy as np
import pyarrow as pa

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.extract.facts import Columns, Facts

TableName = Literal["defs", "nodes", "edges", "props"]
TABLES: tuple[TableName, ...] = ("defs", "nodes", "edges", "props")

_MAGIC = b"LF1"
_HEADER = struct.Struct("<4Q")
_SIZE = struct.Struct("<Q")

_INT = pa.int32()
_TEXT = pa.string()
_WORD = pa.dictionary(pa.int32(), pa.string())
"""For columns with few values, or with many rows of each."""


def _schema(**columns: pa.DataType) -> pa.Schema:
    return pa.schema(list(columns.items()))


SCHEMAS: dict[TableName, pa.Schema] = {
    "defs": _schema(
        parent=_INT,
        kind=_WORD,
        name=_TEXT,
        descriptor=_TEXT,
        line=_INT,
        col=_INT,
        end_line=_INT,
        end_col=_INT,
        signature=_TEXT,
        signature_hash=_TEXT,
        body_hash=_TEXT,
        docstring=_TEXT,
    ),
    "nodes": _schema(
        d=_INT, n=_INT, kind=_WORD, name=_WORD, anchor=_INT, line=_INT, col=_INT, end_line=_INT, end_col=_INT
    ),
    "edges": _schema(kind=_WORD, src_d=_INT, src_n=_INT, dst_d=_INT, dst_n=_INT, label=_WORD),
    "props": _schema(d=_INT, n=_INT, name=_WORD, value=_TEXT),
}


def pack(facts: Facts) -> bytes:
    parts = [_stream(columns, SCHEMAS[name]) for name, columns in zip(TABLES, _tables(facts), strict=True)]
    return b"".join([_MAGIC, _HEADER.pack(*(len(part) for part in parts)), *parts])


def unpack(payload: bytes, tables: Sequence[TableName] = TABLES) -> dict[str, pa.Table]:
    """The asked tables; the others are not even decompressed."""
    if payload[: len(_MAGIC)] != _MAGIC:
        raise BadInputError(
            subject="a payload of local facts",
            seen=f"it begins with {payload[: len(_MAGIC)]!r}",
            why=f"one that this version writes begins with {_MAGIC!r}",
            remedy="extract the content again with this version",
        )
    at = len(_MAGIC) + _HEADER.size
    found: dict[str, pa.Table] = {}
    for name, size in zip(TABLES, _HEADER.unpack_from(payload, len(_MAGIC)), strict=True):
        if name in tables:
            found[name] = _table(payload[at : at + size])
        at += size
    return found


def _tables(facts: Facts) -> tuple[Columns, ...]:
    return facts.defs, facts.nodes, facts.edges, facts.props


def _stream(columns: Columns, schema: pa.Schema) -> bytes:
    arrays = [_array(columns[field.name], field.type) for field in schema]
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as writer:
        writer.write_batch(pa.record_batch(arrays, schema=schema))
    buffer = sink.getvalue()
    return _SIZE.pack(buffer.size) + pa.compress(buffer, codec="zstd", asbytes=True)


def _array(values: list[object], kind: pa.DataType) -> pa.Array:
    # By way of numpy it takes half the time.
    return pa.array(np.array(values, dtype=np.int32)) if kind == _INT else pa.array(values, kind)


def _table(part: bytes) -> pa.Table:
    (size,) = _SIZE.unpack_from(part)
    buffer = pa.decompress(memoryview(part)[_SIZE.size :], decompressed_size=size, codec="zstd")
    with pa.ipc.open_stream(buffer) as reader:
        return reader.read_all()
