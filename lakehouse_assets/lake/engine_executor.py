"""Writes small batches with delta-rs's writer and MERGE: for tables that are not plain, and what hashes cannot tell.

The rows that the batch could change are read once, pruned by partition and owner, and compared with DuckDB, null-safe;
equal rows are not written, so the change feed has exactly what changed. Slower than `copy_on_write`, which see.
"""

from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import CommitProperties, DeltaTable, QueryBuilder, Transaction, write_deltalake

from lakehouse_assets.contracts.table import Column, TableContract
from lakehouse_assets.core.effects import reached
from lakehouse_assets.lake.contents import contents_by_partition, replaced_rows
from lakehouse_assets.lake.local_sql import local_sql
from lakehouse_assets.lake.outcome import Change, Note, Outcome, PartitionValues
from lakehouse_assets.lake.rows import conform
from lakehouse_assets.plan.scope import scope_predicate
from lakehouse_assets.plan.sql_text import column, in_list, null_safe_equal
from lakehouse_assets.plan.statements import target_predicate
from lakehouse_assets.plan.write_facts import deletes_missing
from lakehouse_assets.plan.write_plan import WritePlan

_OPERATION = "lakehouse_operation"
_LISTED_KEYS = 5_000
"""Up to so many keys are asked for by name when only keys matter; beyond, all keys of the partitions are read."""


def execute_by_engine(
    table: DeltaTable, contract: TableContract, plan: WritePlan, batch: pa.Table, note: Note
) -> Outcome:
    """Carry out `plan` with `batch`, whose columns are the table's."""
    columns = contract.stored_columns
    match plan.action:
        case "nothing":
            return Outcome(unchanged=batch.num_rows if plan.request.strategy != "delete_matching" else 0)
        case "append":
            outcome = Outcome(inserted=batch.num_rows, changes=_added(contract, batch))
            return _commit_rows(table, contract, plan, batch, outcome, note)
        case "replace":
            outcome = Outcome(
                inserted=batch.num_rows,
                deleted=replaced_rows(table, plan),
                changes=_added(contract, batch),
                replaces=True,
            )
            return _commit_rows(table, contract, plan, batch, outcome, note)
        case "merge" | "delete":
            changed, unchanged = _compare(contract, plan, batch, _affected(table, contract, plan, batch))
            outcome = _outcome(contract, changed, unchanged)
            return _commit_changes(table, contract, plan, changed, columns, outcome, note)


def commit_nothing(
    table: DeltaTable, contract: TableContract, plan: WritePlan, outcome: Outcome, note: Note
) -> Outcome:
    """Commit an entry without files, which carries the ledger's entries and the transaction."""
    version = table.version() + 1  # a conflict is not retried, see `_properties`
    reached("write: before commit")
    table.create_write_transaction(
        [],
        mode="append",
        schema=table.schema(),
        partition_by=list(contract.partition_by),
        commit_properties=_properties(plan, note(outcome)),
    )
    return replace(outcome, version=version)


def _affected(table: DeltaTable, contract: TableContract, plan: WritePlan, batch: pa.Table) -> pa.Table:
    """The rows of the table that the batch could change."""
    where = target_predicate(contract, plan.request, "datafusion")
    names = [each.name for each in contract.stored_columns]
    if plan.request.strategy == "append_new":
        names = list(contract.key)
        if len(names) == 1 and batch.num_rows <= _LISTED_KEYS and contract.column(names[0]).type != "double":
            where += " AND " + in_list(column(names[0], "datafusion"), batch[names[0]].to_pylist(), "datafusion")
    listed = ", ".join(column(name, "datafusion") for name in names)
    reader = QueryBuilder().register("t", table).execute(f"SELECT {listed} FROM t WHERE {where}")
    return conform(pa.table(reader.read_all()), contract.stored_columns)


def _compare(contract: TableContract, plan: WritePlan, batch: pa.Table, target: pa.Table) -> tuple[pa.Table, int]:
    """The changed rows with their operation, and how many rows of the batch are there already as they are.

    An updated row stands twice, as it was (`before`) and as it is to be (`update`).
    """
    key = " AND ".join(f"{column(name, 'duckdb', of='s')} = {column(name, 'duckdb', of='t')}" for name in contract.key)
    own = [name for name in contract.column_names if name not in contract.key]
    same = " AND ".join(
        null_safe_equal(column(name, "duckdb", of="s"), column(name, "duckdb", of="t"), "duckdb") for name in own
    )
    differs = f"NOT ({same})" if own else "FALSE"
    parts: list[str] = []
    if plan.request.strategy == "delete_matching":
        parts.append(f"SELECT t.*, 'delete' AS {_OPERATION} FROM t SEMI JOIN s ON {key}")
    else:
        parts.append(f"SELECT s.*, 'insert' AS {_OPERATION} FROM s ANTI JOIN t ON {key}")
    if plan.request.strategy == "upsert":
        parts.append(f"SELECT s.*, 'update' AS {_OPERATION} FROM s JOIN t ON {key} WHERE {differs}")
        parts.append(f"SELECT t.*, 'before' AS {_OPERATION} FROM s JOIN t ON {key} WHERE {differs}")
    if deletes_missing(plan.request):
        parts.append(f"SELECT t.*, 'delete' AS {_OPERATION} FROM t ANTI JOIN s ON {key}")
    with local_sql() as connection:
        connection.register("s", batch)
        connection.register("t", target)
        changed = connection.sql(" UNION ALL ".join(parts)).to_arrow_table()
    operations = changed[_OPERATION].to_pylist()
    moved = sum(operation in ("insert", "update") for operation in operations)
    unchanged = 0 if plan.request.strategy == "delete_matching" else batch.num_rows - moved
    return changed, unchanged


def _outcome(contract: TableContract, changed: pa.Table, unchanged: int) -> Outcome:
    names = ("insert", "update", "before", "delete")
    groups = {name: changed.filter(pc.field(_OPERATION) == name) for name in names}
    changes: dict[PartitionValues, Change] = {}
    for name, rows in groups.items():
        for values, content in contents_by_partition(contract, rows).items():
            if name in ("insert", "update"):
                change = Change(added=content, updated=content.rows if name == "update" else 0)
            else:
                change = Change(removed=content)
            changes[values] = changes.get(values, Change()).plus(change)
    return Outcome(
        inserted=groups["insert"].num_rows,
        updated=groups["update"].num_rows,
        deleted=groups["delete"].num_rows,
        unchanged=unchanged,
        changes=changes,
    )


def _added(contract: TableContract, rows: pa.Table) -> dict[PartitionValues, Change]:
    return {values: Change(added=content) for values, content in contents_by_partition(contract, rows).items()}


def _commit_rows(
    table: DeltaTable, contract: TableContract, plan: WritePlan, batch: pa.Table, outcome: Outcome, note: Note
) -> Outcome:
    """Append the rows, or put them in the place of their partitions, ordered so that files can be skipped."""
    order = [name for name in (*contract.partition_by, contract.owner, *contract.key) if name]
    rows = _whole(table, batch.sort_by([(name, "ascending") for name in dict.fromkeys(order)]))
    reached("write: before commit")
    if plan.action == "append":
        write_deltalake(table, rows, mode="append", commit_properties=_properties(plan, note(outcome)))
    else:
        predicate = scope_predicate(plan.request.scopes, "datafusion")
        write_deltalake(
            table, rows, mode="overwrite", predicate=predicate, commit_properties=_properties(plan, note(outcome))
        )
    return _with_version(table, outcome)


def _whole(table: DeltaTable, rows: pa.Table) -> pa.Table:
    """The rows with every column of the table; one that the contract no longer has is NULL."""
    for field in pa.schema(table.schema().to_arrow()):
        if field.name not in rows.column_names:
            rows = rows.append_column(field.name, pa.nulls(rows.num_rows, field.type))
    return rows


def _commit_changes(
    table: DeltaTable,
    contract: TableContract,
    plan: WritePlan,
    changed: pa.Table,
    columns: tuple[Column, ...],
    outcome: Outcome,
    note: Note,
) -> Outcome:
    rows = changed.filter(pc.field(_OPERATION) != "before")
    if not rows.num_rows:
        return outcome
    key = " AND ".join(
        f"{column(name, 'datafusion', of='t')} = {column(name, 'datafusion', of='s')}" for name in contract.key
    )
    reached("write: before commit")
    merge = table.merge(
        rows,
        predicate=f"{target_predicate(contract, plan.request, 'datafusion', of='t')} AND {key}",
        source_alias="s",
        target_alias="t",
        commit_properties=_properties(plan, note(outcome)),
    )
    values = {column(each.name, "datafusion"): column(each.name, "datafusion", of="s") for each in columns}
    if outcome.deleted:
        merge = merge.when_matched_delete(predicate=f"s.{_OPERATION} = 'delete'")
    if outcome.updated:
        merge = merge.when_matched_update(updates=values, predicate=f"s.{_OPERATION} = 'update'")
    if outcome.inserted:
        merge = merge.when_not_matched_insert(updates=values, predicate=f"s.{_OPERATION} = 'insert'")
    merge.execute()
    return _with_version(table, outcome)


def _properties(plan: WritePlan, note: str) -> CommitProperties:
    return CommitProperties(
        custom_metadata={"userMetadata": note},
        app_transactions=[Transaction(plan.request.key, 1)],
        max_commit_retries=0,  # a conflict is planned anew: what was compared may have changed
    )


def _with_version(table: DeltaTable, outcome: Outcome) -> Outcome:
    return replace(outcome, version=table.version())
