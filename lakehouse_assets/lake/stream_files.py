"""Rows of files that a stream takes: which lines do not fit the columns, and which rows are newer than the table's.

Invariant: a line becomes a row as it stands, or is named with its text. Spark's own way would be a row with NULL in the
place of what it could not read.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from lakehouse_assets.contracts.quarantine import QUARANTINE
from lakehouse_assets.contracts.schemas import spark_schema
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.hashing import json_text
from lakehouse_assets.lake.naming import EXAMPLES, REDACTED
from lakehouse_assets.lake.small_writes import write_rows
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.sql_text import column

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

UNREAD = "the line does not fit the columns"
_TEXT, _FILE, _ARRIVED = "lakehouse_text", "lakehouse_file", "lakehouse_arrived"
_SHOWN = 200


@dataclass(frozen=True, kw_only=True)
class FileSource:
    """Files that turn up in a folder; one that was read is not read again, even if it changes."""

    path: str
    format: Literal["json", "csv", "parquet"]
    options: Mapping[str, str] = field(default_factory=dict[str, str])


def file_rows(spark: "SparkSession", source: FileSource, contract: TableContract) -> "DataFrame":
    """Read the files as a stream: the contract's columns, the file, and the text of a line that does not fit."""
    from pyspark.sql.types import StringType

    schema, options = spark_schema(contract.columns), dict(source.options)
    if source.format != "parquet":
        schema = schema.add(_TEXT, StringType())
        options |= {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _TEXT}
    if source.format == "csv":  # else a header with other names, or in another order, would be passed over
        options.setdefault("enforceSchema", "false")
    rows = spark.readStream.format(source.format).schema(schema).options(**options).load(source.path)
    where = (f"_metadata.file_path AS {_FILE}", f"_metadata.file_modification_time AS {_ARRIVED}")
    return rows.selectExpr("*", *where)


def without_unread(lake: Lake, contract: TableContract, rows: "DataFrame", write_key: str) -> tuple["DataFrame", int]:
    """Return the rows of lines that fit, and how many lines were set aside; refuse them if the contract says so."""
    if _TEXT not in rows.columns:
        return rows, 0
    unread = rows.where(f"{_TEXT} IS NOT NULL").select(_FILE, _TEXT).toArrow().to_pylist()
    if not unread:
        return rows, 0
    hidden = bool(contract.sensitive_columns)
    if contract.violations == "fail":
        shown = [each[_FILE] if hidden else f"{each[_FILE]}: {each[_TEXT][:_SHOWN]}" for each in unread[:EXAMPLES]]
        raise BadInputError(
            subject=f"stream into {contract.name}",
            seen=f"{UNREAD} in {len(unread):,} rows, such as {', '.join(shown)}",
            why="nothing of this batch was written, because values that do not fit would be lost",
            remedy="mend the lines in their files, or give the stream the policy quarantine for rows that break it",
        )
    now = datetime.now(UTC)
    records = [
        {
            "write_key": write_key,
            "table_name": contract.name,
            "rule": UNREAD,
            "row_json": json_text({"file": each[_FILE], "line": REDACTED if hidden else each[_TEXT]}),
            "set_aside_at": now,
        }
        for each in unread
    ]
    if records:
        write_rows(lake, QUARANTINE, records)
    return rows.where(f"{_TEXT} IS NULL"), len(unread)


def newest(lake: Lake, contract: TableContract, rows: "DataFrame", order: str) -> "DataFrame":
    """Return the row of each key with the highest value of `order`, unless the table has a higher one.

    Of equal values, the file that came last counts. Rows that differ in one file cannot be told apart: all of them
    stay, to be refused.
    """
    by, key = column(order, "spark"), [column(name, "spark") for name in contract.key]
    places = f"PARTITION BY {', '.join(key)} ORDER BY {by} DESC NULLS LAST, {_ARRIVED} DESC, {_FILE} DESC"
    ranked = rows.selectExpr("*", f"rank() OVER ({places}) AS _place").where("_place = 1").drop("_place").distinct()
    if not lake.exists(contract):
        return ranked
    held = rows.sparkSession.read.format("delta").load(str(lake.path(contract)))
    same = " AND ".join(f"new.{name} = held.{name}" for name in key)
    older = f"held.{by} IS NOT NULL AND (new.{by} IS NULL OR new.{by} < held.{by})"
    from pyspark.sql.functions import expr

    return ranked.alias("new").join(held.alias("held"), expr(f"{same} AND {older}"), "left_anti")
