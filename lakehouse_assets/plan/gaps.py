"""Rows behind the mark that the table lacks, found by counting where the source cannot tell who wrote what when.

Both sides are counted by day, or by ten thousand ids, with a sum of the cursors' values beside the count: with both id
and timestamp, a row that was changed as of a moment behind the mark is in its old range, with another moment. A range
that differs has rows that came late, or lacks rows that were deleted; which, only reading it tells. Whole numbers of
the key weigh the moments, so that two rows which have changed theirs with each other are seen as well. What JDBC
databases have in common makes no numbers of moments, so that only ids are summed there.

Cost: one pass over the cursor column on each side, and the ranges that differ.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from lakehouse_assets.contracts.ingest import Ingest
from lakehouse_assets.plan.ingest_plan import relation
from lakehouse_assets.plan.marks import Mark
from lakehouse_assets.plan.source_sql import DatabaseKind, Parameter, TextShape, quoted, value_literal, with_values
from lakehouse_assets.plan.sql_text import literal

IDS_TO_A_RANGE = 10_000
_MODULUS = 1_000_000_007
"""Sums of whole moments would not fit their type."""
_WEIGHT = 1_009
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
    ingest: Ingest,
    kind: DatabaseKind,
    mark: Mark,
    literals: Mapping[str, str],
    shape: TextShape | None,
    weights: Sequence[str],
) -> str:
    """The source's side: range_name, row_count and cursor_sum. `weights` are the key's whole numbers."""
    column, bound = _cursor(ingest, mark)
    name = quoted(column)
    match kind:
        case _ if ingest.id:
            bucket = f"{name} / {IDS_TO_A_RANGE}"
        case "sqlite":
            bucket = f"substr({name}, 1, 10)"
        case "postgresql":
            bucket = f"({name} AT TIME ZONE 'UTC')::date"
        case "jdbc":
            bucket = f"CAST({name} AS DATE)"
    cast = "TEXT" if kind != "jdbc" else "VARCHAR(40)"
    rows = with_values(relation(ingest), literals, subject=f"ingest {ingest.name}")
    where = f"{name} < {value_literal(bound, kind, shape)}"
    moments = "0"
    if ingest.timestamp and kind != "jdbc":
        moments = _weighed(_source_moment(quoted(ingest.timestamp), kind, shape), weights)
    until = value_literal(mark.timestamp, kind, shape) if mark.timestamp else "NULL"
    total = _total(ingest, moments, until)
    return (
        f"SELECT CAST({bucket} AS {cast}) AS range_name, count(*) AS row_count, "
        f"CAST(sum({total}) AS BIGINT) AS cursor_sum FROM {rows} WHERE {where} GROUP BY CAST({bucket} AS {cast})"
    )


def lake_counting_query(
    ingest: Ingest, kind: DatabaseKind, mark: Mark, rows: str, shape: TextShape | None, weights: Sequence[str]
) -> str:
    """The lake's side, for DuckDB."""
    column, bound = _cursor(ingest, mark)
    name = quoted(column)
    until = "NULL" if mark.timestamp is None else literal(mark.timestamp, "duckdb")
    moments = "0"
    if ingest.timestamp and kind != "jdbc":
        unit = 10 ** (6 - _digits(kind, shape))
        moments = _weighed(f"epoch_us({quoted(ingest.timestamp)}) // {unit} % {_MODULUS}", weights)
    bucket = f"{name} // {IDS_TO_A_RANGE}" if isinstance(bound, int) else f"CAST({name} AS DATE)"
    return (
        f"SELECT CAST({bucket} AS VARCHAR) AS range_name, count(*) AS row_count, "
        f"CAST(sum({_total(ingest, moments, until)}) AS BIGINT) AS cursor_sum "
        f"FROM {rows} WHERE {name} < {literal(bound, 'duckdb')} GROUP BY 1"
    )


def _total(ingest: Ingest, moments: str, until: str) -> str:
    """What is summed of a row; a moment from the mark on is the next window's, and does not count."""
    if not ingest.id:
        return moments
    if not ingest.timestamp:
        return quoted(ingest.id)
    return f"{quoted(ingest.id)} + CASE WHEN {quoted(ingest.timestamp)} < {until} THEN {moments} ELSE 0 END"


def _weighed(moments: str, weights: Sequence[str]) -> str:
    if not weights:
        return moments
    return f"({moments}) * ({_WEIGHT} + ({' + '.join(quoted(name) for name in weights)}) % {_WEIGHT})"


def _source_moment(name: str, kind: DatabaseKind, shape: TextShape | None) -> str:
    """A moment as a number, in the column's own smallest unit, small enough to be summed."""
    match kind:
        case "sqlite":
            digits = _digits(kind, shape)
            fraction = f" + CAST(substr({name}, 21, {digits}) AS INTEGER)" if digits else ""
            return f"(CAST(strftime('%s', {name}) AS INTEGER) * {10**digits}{fraction}) % {_MODULUS}"
        case "postgresql" | "jdbc":
            return f"(extract(epoch FROM {name}) * 1000000)::bigint % {_MODULUS}"


def _digits(kind: DatabaseKind, shape: TextShape | None) -> int:
    return (shape or TextShape()).digits if kind == "sqlite" else 6


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
        number = int(name)  # division goes towards zero, so that ids below it count upwards
        first = number * IDS_TO_A_RANGE
        start, end = first - (IDS_TO_A_RANGE - 1) * (number <= 0), first + (IDS_TO_A_RANGE if number >= 0 else 1)
        return start, min(bound, end)
    day = datetime.fromisoformat(name).replace(tzinfo=UTC)
    return day, min(bound, day + timedelta(days=1))
