"""Rows in Arrow made to fit a contract."""

from collections.abc import Sequence
from datetime import datetime

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakehouse_assets.contracts.schemas import arrow_schema, arrow_type
from lakehouse_assets.contracts.table import Column, TableContract

_MOST_BYTES = 1 << 31
_ROWS_A_CHUNK = 65_536


def conform(rows: pa.Table, columns: Sequence[Column]) -> pa.Table:
    """Columns in the table's order and types; one that the batch lacks is NULL."""
    arrays = [
        rows[each.name].cast(arrow_type(each.type))
        if each.name in rows.column_names
        else pa.nulls(rows.num_rows, arrow_type(each.type))
        for each in columns
    ]
    return pa.table(arrays, names=[each.name for each in columns])


def with_audit(rows: pa.Table, contract: TableContract, now: datetime, run_id: str) -> pa.Table:
    """The rows as the table has them: with when and by whom they were written, if the contract asks."""
    if not contract.audited:
        return rows
    schema = arrow_schema(contract.stored_columns)
    moment = pa.scalar(now, schema.field("written_at").type)
    rows = rows.append_column("written_at", pa.repeat(moment, rows.num_rows))
    return rows.append_column("written_by", pa.repeat(pa.scalar(run_id), rows.num_rows))


def whole(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """The rows with every column of a table, in its order; what they lack is NULL."""
    arrays = [
        rows[field.name].cast(field.type) if field.name in rows.column_names else pa.nulls(rows.num_rows, field.type)
        for field in schema
    ]
    return pa.table(arrays, schema=schema)


def picked(rows: pa.Table, numbers: npt.NDArray[np.int64]) -> pa.Table:
    """The rows with these numbers, in their order."""
    columns = [_picked(each, pa.array(numbers)) for each in rows.columns]
    return pa.table(columns, names=rows.column_names)


def _picked(values: pa.ChunkedArray, numbers: pa.Array) -> pa.ChunkedArray:
    """Arrow puts all chunks together before it takes values of them: more than 2 GiB of texts need wider offsets."""
    wide = {pa.string(): pa.large_string(), pa.binary(): pa.large_binary()}.get(values.type)
    if wide is None or values.nbytes < _MOST_BYTES:
        return values.take(numbers)
    taken = values.cast(wide).take(numbers)
    parts = (taken.slice(first, _ROWS_A_CHUNK) for first in range(0, len(taken), _ROWS_A_CHUNK))
    return pa.chunked_array([chunk for part in parts for chunk in part.cast(values.type).chunks], values.type)


def in_owner_order(rows: pa.Table, contract: TableContract) -> pa.Table:
    """The rows by owner, so that files hold few owners and later writes pass over most of them.

    Within an owner as they came, which packs best. Only owners that differ are compared, and they are few.
    """
    if contract.owner is None:
        return rows
    encoded = rows[contract.owner].combine_chunks().dictionary_encode(null_encoding="encode")
    values = encoded.dictionary.to_pylist()
    order = sorted(range(len(values)), key=lambda number: (values[number] is not None, values[number]))
    rank_of = np.empty(len(values), dtype=np.int64)
    rank_of[order] = np.arange(len(values))
    ranks = rank_of[np.asarray(encoded.indices)]
    if np.all(ranks[:-1] <= ranks[1:]):
        return rows
    return rows.take(pa.array(np.argsort(ranks, kind="stable")))


def type_name(kind: pa.DataType) -> str:
    """The type in a contract's words, or Arrow's own for one that contracts have not."""
    names = {
        pa.string(): "string",
        pa.large_string(): "string",
        pa.int32(): "int",
        pa.int64(): "bigint",
        pa.float64(): "double",
        pa.bool_(): "boolean",
        pa.date32(): "date",
        pa.timestamp("us", tz="UTC"): "timestamp",
        pa.binary(): "binary",
        pa.large_binary(): "binary",
    }
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return f"array<{type_name(kind.value_type)}>"
    return names.get(kind, str(kind))
