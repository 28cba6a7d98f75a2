"""The rows of a model on their way into its table: their types, their order, and the parts that they belong to."""

from datetime import date
from typing import TYPE_CHECKING

import pyarrow as pa

from lakehouse_assets.contracts.table import ColumnType, TableContract
from lakehouse_assets.lake.model_tables import no_type
from lakehouse_assets.lake.rows import conform
from lakehouse_assets.models.intervals import span_of
from lakehouse_assets.models.meaning import Meaning
from lakehouse_assets.plan.scope import Equals, Scope, Window
from lakehouse_assets.plan.sql_text import Value, column

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def arrow_schema_of(rows: "pa.Table | DataFrame", meaning: Meaning) -> pa.Schema:
    """The types of a model's rows as Arrow has them; one that it has not is refused."""
    if isinstance(rows, pa.Table):
        return rows.schema
    from pyspark.errors import PySparkException
    from pyspark.sql.pandas.types import to_arrow_type

    fields: list[pa.Field] = []
    for each in rows.schema:
        try:
            # The session's time zone, without which a moment has no type.
            fields.append(pa.field(each.name, to_arrow_type(each.dataType, timezone="UTC")))
        except PySparkException as error:
            raise no_type(meaning, each.name, each.dataType.simpleString()) from error
    return pa.schema(fields)


def fitted(rows: "pa.Table | DataFrame", contract: TableContract, meaning: Meaning) -> "pa.Table | DataFrame":
    """The rows in the table's types, near each other where the model says so."""
    order = meaning.header.cluster_by
    if isinstance(rows, pa.Table):
        here: pa.Table = conform(rows, contract.columns)
        return here.sort_by([(name, "ascending") for name in order]) if order else here
    names = {each.name: column(each.name, "spark") for each in contract.columns}
    there = rows.selectExpr(*(f"CAST({names[n]} AS {contract.column(n).type}) AS {names[n]}" for n in names))
    return there.sort(*order) if order else there


def part_scope(contract: TableContract, meaning: Meaning, part: str) -> Scope:
    header = meaning.header
    if header.time_column is not None:
        span = span_of(header.interval, part)
        return (Window(column=header.time_column, start=span.start, end=span.end),)
    return tuple(
        Equals(column=name, value=part_value(contract.column(name).type, part)) for name in header.partition_by
    )


def part_value(kind: ColumnType | str, part: str) -> Value:
    match kind:
        case "int" | "bigint":
            return int(part)
        case "boolean":
            return part == "true"
        case "date":
            return date.fromisoformat(part)
        case _:
            return part
