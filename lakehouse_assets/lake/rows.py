"""Rows in Arrow made to fit a contract."""

from collections.abc import Sequence
from datetime import datetime

import pyarrow as pa

from lakehouse_assets.contracts.schemas import arrow_schema, arrow_type
from lakehouse_assets.contracts.table import Column, TableContract


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
