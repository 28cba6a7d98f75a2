"""A contract in the words of each engine: Arrow schema, Spark schema."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, assert_never

import pyarrow as pa

from lakehouse_assets.contracts.table import Column, ColumnType

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def arrow_type(column_type: ColumnType) -> pa.DataType:
    match column_type:
        case "string":
            return pa.string()
        case "int":
            return pa.int32()
        case "bigint":
            return pa.int64()
        case "double":
            return pa.float64()
        case "boolean":
            return pa.bool_()
        case "date":
            return pa.date32()
        case "timestamp":
            return pa.timestamp("us", tz="UTC")
        case "array<string>":
            return pa.list_(pa.string())
        case "binary":
            return pa.binary()
        case _:
            assert_never(column_type)


def arrow_schema(columns: Iterable[Column]) -> pa.Schema:
    """Every field is nullable to the engines: they differ in how they keep NOT NULL, and our check names the rows."""
    return pa.schema([pa.field(column.name, arrow_type(column.type)) for column in columns])


def arrow_array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Python values in Arrow; a moment may also come as its microseconds since 1970.

    Moments are converted here: Arrow would ask pandas, which takes a good part of a small update's time to load.
    """
    if not pa.types.is_timestamp(kind):
        return pa.array(values, type=kind)
    return pa.array([_microseconds(moment) for moment in values], type=pa.int64()).cast(kind)


def arrow_rows(columns: Iterable[Column], rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Rows by column name in Arrow; what a row lacks is NULL."""
    schema = arrow_schema(columns)
    return pa.table([arrow_array([row.get(f.name) for row in rows], f.type) for f in schema], schema=schema)


def _microseconds(moment: datetime | int | None) -> int | None:
    if not isinstance(moment, datetime):
        return moment
    return ((moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)) - _EPOCH) // _MICROSECOND


def spark_schema(columns: Iterable[Column]) -> "StructType":
    """The columns as Spark types; needs no session."""
    from pyspark.sql import types

    by_name = {
        "string": types.StringType(),
        "int": types.IntegerType(),
        "bigint": types.LongType(),
        "double": types.DoubleType(),
        "boolean": types.BooleanType(),
        "date": types.DateType(),
        "timestamp": types.TimestampType(),
        "array<string>": types.ArrayType(types.StringType()),
        "binary": types.BinaryType(),
    }
    return types.StructType([types.StructField(column.name, by_name[column.type]) for column in columns])
