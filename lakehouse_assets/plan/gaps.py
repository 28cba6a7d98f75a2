"""Rows behind the mark that the table lacks, found by counting where the source cannot tell who wrote what when.

Both sides are counted by day, or by ten thousand ids, with a sum of the cursor's values beside the count. A range that
differs has rows that came late, or lacks rows that were deleted; which, only reading it tells.

Cost: one pass over the cursor column on each side, and the ranges that differ.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from lakehouse_assets.contracts.ingest import Ingest
from lakehouse_assets.plan.ingest_plan import relation
from lakehouse_assets.plan.marks import Mark
from lakehouse_assets.plan.source_sql import DatabaseKind, Parameter, TextShape, quoted, value_literal, with_values

IDS_TO_A_RANGE = 10_000
Counted = Mapping[str, tuple[int, int]]
"""By range how many rows, and the sum of their cursor values."""


@dataclass(frozen=True, kw_only=True)
class Gap:
    """A range, half-open, in which source and lake differ."""

    start: Parameter
    end: Parameter
    source_rows: int
    lake_rows: int

    def __str__(self) -> str:
        return f"{self.start} to before {self.end}: {self.source_rows:,} rows at the source, {self.lake_rows:,} here"


def counting_query(
    ingest: Ingest, kind: DatabaseKind, mark: Mark, literals: Mapping[str, str], shape: TextShape | None
) -> str:
    """The source's side; the columns are range_name, row_count and cursor_sum."""
    column, bound = _cursor(ingest, mark)
    name = quoted(column)
    match kind:
        case _ if ingest.id:
            bucket, total = f"{name} / {IDS_TO_A_RANGE}", name
        case "sqlite":
            bucket, total = f"substr({name}, 1, 10)", f"CAST(strftime('%s', {name}) AS INTEGER)"
        case "postgresql":
            bucket, total = f"({name} AT TIME ZONE 'UTC')::date", f"floor(extract(epoch FROM {name}))::bigint"
        case "jdbc":
            bucket, total = f"CAST({name} AS DATE)", "0"
    cast = "TEXT" if kind != "jdbc" else "VARCHAR(40)"
    rows = with_values(relation(ingest), literals, subject=f"ingest {ingest.name}")
    where = f"{name} < {value_literal(bound, kind, shape)}"
    return (
        f"SELECT CAST({bucket} AS {cast}) AS range_name, count(*) AS row_count, "
        f"CAST(sum({total}) AS BIGINT) AS cursor_sum FROM {rows} WHERE {where} GROUP BY CAST({bucket} AS {cast})"
    )


def lake_counting_query(ingest: Ingest, kind: DatabaseKind, mark: Mark, rows: str) -> str:
    """The lake's side, for DuckDB."""
    column, bound = _cursor(ingest, mark)
    name = quoted(column)
    if isinstance(bound, int):
        bucket, total, value = f"{name} // {IDS_TO_A_RANGE}", name, str(bound)
    else:
        bucket = f"CAST({name} AS DATE)"
        total = "0" if kind == "jdbc" else f"CAST(floor(epoch({name})) AS BIGINT)"
        value = f"TIMESTAMPTZ '{bound.astimezone(UTC).isoformat(sep=' ')}'"
    return (
        f"SELECT CAST({bucket} AS VARCHAR) AS range_name, count(*) AS row_count, "
        f"CAST(sum({total}) AS BIGINT) AS cursor_sum FROM {rows} WHERE {name} < {value} GROUP BY 1"
    )


def gaps_between(ingest: Ingest, mark: Mark, source: Counted, lake: Counted) -> tuple[Gap, ...]:
    _, bound = _cursor(ingest, mark)
    found: list[Gap] = []
    for name in sorted({*source, *lake}):
        there, here = source.get(name, (0, 0)), lake.get(name, (0, 0))
        if there != here:
            start, end = _range(name, bound)
            found.append(Gap(start=start, end=end, source_rows=there[0], lake_rows=here[0]))
    return tuple(found)


def gap_query(
    ingest: Ingest,
    select: Mapping[str, str],
    kind: DatabaseKind,
    gaps: Sequence[Gap],
    literals: Mapping[str, str],
    shape: TextShape | None,
) -> str:
    """The rows of the ranges."""
    name = quoted(ingest.id or ingest.timestamp or "")
    listed = ", ".join(f"{expression} AS {quoted(column)}" for column, expression in select.items())
    ranges = " OR ".join(
        f"({name} >= {value_literal(gap.start, kind, shape)} AND {name} < {value_literal(gap.end, kind, shape)})"
        for gap in gaps
    )
    rows = with_values(relation(ingest), literals, subject=f"ingest {ingest.name}")
    return f"SELECT {listed} FROM {rows} WHERE {ranges}"


def _cursor(ingest: Ingest, mark: Mark) -> tuple[str, Parameter]:
    if ingest.id and mark.id is not None:
        return ingest.id, mark.id
    assert ingest.timestamp is not None
    assert mark.timestamp is not None
    return ingest.timestamp, mark.timestamp


def _range(name: str, bound: Parameter) -> tuple[Parameter, Parameter]:
    if isinstance(bound, int):
        first = int(name) * IDS_TO_A_RANGE
        return first, min(bound, first + IDS_TO_A_RANGE)
    day = datetime.fromisoformat(name).replace(tzinfo=UTC)
    return day, min(bound, day + timedelta(days=1))
