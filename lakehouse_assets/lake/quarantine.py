"""Rows that break a contract, set aside with the reason, before the others are written."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.hashing import json_text
from lakehouse_assets.lake.naming import REDACTED
from lakehouse_assets.lake.row_checks import reasons
from lakehouse_assets.lake.staging import LocalStage, SparkStage, Staged
from lakehouse_assets.plan.sql_text import column
from lakehouse_assets.plan.write_facts import WriteRequest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_REASON = "lakehouse_reason"
_DOUBLED = "lakehouse_doubled"


def judge(contract: TableContract, request: WriteRequest, staged: Staged) -> tuple[Staged, list[dict[str, Any]]]:
    """The rows that hold, staged anew, and the others as rows of `quarantine`. Nothing is written yet.

    Rows that share a key are all set aside: which of them is right, nobody can tell. Rows outside the run's
    partitions or owners stay, and fail the write: they are a mistake of the asset, not of the data.
    """
    if isinstance(staged, LocalStage):
        judged = staged.rows.append_column(_REASON, reasons(contract, staged.rows))
        good, bad = judged.filter(pc.field(_REASON).is_null()), judged.filter(pc.field(_REASON).is_valid())
        remaining: Staged = LocalStage(good.drop_columns([_REASON]), contract, request)
    else:
        assert isinstance(staged, SparkStage)
        frame = _judged(contract, staged.rows)
        bad = frame.where(f"{_REASON} IS NOT NULL").toArrow()
        remaining = SparkStage(frame.where(f"{_REASON} IS NULL").drop(_REASON), contract, request)
    now = datetime.now(UTC)
    hidden = {each.name for each in contract.columns if each.sensitive}
    return remaining, [
        {
            "write_key": request.key,
            "table_name": contract.name,
            "rule": row.pop(_REASON),
            "row_json": json_text({name: REDACTED if name in hidden else _plain(value) for name, value in row.items()}),
            "set_aside_at": now,
        }
        for row in bad.to_pylist()
    ]


@dataclass(frozen=True, kw_only=True)
class Judging:
    """Runs on a worker: the rows with the reason to set them aside, instead of whether others have their key."""

    contract: TableContract

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = pa.Table.from_batches([batch])
            reason = reasons(self.contract, rows.drop_columns([_DOUBLED]), rows[_DOUBLED])
            yield from rows.drop_columns([_DOUBLED]).append_column(_REASON, reason).to_batches()


def _judged(contract: TableContract, rows: "DataFrame") -> "DataFrame":
    key = ", ".join(column(name, "spark") for name in contract.key)
    counted = rows.selectExpr("*", f"count(*) OVER (PARTITION BY {key}) > 1 AS {_DOUBLED}")
    schema = f"{rows.schema.toDDL()}, {_REASON} STRING"
    return counted.mapInArrow(Judging(contract=contract).__call__, schema)


def _plain(value: object) -> object:
    return value if isinstance(value, str | int | float | bool | list | None) else str(value)
