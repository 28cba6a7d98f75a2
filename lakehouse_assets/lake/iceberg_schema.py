"""A Delta table's columns in Iceberg's words."""

from collections.abc import Sequence
from typing import assert_never

from deltalake import DeltaTable
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DoubleType,
    IcebergType,
    IntegerType,
    ListType,
    LongType,
    NestedField,
    StringType,
    TimestamptzType,
)

from lakehouse_assets.contracts.table import Column, ColumnType, TableContract
from lakehouse_assets.core.errors import LakeStateError
from lakehouse_assets.lake.table_facts import table_facts

_FIRST_PARTITION_FIELD = 1000
"""Iceberg numbers the fields of a partition from here on."""
LEFT_BY_MERGE = (
    NestedField(field_id=2147483543, name="_change_type", field_type=StringType(), required=False),
    NestedField(field_id=2147483446, name="__is_cdc", field_type=BooleanType(), required=False),
)
"""Columns of files, not of the table. Readers want an id for each: Iceberg's reserved one for the name that it knows,
and the last below the reserved ones for the other."""


def columns_of(delta: DeltaTable, contract: TableContract) -> tuple[Column, ...]:
    """The table's own columns: what came to it by evolution too."""
    known = {each.name: each for each in contract.stored_columns}
    held = table_facts(delta, contract).columns
    return tuple(
        known[name] if name in known else Column(name=name, type=_known_type(name, kind, contract), description="")
        for name, kind in held.items()
    )


def _known_type(name: str, kind: str, contract: TableContract) -> ColumnType:
    match kind:
        case "string" | "int" | "bigint" | "double" | "boolean" | "date" | "timestamp" | "array<string>" | "binary":
            return kind
        case _:
            raise LakeStateError(
                subject=f"table {contract.name}",
                seen=f"its column {name} is of type {kind}",
                why="no write of ours makes such a column, and how Iceberg should read it is not known",
                remedy="drop the column, or publish the table without this command",
            )


def iceberg_schema(columns: Sequence[Column]) -> Schema:
    """The catalog numbers the fields itself; here they only have to differ."""
    return Schema(
        *(
            NestedField(
                field_id=place,
                name=column.name,
                field_type=iceberg_type(column.type, element_id=len(columns) + place),
                required=False,
                doc=column.description,
            )
            for place, column in enumerate(columns, start=1)
        )
    )


def fields_of_files(schema: Schema) -> Schema:
    """Return the fields that data files may have: the table's own and those that a MERGE leaves behind."""
    return Schema(*schema.fields, *LEFT_BY_MERGE)


def partition_spec(schema: Schema, names: Sequence[str]) -> PartitionSpec:
    return PartitionSpec(
        *(
            PartitionField(
                source_id=schema.find_field(name).field_id, field_id=place, transform=IdentityTransform(), name=name
            )
            for place, name in enumerate(names, start=_FIRST_PARTITION_FIELD)
        )
    )


def iceberg_type(kind: ColumnType, *, element_id: int) -> IcebergType:
    match kind:
        case "string":
            return StringType()
        case "int":
            return IntegerType()
        case "bigint":
            return LongType()
        case "double":
            return DoubleType()
        case "boolean":
            return BooleanType()
        case "date":
            return DateType()
        case "timestamp":
            return TimestamptzType()
        case "binary":
            return BinaryType()
        case "array<string>":
            return ListType(element_id=element_id, element=StringType(), element_required=False)
        case _:
            assert_never(kind)
