"""From what source and lake say to the one query of a run: first run or window, bounds, and the mark that it earns.

Invariants: a window is half-open and bounded on both ends by the source's own clock and ids, so that rows with equal
timestamps are never parted. The mark never goes past what a transaction that is still open may write. Whatever makes
the window doubtful (a clock that went back, other columns, a restored database) makes the run read everything: equal
rows are not rewritten, so that this costs time, and nothing else.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from lakehouse_assets.contracts.ingest import Ingest
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.plan.marks import Mark, PgSnapshot
from lakehouse_assets.plan.source_sql import (
    DatabaseKind,
    Parameter,
    TextShape,
    quoted,
    quoted_table,
    value_literal,
    with_values,
)

Mode = Literal["first", "window", "everything", "snapshot"]
"""`first`: the table has no rows, or that was asked for; `window`: what came since the mark; `everything`: all rows
again, because the mark cannot be trusted; `snapshot`: all rows, and what is missing among them is gone."""

_WRAP = 1 << 31
"""Transaction ids of PostgreSQL compare in a circle; beyond half of it, earlier and later change places."""


@dataclass(frozen=True, kw_only=True)
class SourceFacts:
    """What the source says before anything is read."""

    kind: DatabaseKind
    now: datetime
    columns: str
    """Fingerprint of names and types of what is read."""
    gone: tuple[str, ...] = ()
    """Columns that the table has and the source no longer."""
    oldest_open: datetime | None = None
    """When the oldest transaction that is still open began, where the source tells."""
    hidden_sessions: int = 0
    """Sessions of others whose transactions this role may not see."""
    snapshot: str | None = None
    has_transaction_ids: bool = False
    """Whether each row tells which transaction wrote it."""
    next_id: int | None = None
    null_cursors: int = 0
    shape: TextShape | None = None
    whole_days: bool = False
    """Whether the timestamp is a day: rows of the present one may come until it ends."""


@dataclass(frozen=True, kw_only=True)
class IngestPlan:
    """A run, decided. `str()` prints it."""

    ingest: str
    mode: Mode
    reason: str
    query: str
    """With its values."""
    values: Mapping[str, Parameter]
    since: Mark | None
    mark: Mark
    """What the commit of the rows will say."""
    deletes_missing: bool
    warnings: tuple[str, ...] = ()

    @property
    def moves_mark(self) -> bool:
        """Whether the mark has to move though no row changes: else the next run would be in doubt as this one is, or
        read the same rows again."""
        match self.mode:
            case "everything":
                return True
            case "first":
                return self.since is None or self.deletes_missing
            case "window" | "snapshot":
                return self.since is None or not self.mark.says_as_much_as(self.since)

    def __str__(self) -> str:
        values = ", ".join(f":{name} = {_shown(value)}" for name, value in self.values.items())
        lines = [
            f"ingest {self.ingest}: {self.mode} ({self.reason})",
            f"  window     {values or 'all rows'}",
            f"  mark       from {self.since or 'none'} to {self.mark}",
            f"  deletes    {'rows that the source has not' if self.deletes_missing else 'nothing'}",
            *(f"  warning    {text}" for text in self.warnings),
            "  query      " + self.query.replace("\n", "\n             "),
        ]
        return "\n".join(lines)


def plan_ingest(
    ingest: Ingest,
    select: Mapping[str, str],
    source: SourceFacts,
    mark: Mark | None,
    *,
    has_rows: bool,
    force_first_run: bool = False,
) -> IngestPlan:
    """Decide; `select` has an expression for each column, which gives it in the contract's type."""
    _refuse_nulls(ingest, source)
    if has_rows and not force_first_run:
        _refuse_gone(ingest, source, mark)
    mode, reason = _mode(ingest, source, mark, has_rows=has_rows, forced=force_first_run)
    since = mark if mode == "window" else None
    until = source.now - timedelta(seconds=ingest.lag_seconds)
    if source.shape is not None:
        until = source.shape.floor(until)
    if since and since.timestamp and until < since.timestamp:  # the lag was made longer
        until = since.timestamp
    values: dict[str, Parameter] = {}
    if ingest.timestamp:
        values |= ({"mark": since.timestamp} if since and since.timestamp else {}) | {"until": until}
    if ingest.id:
        values |= {"mark_id": since.id} if since and since.id is not None else {}
        values["until_id"] = source.next_id if source.next_id is not None else (since and since.id) or 0
    held = _held_back(ingest, until, source)
    moved = Mark(
        timestamp=(_day(held) if source.whole_days else held) if ingest.timestamp else None,
        id=int(values["until_id"]) if ingest.id and isinstance(values["until_id"], int) else None,
        clock=source.now,
        snapshot=source.snapshot,
        columns=source.columns,
    )
    return IngestPlan(
        ingest=ingest.name,
        mode=mode,
        reason=reason,
        query=_query(ingest, select, source, since, values),
        values=values,
        since=mark,
        mark=moved,
        deletes_missing=mode == "snapshot" or (mode == "first" and force_first_run and has_rows),
        warnings=_warnings(ingest, source, until, held),
    )


def relation(ingest: Ingest) -> str:
    """The rows that are read from, to stand behind FROM."""
    if ingest.table is not None:
        return quoted_table(ingest.table)
    return f"({ingest.first_query}) AS source_rows"


def _refuse_nulls(ingest: Ingest, source: SourceFacts) -> None:
    if source.null_cursors and ingest.null_cursor == "raise":
        raise BadInputError(
            subject=f"ingest {ingest.name}",
            seen=f"{source.null_cursors:,} rows have no value in {null_column(ingest)}",
            why="no window would ever hold them, so that the table would lack them; nothing was read",
            remedy="fill the column at the source, or set null_cursor to include or exclude",
        )


def _refuse_gone(ingest: Ingest, source: SourceFacts, mark: Mark | None) -> None:
    """Refuse to empty columns of the table, unless a forced run, whose mark has the columns of now, has done so."""
    if not source.gone or (mark is not None and mark.columns == source.columns):
        return
    raise BadInputError(
        subject=f"ingest {ingest.name}",
        seen=f"the table has {', '.join(source.gone)}, which no longer comes from the source",
        why="it would become NULL in every row of the lake and of what is delivered from it; nothing was read",
        remedy="bring it back (a first_query may name a renamed one as before), or give its values up: "
        "`lakehouse ingest --force-first-run`",
    )


def null_column(ingest: Ingest) -> str | None:
    """The column that every row needs a value in. With both, new rows come by their id, and need no timestamp."""
    return ingest.id or ingest.timestamp


def _mode(ingest: Ingest, source: SourceFacts, mark: Mark | None, *, has_rows: bool, forced: bool) -> tuple[Mode, str]:
    if ingest.strategy == "snapshot":
        return "snapshot", "all rows are compared"
    if forced:
        return "first", "asked for"
    if not has_rows:
        return "first", "the table has no rows"
    if mark is None:
        return "first", "there is no mark"
    if (ingest.timestamp and mark.timestamp is None) or (ingest.id and mark.id is None):
        return "everything", "the strategy goes by a cursor that the mark has not"
    if source.now < mark.clock:
        return "everything", f"the source's clock went back from {mark.clock.isoformat()} to {source.now.isoformat()}"
    if source.columns != mark.columns and mark.columns:
        return "everything", "the source has other columns than before"
    if source.snapshot and mark.snapshot:
        then, now = PgSnapshot.of(mark.snapshot), PgSnapshot.of(source.snapshot)
        if now.xmax < then.xmax:
            return "everything", "the source is behind the mark's snapshot: another database, or a restored one"
        if now.xmax - then.xmin >= _WRAP:
            return "everything", "more transactions have passed than can be told apart"
    return "window", "since the mark"


def _held_back(ingest: Ingest, until: datetime, source: SourceFacts) -> datetime:
    """An open transaction may still write rows as of when it began; with a clock of its own, the source cannot tell."""
    if source.oldest_open is None or ingest.clock is not None:
        return until
    return min(until, source.oldest_open)


def _query(
    ingest: Ingest,
    select: Mapping[str, str],
    source: SourceFacts,
    since: Mark | None,
    values: Mapping[str, Parameter],
) -> str:
    literals = {name: value_literal(value, source.kind, source.shape) for name, value in values.items()}
    listed = ", ".join(f"{expression} AS {quoted(name)}" for name, expression in select.items())
    subject = f"ingest {ingest.name}"
    if since is not None and ingest.incremental_query is not None:
        body = with_values(ingest.incremental_query, literals, subject=subject)
        return f"SELECT {listed} FROM ({body}) AS source_rows"
    body = with_values(relation(ingest), literals, subject=subject)
    where = _predicate(ingest, source, since, literals)
    return f"SELECT {listed} FROM {body}" + (f" WHERE {where}" if where else "")


def _predicate(ingest: Ingest, source: SourceFacts, since: Mark | None, literals: Mapping[str, str]) -> str:
    if not ingest.cursors:
        return ""
    timestamp = quoted(ingest.timestamp) if ingest.timestamp else ""
    number = quoted(ingest.id) if ingest.id else ""
    bound = f"{number} < {literals['until_id']}" if number else f"{timestamp} < {literals['until']}"
    if since is None:
        return bound + (f" OR {number or timestamp} IS NULL" if ingest.null_cursor == "include" else "")
    ways: list[str] = []
    if number:
        ways.append(f"{number} >= {literals['mark_id']}")
    if timestamp:
        within = f" AND {timestamp} < {literals['until']}" if number else ""
        ways.append(f"{timestamp} >= {literals['mark']}{within}")
    if source.has_transaction_ids and since.snapshot:
        # Rows behind the mark that were not visible when it was set: their transaction was open, or came later. No
        # policy leaves them out, since which ids and moments an open transaction has taken cannot be known.
        oldest = PgSnapshot.of(since.snapshot).xmin % (1 << 32)
        ways.append(f"age(xmin) <= age('{oldest}'::xid)")
    where = f"{bound} AND ({' OR '.join(ways)})"
    return where + (f" OR {number or timestamp} IS NULL" if ingest.null_cursor == "include" else "")


def _day(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def _warnings(ingest: Ingest, source: SourceFacts, until: datetime, held: datetime) -> tuple[str, ...]:
    found: list[str] = []
    if ingest.timestamp and held < until:
        found.append(f"a transaction open since {held.isoformat()} holds the mark back")
    if source.null_cursors and ingest.null_cursor == "exclude":
        found.append(f"{source.null_cursors:,} rows have no value in {null_column(ingest)} and are left out")
    if source.gone:
        found.append(f"{', '.join(source.gone)} no longer comes from the source and is NULL in every row")
    if ingest.cursors and ingest.gaps != "reread" and not source.has_transaction_ids:
        found.extend(_of_late_rows(ingest, source))
    return tuple(found)


def _of_late_rows(ingest: Ingest, source: SourceFacts) -> Sequence[str]:
    """Say which rows would be lost where rows do not tell their transaction and no one looks for gaps."""
    lost = f"rows that are committed late are not found under gaps: {ingest.gaps}; set it to reread"
    if source.hidden_sessions:
        number = f"{source.hidden_sessions:,} sessions of other roles"
        return [f"the transactions of {number} cannot be seen: {lost}, or grant this role pg_read_all_stats"]
    if source.oldest_open is not None and ingest.timestamp is None:
        return [f"a transaction open since {source.oldest_open.isoformat()} may have taken ids: {lost}"]
    return []


def _shown(value: Parameter) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
