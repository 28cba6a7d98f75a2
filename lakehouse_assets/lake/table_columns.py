"""Columns that a table made by an earlier contract lacks, and what its schema says of those it has."""

from collections.abc import Sequence

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake
from deltalake.schema import ArrayType, Field, PrimitiveType

from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.table import ColumnType, TableContract
from lakehouse_assets.lake.table_facts import table_facts
from lakehouse_assets.lake.tables import Lake

_NUMBER = "lakehouse.number"


def add_columns(table: DeltaTable, columns: Sequence[tuple[str, ColumnType]]) -> None:
    """Add columns by name and type; the rows that are there have NULL in them."""
    if columns:
        table.alter.add_columns([_field(name, kind) for name, kind in columns])
        table.update_incremental()


def mark_numbers(lake: Lake, contract: TableContract) -> None:
    """Have the table's schema say which texts are those of numbers; commits nothing where it says so already."""
    if not contract.number_columns or not lake.exists(contract):
        return
    table = lake.open(contract)
    for name in sorted(contract.number_columns - marked_numbers(table)):
        table.alter.set_column_metadata(name, {_NUMBER: "true"})


def refit(lake: Lake, contract: TableContract) -> None:
    """Give a table without rows the contract's types: the run that made it may have been refused for a value, and the
    remedy may be another type."""
    if not lake.exists(contract):
        return
    table = lake.open(contract)
    held = table_facts(table, contract).columns
    if any(held.get(each.name, each.type) != each.type for each in contract.columns):
        rows = pa.Table.from_batches([], arrow_schema(contract.columns))
        write_deltalake(table, rows, mode="overwrite", schema_mode="overwrite")


def marked_numbers(table: DeltaTable) -> frozenset[str]:
    """The columns whose text is that of a number, by the table's schema."""
    return frozenset(each.name for each in table.schema().fields if _NUMBER in each.metadata)


def _field(name: str, kind: ColumnType) -> Field:
    names = {"int": "integer", "bigint": "long"}
    if kind == "array<string>":
        return Field(name, ArrayType(PrimitiveType("string"), contains_null=True), nullable=True)
    return Field(name, PrimitiveType(names.get(kind, kind)), nullable=True)
