"""Columns of files in types that a table of the lake has: numbers wide enough, moments in UTC, all else as text."""

# pyright: standard
# pyarrow comes without types, so that strict checking would complain of every call to it.

import json
from collections.abc import Mapping

import pyarrow as pa

from lakehouse_assets.contracts.schemas import arrow_type
from lakehouse_assets.contracts.table import ColumnType
from lakehouse_assets.lake.rows import type_name


def storable(values: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
    """The values in such a type. Raises Arrow's errors, which are ValueErrors, for a number that fits none."""
    kind = values.type
    if pa.types.is_dictionary(kind):
        return storable(values.cast(kind.value_type))
    if pa.types.is_timestamp(kind):
        # Without a zone it is taken for UTC; what is finer than a microsecond is cut off.
        return values.cast(pa.timestamp("us", tz=kind.tz), safe=kind.unit != "ns").cast(pa.timestamp("us", tz="UTC"))
    wanted = _wanted(kind)
    if wanted is not None:
        return values.cast(wanted)
    if pa.types.is_decimal(kind) or pa.types.is_time(kind):
        return values.cast(pa.string())
    return pa.array([_text(each) for each in values.to_pylist()], pa.string())


def in_types(rows: pa.Table, types: Mapping[str, ColumnType]) -> pa.Table:
    """The rows in the types that the table has their columns in; raises ValueError where a value does not fit."""
    for place, field in enumerate(rows.schema):
        kind = types.get(field.name)
        if kind is None or type_name(field.type) == kind:
            continue
        try:
            rows = rows.set_column(place, field.name, rows[field.name].cast(arrow_type(kind)))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            told = f"{field.name} has values that are no {kind}, which it is in the table; `columns` can give it a type"
        else:
            continue
        raise ValueError(told)  # without Arrow's words, which repeat a value
    return rows


def _wanted(kind: pa.DataType) -> pa.DataType | None:
    if pa.types.is_boolean(kind) or kind == pa.int32():
        return kind
    if pa.types.is_integer(kind):
        return pa.int64()
    if pa.types.is_floating(kind):
        return pa.float64()
    if pa.types.is_date(kind):
        return pa.date32()
    if pa.types.is_null(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return pa.string()
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
        return pa.binary()
    if pa.types.is_list(kind) and (pa.types.is_string(kind.value_type) or pa.types.is_large_string(kind.value_type)):
        return pa.list_(pa.string())
    return None


def _text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, list | dict) else str(value)
