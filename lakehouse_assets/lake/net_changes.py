"""Changes as one per key: two states of the same keys in, what came, went and became another out.

Several changes of one key come out as one: what was inserted and deleted again is nothing, what was deleted and
inserted again an update, or nothing if it is equal.
"""

from dataclasses import dataclass

import pyarrow as pa

from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.table import Column, TableContract
from lakehouse_assets.lake.local_sql import local_sql
from lakehouse_assets.lake.staging import conform
from lakehouse_assets.plan.cursors import FilterPolicy
from lakehouse_assets.plan.sql_text import column, null_safe_equal

CHANGE_TYPE, COMMIT_VERSION = "_change_type", "_commit_version"
"""The columns that the feed adds to a table's own."""


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
    rows = rows.append_column(CHANGE_TYPE, events[CHANGE_TYPE].cast(pa.string()))
    rows = rows.append_column(COMMIT_VERSION, events[COMMIT_VERSION].cast(pa.int64()))
    key = ", ".join(column(name, "duckdb") for name in contract.key)
    listed = ", ".join(column(each.name, "duckdb") for each in columns)
    leaves = f"{CHANGE_TYPE} IN ('delete', 'update_preimage')"
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
    counted = [each.name for each in columns if policy.columns is None or each.name in policy.columns]
    same = " AND ".join(f"{column(name, 'duckdb', of='b')} = {column(name, 'duckdb', of='a')}" for name in contract.key)
    equal = " AND ".join(
        null_safe_equal(column(name, "duckdb", of="b"), column(name, "duckdb", of="a"), "duckdb") for name in counted
    )

    def order(of: str) -> str:
        return ", ".join(column(name, "duckdb", of=of) for name in contract.key)

    with local_sql() as connection:
        connection.register("b", states.before)
        connection.register("a", states.after)

        def ask(change: str, query: str, of: str, *needed: pa.Table) -> pa.Table:
            if change not in policy.change_types or not all(each.num_rows for each in needed):
                return no_rows(columns)
            return conform(connection.sql(f"{query} ORDER BY {order(of)}").to_arrow_table(), columns)

        both = (states.before, states.after)
        return NetChanges(
            inserted=ask("insert", f"SELECT a.* FROM a ANTI JOIN b ON {same}", "a", states.after),
            deleted=ask("delete", f"SELECT b.* FROM b ANTI JOIN a ON {same}", "b", states.before),
            before=ask("update", f"SELECT b.* FROM b JOIN a ON {same} WHERE NOT ({equal})", "b", *both),
            after=ask("update", f"SELECT a.* FROM b JOIN a ON {same} WHERE NOT ({equal})", "a", *both),
        )
