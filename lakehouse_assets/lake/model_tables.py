"""The table of a model's version: its contract is made when its rows are, from the model and the types they have."""

from collections.abc import Mapping
from dataclasses import replace

import pyarrow as pa

from lakehouse_assets.contracts.table import Column, ColumnType, TableContract
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.lake.table_facts import type_name as delta_type_name
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.models.meaning import Meaning
from lakehouse_assets.plan.alignment import known_type


def model_contract(meaning: Meaning, types: Mapping[str, ColumnType]) -> TableContract:
    """The contract of the version's table. A column may be NULL unless it says where or which a row is."""
    header = meaning.header
    placed = {*header.key, *header.stored_by}
    return TableContract(
        name=meaning.table,
        description=header.description or f"Rows of the model {meaning.name}.",
        columns=tuple(_column(meaning, name, kind, nullable=name not in placed) for name, kind in types.items()),
        key=header.key,
        partition_by=header.stored_by,
        strategy="upsert",
    )


def stored_contract(lake: Lake, meaning: Meaning, *, table: str | None = None) -> TableContract | None:
    """The contract with the types that the version's table has, or another version's; None if it was not built yet."""
    nominal = named(table or meaning.table)
    if not lake.exists(nominal):
        return None
    fields = lake.open(nominal).schema().fields
    types: dict[str, ColumnType] = {
        each.name: known_type(nominal, each.name, delta_type_name(each.type)) for each in fields
    }
    return replace(model_contract(meaning, types), name=nominal.name)


def named(table: str) -> TableContract:
    """A contract that says no more than the table's name, for those who only look at its log."""
    column = Column(name="key", type="string", description="Not known.")
    return TableContract(name=table, description="", columns=(column,), key=("key",), strategy="upsert")


def row_types(meaning: Meaning, schema: pa.Schema) -> dict[str, ColumnType]:
    """The types of a query's rows in a contract's words; those that the header declares win."""
    types: dict[str, ColumnType] = {}
    for each in schema:
        said = meaning.header.columns.get(each.name)
        types[each.name] = said.type if said and said.type else _nearest(meaning, each.name, each.type)
    return types


def _nearest(meaning: Meaning, name: str, kind: pa.DataType) -> ColumnType:
    """The type that holds every value of this one; whole numbers of another width become those that both engines store.

    An exact number with a fraction has none: as a double it would lose digits, so the model has to say what is meant.
    """
    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_int8(kind) or pa.types.is_int16(kind) or pa.types.is_int32(kind) or pa.types.is_uint16(kind):
        return "int"
    if pa.types.is_integer(kind) or (pa.types.is_decimal(kind) and kind.scale == 0):
        return "bigint"
    if pa.types.is_floating(kind):
        return "double"
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind):
        return "string"
    if pa.types.is_date(kind):
        return "date"
    if pa.types.is_timestamp(kind):
        return "timestamp"
    if pa.types.is_list(kind) and _nearest(meaning, name, kind.value_type) == "string":
        return "array<string>"
    if pa.types.is_binary(kind):
        return "binary"
    raise no_type(meaning, name, str(kind))


def no_type(meaning: Meaning, name: str, kind: str) -> BadInputError:
    """What to tell of a column whose values no type of a table holds."""
    exact = kind.startswith("decimal")
    return BadInputError(
        subject=f"model {meaning.name}",
        seen=f"its column {name} is {kind}",
        why="tables have no such type, and as double it would lose digits" if exact else "tables have no such type",
        remedy=f"cast it, or say under `columns` how it is stored: `{name}: {{type: string}}` keeps every digit, "
        "`{type: double}` about fifteen of them"
        if exact
        else "cast it to string, int, bigint, double, boolean, date, timestamp or array<string>",
    )


def _column(meaning: Meaning, name: str, kind: ColumnType, *, nullable: bool) -> Column:
    said = meaning.header.columns.get(name)
    description = said.description if said else ""
    sensitive = name in meaning.sensitive
    number = kind == "string" and name in meaning.numbers
    return Column(name=name, type=kind, description=description, nullable=nullable, sensitive=sensitive, number=number)
