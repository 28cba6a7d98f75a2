"""Carries out writes with delta-rs, in this process: its writer and its MERGE.

Rows are compared before (`changed_rows`): equal ones are not sent, so that the change feed has exactly what changed,
and the commit's own note tells what the partitions hold.

Invariant: of two writers that meet in a partition, one is refused by delta-rs and plans anew; writers of other
partitions pass. Its conflict check looks at the files that a statement could read, and each commit also names its
partitions as application transactions: owners that are in different files are no conflict to delta-rs, but the contents
of the partition that both commits tell would be wrong.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction, WriterProperties, write_deltalake

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.effects import reached
from lakehouse_assets.core.hashing import fingerprint
from lakehouse_assets.lake.changed_rows import OPERATION, affected, compare
from lakehouse_assets.lake.commit_log import own_commit
from lakehouse_assets.lake.contents import replaced_rows
from lakehouse_assets.lake.outcome import Change, Note, Outcome
from lakehouse_assets.lake.rows import conform, in_owner_order, whole, with_audit
from lakehouse_assets.lake.staging import Staged
from lakehouse_assets.plan.sql_text import column
from lakehouse_assets.plan.statements import covering_predicate, target_predicate
from lakehouse_assets.plan.write_plan import WritePlan

WRITER = WriterProperties(compression="ZSTD", max_row_group_size=65_536)


def execute_locally(
    table: DeltaTable,
    contract: TableContract,
    plan: WritePlan,
    staged: Staged,
    run_id: str,
    note: Note,
    *,
    counted: bool,
) -> Outcome:
    """Carry out `plan` with the staged rows; `counted` asks for what it makes of the contents of partitions."""
    match plan.action:
        case "nothing":
            return Outcome(unchanged=_rows(staged) if plan.request.strategy != "delete_matching" else 0)
        case "append" | "replace":
            return _load(table, contract, plan, staged, run_id, note)
        case "merge" | "delete":
            batch = _prepared(contract, staged, run_id)
            there = affected(table, contract, plan, batch, counted=counted)
            changed, outcome = compare(contract, plan.request, batch, there, counted=counted)
            return commit_changes(table, contract, plan, changed, outcome, note)


def commit_nothing(table: DeltaTable, plan: WritePlan, outcome: Outcome, note: Note) -> Outcome:
    """Commit an entry without files, which carries the ledger's entries and the transaction."""
    text = note(outcome)
    reached("write: before commit")
    table.create_write_transaction(
        [],
        mode="append",
        schema=table.schema(),
        partition_by=table.metadata().partition_columns,
        commit_properties=_properties(plan, text),
    )
    return replace(outcome, version=own_commit(table, text)["version"])


def commit_changes(
    table: DeltaTable, contract: TableContract, plan: WritePlan, changed: pa.Table, outcome: Outcome, note: Note
) -> Outcome:
    """Merge rows that are known to differ, each with its operation."""
    if not changed.num_rows:
        return outcome
    names = [field.name for field in table.schema().fields if field.name in changed.column_names]
    rows = changed.select([*names, OPERATION])
    key = " AND ".join(
        f"{column(name, 'datafusion', of='t')} = {column(name, 'datafusion', of='s')}" for name in contract.key
    )
    where = covering_predicate(contract, plan.request, plan.pruning.owner_ranges, "datafusion", of="t")
    predicate = f"{where} AND {key}"
    reached("write: before commit")
    merge = table.merge(
        rows,
        predicate=predicate,
        source_alias="s",
        target_alias="t",
        writer_properties=WRITER,
        commit_properties=_properties(plan, note(outcome)),
    )
    values = {column(name, "datafusion"): column(name, "datafusion", of="s") for name in names}
    if outcome.deleted:
        merge = merge.when_matched_delete(predicate=f"s.{OPERATION} = 'delete'")
    if outcome.updated:
        merge = merge.when_matched_update(updates=values, predicate=f"s.{OPERATION} = 'update'")
    if outcome.inserted:
        merge = merge.when_not_matched_insert(updates=values, predicate=f"s.{OPERATION} = 'insert'")
    merge.execute()
    return replace(outcome, version=table.version(), statement=f"DeltaTable.merge(predicate={predicate!r})")


def _load(
    table: DeltaTable, contract: TableContract, plan: WritePlan, staged: Staged, run_id: str, note: Note
) -> Outcome:
    """Put the rows in the place of their partitions, ordered so that files can be skipped.

    Also where these have none: an append would pass whatever another writer has put there meanwhile.
    """
    outcome = Outcome(
        inserted=_rows(staged),
        deleted=replaced_rows(table, plan) if plan.action == "replace" else 0,
        changes={place: Change(added=content) for place, content in staged.contents(contract).items()},
        replaces=plan.action == "replace",
    )
    predicate = target_predicate(contract, plan.request, "datafusion")
    schema = pa.schema(table.schema().to_arrow())
    now = datetime.now(UTC)

    def batches() -> Iterator[pa.RecordBatch]:
        for rows in staged.parts(_present(contract, staged)):
            ready = with_audit(conform(rows, contract.columns), contract, now, run_id)
            yield from whole(in_owner_order(ready, contract), schema).to_batches()

    reached("write: before commit")
    write_deltalake(
        table,
        pa.RecordBatchReader.from_batches(schema, batches()),
        mode="overwrite",
        predicate=predicate,
        writer_properties=WRITER,
        commit_properties=_properties(plan, note(outcome)),
    )
    statement = f'write_deltalake(mode="overwrite", predicate={predicate!r})'
    return replace(outcome, version=table.version(), statement=statement)


def _rows(staged: Staged) -> int:
    assert staged.facts.rows is not None
    return staged.facts.rows


def _present(contract: TableContract, staged: Staged) -> list[str]:
    return [name for name in contract.column_names if name in staged.facts.columns]


def _prepared(contract: TableContract, staged: Staged, run_id: str) -> pa.Table:
    rows = conform(staged.arrow(_present(contract, staged)), contract.columns)
    return with_audit(rows, contract, datetime.now(UTC), run_id)


def _properties(plan: WritePlan, note: str) -> CommitProperties:
    partitions = (f"partition-{fingerprint([plan.table, repr(scope)])}" for scope in plan.request.scopes)
    return CommitProperties(
        custom_metadata={"userMetadata": note},
        app_transactions=[Transaction(plan.request.key, 1), *(Transaction(each, 1) for each in partitions)],
    )
