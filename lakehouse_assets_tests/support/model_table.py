"""What a table must hold after each write, in plain Python: a dict by key, and the rules of the strategies."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from lakehouse_assets.contracts.table import Column, Strategy, TableContract
from lakehouse_assets.plan.row_hash import content_of
from lakehouse_assets.plan.scope import Condition, Equals, Scope

Row = dict[str, Any]
PlainRow = tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class Counts:
    inserted: int = 0
    updated: int = 0
    deleted: int = 0
    unchanged: int = 0


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What the report and the change feed of a write must say."""

    counts: Counts
    feed: Counter[tuple[str, PlainRow]]


@dataclass
class ModelTable:
    """Rows by key. Columns only ever come in; a row that was written without one has NULL there."""

    columns: dict[str, Column] = field(default_factory=dict)
    rows: dict[tuple[Any, ...], Row] = field(default_factory=dict)

    def write(
        self,
        contract: TableContract,
        batch: Sequence[Mapping[str, Any]],
        *,
        scopes: Iterable[Scope],
        strategy: Strategy,
        owners: tuple[str, ...] | None = None,
    ) -> Expected:
        covered = list(scopes)
        self.columns |= {each.name: each for each in contract.columns}
        taken = set(contract.column_names)
        new = {_key(contract, row): {k: v for k, v in row.items() if k in taken} for row in batch}
        inside = {key for key, row in self.rows.items() if in_scopes(row, covered)}
        if owners:
            inside = {key for key in inside if self.rows[key][contract.owner or ""] in owners}
        removed: set[tuple[Any, ...]] = set()
        written = dict(new)
        match strategy:
            case "replace_partitions":
                return self._replace(inside, new)
            case "append_new":
                written = {key: row for key, row in new.items() if key not in self.rows}
            case "delete_matching":
                written, removed = {}, inside & set(new)
            case "upsert":
                removed = inside - set(new) if owners != () else set()
        feed: Counter[tuple[str, PlainRow]] = Counter(("delete", plain(self.rows[key])) for key in removed)
        inserted = updated = 0
        for key, row in written.items():
            if key not in self.rows:
                inserted += 1
                feed[("insert", plain(row))] += 1
            elif plain(self.rows[key]) != plain(row):
                updated += 1
                feed[("update_preimage", plain(self.rows[key]))] += 1
                feed[("update_postimage", plain(row))] += 1
        unchanged = 0 if strategy == "delete_matching" else len(new) - inserted - updated
        for key in removed:
            del self.rows[key]
        self.rows |= written
        counts = Counts(inserted=inserted, updated=updated, deleted=len(removed), unchanged=unchanged)
        return Expected(counts=counts, feed=feed)

    def _replace(self, inside: set[tuple[Any, ...]], new: dict[tuple[Any, ...], Row]) -> Expected:
        feed = Counter(("delete", plain(self.rows[key])) for key in inside)
        feed.update(("insert", plain(row)) for row in new.values())
        for key in inside:
            del self.rows[key]
        self.rows |= new
        return Expected(counts=Counts(inserted=len(new), deleted=len(inside)), feed=feed)

    def plain_rows(self) -> list[PlainRow]:
        return sorted(plain(row) for row in self.rows.values())

    def data_version(self, scope: Scope) -> str:
        held = [row for row in self.rows.values() if in_scopes(row, [scope])]
        columns = list(self.columns.values())
        return content_of(columns, [[row.get(each.name) for row in held] for each in columns]).version


def plain(row: Mapping[str, Any]) -> PlainRow:
    """A row as text that compares and sorts; NULL is the same as a column that is not there."""
    return tuple(sorted((name, _text(value)) for name, value in row.items() if value is not None))


def in_scopes(row: Mapping[str, Any], scopes: Iterable[Scope]) -> bool:
    held = list(scopes)
    return held == [()] or any(all(_holds(row, condition) for condition in scope) for scope in held)


def _holds(row: Mapping[str, Any], condition: Condition) -> bool:
    value = row[condition.column]
    if isinstance(condition, Equals):
        return value == condition.value
    return condition.start <= value < condition.end


def _key(contract: TableContract, row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in contract.key)


def _text(value: Any) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    return repr(value + 0.0) if isinstance(value, float) else repr(value)
