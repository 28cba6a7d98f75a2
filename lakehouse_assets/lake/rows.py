"""Rows in Arrow made to fit a contract."""

from collections.abc import Sequence

import pyarrow as pa

from lakehouse_assets.contracts.schemas import arrow_type
from lakehouse_assets.contracts.table import Column


def conform(rows: pa.Table, columns: Sequence[Column]) -> pa.Table:
    """Columns in the table's order and types; one that the batch lacks is NULL."""
    arrays = [
        rows[each.name].cast(arrow_type(each.type))
        if each.name in rows.column_names
        else pa.nulls(rows.num_rows, arrow_type(each.type))
        for each in columns
    ]
    return pa.table(arrays, names=[each.name for each in columns])


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
