"""A contract in the words of each engine: Arrow schema, Spark schema, pandera model."""

from typing import TYPE_CHECKING, Any, assert_never

import pyarrow as pa

from lakehouse_assets.contracts.table import ColumnType, TableContract

if TYPE_CHECKING:
    import pandera.pyspark as pandera_pyspark
    from pyspark.sql.types import StructType


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
        case "timestamp":
            return pa.timestamp("us", tz="UTC")
        case "array<string>":
            return pa.list_(pa.string())
        case _:
            assert_never(column_type)


def arrow_schema(contract: TableContract, *, columns: tuple[str, ...] | None = None) -> pa.Schema:
    """Schema of the contract's columns, or of some of them.

    Every field is nullable to the engines: they differ in how they keep NOT NULL, and the contract's own check
    names the rows.
    """
    chosen = contract.columns if columns is None else tuple(contract.column(name) for name in columns)
    return pa.schema([pa.field(column.name, arrow_type(column.type)) for column in chosen])


def spark_schema(contract: TableContract) -> "StructType":
    """The contract's columns as Spark types; needs no session."""
    from pyspark.sql import types

    by_name = {
        "string": types.StringType(),
        "int": types.IntegerType(),
        "bigint": types.LongType(),
        "double": types.DoubleType(),
        "boolean": types.BooleanType(),
        "timestamp": types.TimestampType(),
        "array<string>": types.ArrayType(types.StringType()),
    }
    return types.StructType([types.StructField(column.name, by_name[column.type]) for column in contract.columns])


def pandera_model(contract: TableContract) -> "type[pandera_pyspark.DataFrameModel]":
    """The contract as a pandera model for PySpark frames."""
    import pandera.pyspark as pandera_pyspark
    from pyspark.sql.types import ArrayType

    namespace: dict[str, Any] = {"__annotations__": {}, "__doc__": contract.description}
    for column, field in zip(contract.columns, spark_schema(contract), strict=True):
        is_array = isinstance(field.dataType, ArrayType)
        namespace["__annotations__"][column.name] = field.dataType if is_array else type(field.dataType)
        namespace[column.name] = pandera_pyspark.Field(
            nullable=column.nullable, description=column.description, isin=list(column.one_of) or None
        )
    namespace["Config"] = type("Config", (), {"name": contract.name, "strict": True})
    return type(contract.name.title().replace("_", ""), (pandera_pyspark.DataFrameModel,), namespace)
