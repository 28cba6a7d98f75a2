"""What changed in a table since a cursor: one net change per key, read with delta-rs, without a JVM.

Invariant: applying the changes to the rows as they were at the cursor gives the rows as they are now, up to the
changes that the policy leaves out. Where the feed cannot promise that, the two versions are compared, or everything
is read anew, and the reading says so and why.

Cost: the log entries and feed files of the commits that changed the partitions asked for, as the ledger's index tells
them, and the entries behind the index; a comparison reads the partitions twice, a full reading once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder
from deltalake.exceptions import DeltaError

from lakehouse_assets.contracts.table import Column, TableContract
from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.core.errors import BadInputError, LakeStateError
from lakehouse_assets.lake.ledger import Ledger
from lakehouse_assets.lake.log_range import LogRange, data_files, log_range
from lakehouse_assets.lake.net_changes import (
    CHANGE_TYPE,
    COMMIT_VERSION,
    NetChanges,
    States,
    net_changes,
    no_rows,
    outermost_states,
)
from lakehouse_assets.lake.staging import conform
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.cursors import (
    ANY_CHANGE,
    Cursor,
    FeedPlan,
    FilterPolicy,
    Reason,
    Way,
    fall_back,
    plan_reading,
    runs_of,
)
from lakehouse_assets.plan.scope import Scopes, scope_predicate
from lakehouse_assets.plan.sql_text import column


@dataclass(frozen=True, kw_only=True)
class Changes(NetChanges):
    """Net changes, and how they were read."""

    cursor: Cursor
    """To be stored with what is made from the changes; the next reading begins where it ends."""
    way: Way
    reason: Reason | None

    @property
    def starts_over(self) -> bool:
        """Whether all present rows are given as inserted and what was made earlier is void."""
        return self.way == "full"


@dataclass(frozen=True, kw_only=True)
class ChangedOwners:
    """The owners with at least one net change; None if everything has to be taken as changed."""

    owners: tuple[str, ...] | None
    cursor: Cursor
    way: Way
    reason: Reason | None


def read_changes(
    lake: Lake,
    contract: TableContract,
    since: Cursor | None,
    scopes: Scopes,
    *,
    policy: FilterPolicy = ANY_CHANGE,
    columns: Sequence[str] | None = None,
    until: int | None = None,
    without_rows_if_full: bool = False,
) -> Changes:
    """The changes of the partitions since `since`, of the named columns and the key; all columns without names.

    `until` is the last version that counts, by default the newest. `without_rows_if_full` is for who would not hold all
    rows at once: where nothing less than all of them would do, none come, and the cursor tells where to read them.
    """
    table = _at(lake, contract, until)
    wanted = _wanted(contract, policy, columns)
    known = Ledger(lake).known_versions(contract, table, scopes)
    found = log_range(table, lake.path(contract), contract.name, since, scopes, known)
    plan, earlier = _possible(lake, contract, table, plan_reading(since, found.state, policy), found, scopes)
    if plan.way == "full" and without_rows_if_full:
        states = States(before=no_rows(wanted), after=no_rows(wanted))
    else:
        states = _states(contract, table, earlier, plan, found, scopes, wanted)
    net = net_changes(contract, wanted, policy, states)
    report(
        "change feed",
        contract.name,
        plan.told,
        level="info" if plan.reason in (None, "first_read") else "warning",
        way=plan.way,
        reason=plan.reason,
        start=plan.cursor.start,
        end=plan.cursor.end,
        changes=net.count,
    )
    tables = {field.name: getattr(net, field.name) for field in fields(net)}
    return Changes(**tables, cursor=plan.cursor, way=plan.way, reason=plan.reason)


def changed_owners(
    lake: Lake, contract: TableContract, since: Cursor | None, scopes: Scopes, *, policy: FilterPolicy = ANY_CHANGE
) -> ChangedOwners:
    """Which owners of the partitions changed since `since`."""
    if contract.owner is None:
        raise BadInputError(
            subject=f"table {contract.name}",
            seen="its rows have no owner",
            why="there is nothing to tell changes by",
            remedy="read its changes by key",
        )
    counted = contract.column_names if policy.columns is None else policy.columns
    changes = read_changes(lake, contract, since, scopes, policy=policy, columns=(contract.owner, *counted))
    return ChangedOwners(
        owners=None if changes.starts_over else changes.values(contract.owner),
        cursor=changes.cursor,
        way=changes.way,
        reason=changes.reason,
    )


def present_cursor(
    lake: Lake, contract: TableContract, *, policy: FilterPolicy = ANY_CHANGE, until: int | None = None
) -> Cursor:
    """The cursor of one who has read everything up to now, or up to a version, by other means; the next reading begins
    behind it."""
    table = _at(lake, contract, until)
    found = log_range(table, lake.path(contract), contract.name, None, (), None)
    return plan_reading(None, found.state, policy).cursor


def _at(lake: Lake, contract: TableContract, version: int | None) -> DeltaTable:
    table = lake.present(contract)
    if version is None or version == table.version():
        return table
    held = lake.open(contract)  # one of our own: the present one is others' too
    held.load_as_version(version)
    return held


def _wanted(contract: TableContract, policy: FilterPolicy, columns: Sequence[str] | None) -> tuple[Column, ...]:
    unknown = [name for name in (*(columns or ()), *(policy.columns or ())) if name not in contract.column_names]
    if unknown:
        raise BadInputError(
            subject=f"changes of {contract.name}",
            seen=f"it has no column {', '.join(unknown)}",
            why="no change could ever be seen there",
            remedy=f"name some of {', '.join(contract.column_names)}",
        )
    if columns is None:
        return contract.columns
    names = {*columns, *(policy.columns or ()), *contract.key}
    return tuple(each for each in contract.columns if each.name in names)


def _possible(
    lake: Lake, contract: TableContract, table: DeltaTable, plan: FeedPlan, found: LogRange, scopes: Scopes
) -> tuple[FeedPlan, DeltaTable | None]:
    """The plan as the files that are still there allow it, and the earlier table if they are compared."""
    if plan.way == "feed" and found.missing:
        plan = fall_back(plan, "vacuumed")
    if plan.way != "comparison":
        return plan, None
    earlier = _earlier(lake, contract, table, plan.cursor.start - 1, scopes)
    return (fall_back(plan, plan.reason or "vacuumed") if earlier is None else plan), earlier


def _states(
    contract: TableContract,
    table: DeltaTable,
    earlier: DeltaTable | None,
    plan: FeedPlan,
    found: LogRange,
    scopes: Scopes,
    wanted: tuple[Column, ...],
) -> States:
    """The rows before and after."""
    match plan.way:
        case "nothing":
            return States(before=no_rows(wanted), after=no_rows(wanted))
        case "feed":
            return outermost_states(contract, wanted, _events(table, contract, found, scopes, wanted))
        case "comparison" | "full":
            before = no_rows(wanted) if earlier is None else _rows(earlier, scopes, wanted)
            return States(before=before, after=_rows(table, scopes, wanted))


def _events(
    table: DeltaTable, contract: TableContract, found: LogRange, scopes: Scopes, wanted: tuple[Column, ...]
) -> pa.Table:
    touched = [commit.version for commit in found.state.commits if commit.touches]
    names = [each.name for each in wanted]
    try:
        return pa.concat_tables(
            pa.RecordBatchReader.from_stream(
                table.load_cdf(
                    starting_version=first,
                    ending_version=last,
                    # It reads these as SQL: a name such as `order` has to be quoted.
                    columns=[column(each, "datafusion") for each in (*names, CHANGE_TYPE, COMMIT_VERSION)],
                    predicate=scope_predicate(scopes, "datafusion") if scopes else None,
                )
            ).read_all()
            for first, last in runs_of(touched)
        )
    except (DeltaError, pa.ArrowInvalid, OSError) as error:
        raise LakeStateError(
            subject=f"change feed of {contract.name}",
            seen=f"versions {touched[0]} to {touched[-1]} cannot be read: {error}",
            why="changes would be missed",
            remedy="run again, if files were vacuumed just now; else restore the table's folder from a backup",
        ) from error


def _earlier(
    lake: Lake, contract: TableContract, present: DeltaTable, version: int, scopes: Scopes
) -> DeltaTable | None:
    """The table at an earlier version, if its log and its files of the partitions are still there as they were."""
    if version < 0:
        return None
    folder = lake.path(contract)
    try:
        earlier = DeltaTable(str(folder), version=version)
    except DeltaError:
        return None  # the log entries that make up that version are gone
    kinds = {field.name: field.type for field in present.schema().fields}
    if any(kinds.get(field.name, field.type) != field.type for field in earlier.schema().fields):
        return None  # values of two types are not compared
    files = data_files(earlier, folder, contract, scopes)
    return earlier if all(file.exists() for file in files) else None


def _rows(table: DeltaTable, scopes: Scopes, wanted: tuple[Column, ...]) -> pa.Table:
    present = {field.name for field in table.schema().fields}
    listed = ", ".join(column(each.name, "datafusion") for each in wanted if each.name in present)
    where = scope_predicate(scopes, "datafusion")
    reader = QueryBuilder().register("t", table).execute(f"SELECT {listed} FROM t WHERE {where}")
    return conform(pa.table(reader.read_all()), wanted)
