"""Changes as one per key: two states of the same keys in, what came, went and became another out.

Several changes of one key come out as one: what was inserted and deleted again is nothing, what was deleted and
inserted again an update, or nothing if it is equal.
"""

from collections.abc import Set
from dataclasses import dataclass, fields

import numpy as np
import pyarrow as pa

from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.table import Column, TableContract
from lakehouse_assets.lake.local_sql import local_sql
from lakehouse_assets.lake.staging import conform
from lakehouse_assets.plan.cursors import FilterPolicy
from lakehouse_assets.plan.sql_text import column, in_list, null_safe_equal

CHANGE_TYPE, COMMIT_VERSION = "_change_type", "_commit_version"
"""The columns that the feed adds to a table's own."""
_LEAVING = ("delete", "update_preimage")
_ROW = "lakehouse_row"


@dataclass(frozen=True, kw_only=True)
class States:
    """The rows of some keys before and after; a key that is in one only came or went."""

    before: pa.Table
    after: pa.Table


@dataclass(frozen=True, kw_only=True)
class NetChanges:
    """In the order of the key. An update stands in the same row of `before` and `after`."""

    inserted: pa.Table
    deleted: pa.Table
    before: pa.Table
    after: pa.Table

    @property
    def count(self) -> int:
        return self.inserted.num_rows + self.deleted.num_rows + self.after.num_rows

    def values(self, name: str) -> tuple[str, ...]:
        """The values of a column in all changed rows, as they were and as they are, in order."""
        found: set[str] = set()
        for rows in (self.inserted, self.deleted, self.before, self.after):
            found.update(rows[name].to_pylist())
        return tuple(sorted(found))


def no_rows(columns: tuple[Column, ...]) -> pa.Table:
    return arrow_schema(columns).empty_table()


def outermost_states(contract: TableContract, columns: tuple[Column, ...], events: pa.Table) -> States:
    """Each key as it was before its first event of the feed, and as it is after its last."""
    rows = conform(events, columns)
    kinds, versions = events[CHANGE_TYPE].cast(pa.string()), events[COMMIT_VERSION].cast(pa.int64())
    if len(np.unique(versions.to_numpy())) == 1:  # in one commit a key goes once and comes once
        goes = np.array([kind in _LEAVING for kind in kinds.to_pylist()])
        return States(before=rows.filter(pa.array(goes)), after=rows.filter(pa.array(~goes)))
    rows = rows.append_column(CHANGE_TYPE, kinds).append_column(COMMIT_VERSION, versions)
    key = ", ".join(column(name, "duckdb") for name in contract.key)
    listed = ", ".join(column(each.name, "duckdb") for each in columns)
    leaves = in_list(CHANGE_TYPE, _LEAVING, "duckdb")
    with local_sql() as connection:
        connection.register("events", rows)

        def outermost(order: str, which: str) -> pa.Table:
            place = f"row_number() OVER (PARTITION BY {key} ORDER BY {order})"
            chosen = f"SELECT {listed} FROM events QUALIFY {place} = 1 AND {which}"
            return conform(connection.sql(chosen).to_arrow_table(), columns)

        # In one commit a row goes before another comes in its place.
        return States(
            before=outermost(f"{COMMIT_VERSION}, {leaves} DESC", leaves),
            after=outermost(f"{COMMIT_VERSION} DESC, {leaves}", f"NOT ({leaves})"),
        )


def net_changes(
    contract: TableContract, columns: tuple[Column, ...], policy: FilterPolicy, states: States
) -> NetChanges:
    """What the policy counts of the difference between the states; rows equal in what it looks at are none."""
    if not states.before.num_rows and not states.after.num_rows:
        return NetChanges(**{each.name: no_rows(columns) for each in fields(NetChanges)})
    counted = [each.name for each in columns if policy.columns is None or each.name in policy.columns]
    same = " AND ".join(f"{column(name, 'duckdb', of='b')} = {column(name, 'duckdb', of='a')}" for name in contract.key)
    equal = " AND ".join(
        null_safe_equal(column(name, "duckdb", of="b"), column(name, "duckdb", of="a"), "duckdb") for name in counted
    )
    order = ", ".join(
        f"coalesce({column(name, 'duckdb', of='b')}, {column(name, 'duckdb', of='a')})" for name in contract.key
    )
    with local_sql() as connection:
        connection.register("b", _numbered(states.before, {*contract.key, *counted}))
        connection.register("a", _numbered(states.after, {*contract.key, *counted}))
        # One query for all kinds of change: a small one costs what asking costs.
        found = connection.sql(
            f"SELECT b.{_ROW} AS before, a.{_ROW} AS after FROM b FULL JOIN a ON {same} "
            f"WHERE b.{_ROW} IS NULL OR a.{_ROW} IS NULL OR NOT ({equal}) ORDER BY {order}"
        ).to_arrow_table()
    came, went = (found[side].is_null().to_numpy() for side in ("before", "after"))
    stayed = ~(came | went)

    def rows(change: str, of: pa.Table, side: str, which: np.ndarray) -> pa.Table:
        return of.take(found[side].filter(pa.array(which))) if change in policy.change_types else no_rows(columns)

    return NetChanges(
        inserted=rows("insert", states.after, "after", came),
        deleted=rows("delete", states.before, "before", went),
        before=rows("update", states.before, "before", stayed),
        after=rows("update", states.after, "after", stayed),
    )


def _numbered(rows: pa.Table, names: Set[str]) -> pa.Table:
    return rows.select([name for name in rows.column_names if name in names]).append_column(
        _ROW, pa.array(range(rows.num_rows), pa.int64())
    )
