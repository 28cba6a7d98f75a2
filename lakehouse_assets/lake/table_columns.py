"""Columns that a table made by an earlier contract lacks."""

from collections.abc import Sequence

from deltalake import DeltaTable
from deltalake.schema import ArrayType, Field, PrimitiveType

from lakehouse_assets.contracts.table import ColumnType


def add_columns(table: DeltaTable, columns: Sequence[tuple[str, ColumnType]]) -> None:
    """Add columns by name and type; the rows that are there have NULL in them."""
    if columns:
        table.alter.add_columns([_field(name, kind) for name, kind in columns])
        table.update_incremental()


def _field(name: str, kind: ColumnType) -> Field:
    names = {"int": "integer", "bigint": "long"}
    if kind == "array<string>":
        return Field(name, ArrayType(PrimitiveType("string"), contains_null=True), nullable=True)
    return Field(name, PrimitiveType(names.get(kind, kind)), nullable=True)
