"""Carries out writes with Spark, of any size: replacements by the DataFrame writer, the rest by one MERGE.

A MERGE takes its user metadata and its transaction from the session's configuration, which threads share: a
lock holds them back from each other and from OPTIMIZE, which would take over what one has set for itself; what was set
is unset whatever happens.
"""

import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import reduce
from typing import TYPE_CHECKING

from deltalake import DeltaTable

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.diagnostics import phase
from lakehouse_assets.core.effects import reached
from lakehouse_assets.core.errors import LakeStateError
from lakehouse_assets.lake.commit_log import own_commit
from lakehouse_assets.lake.contents import replaced_rows
from lakehouse_assets.lake.outcome import Change, Note, Outcome, PartitionValues
from lakehouse_assets.lake.spark_errors import spark_errors
from lakehouse_assets.lake.staging import Staged
from lakehouse_assets.lake.views import view_scope
from lakehouse_assets.plan.row_hash import NO_CONTENT, Content, row_hash_sql
from lakehouse_assets.plan.sql_text import column, delta_name, literal, name, null_safe_equal
from lakehouse_assets.plan.statements import BATCH_SLOT, target_predicate
from lakehouse_assets.plan.write_facts import BatchFacts, deletes_missing
from lakehouse_assets.plan.write_plan import WritePlan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameWriter, SparkSession

ROWS_PER_FILE = 100_000
"""Bounds what one changed row makes a write rewrite, whatever the table's size."""
_PART = "spark writer"
_PREFIX = "spark.databricks.delta."
_PROBED = 100
_session_lock = threading.Lock()


def execute_spark(
    spark: "SparkSession",
    table: DeltaTable,
    contract: TableContract,
    plan: WritePlan,
    staged: Staged,
    run_id: str,
    note: Note,
) -> Outcome:
    """Carry out `plan` with the staged rows."""
    match plan.action:
        case "nothing":
            return Outcome(unchanged=(staged.facts.rows or 0) if plan.request.strategy != "delete_matching" else 0)
        case "append" | "replace":
            batch = _prepared(contract, staged.passing(spark), run_id)
            return _load(table, contract, plan, batch, staged, note)
        case "merge" | "delete":
            batch = _prepared(contract, staged.frame(spark), run_id)
            return _merge(spark, table, contract, plan, batch, staged, note)


def commit_nothing_by_spark(
    spark: "SparkSession", table: DeltaTable, plan: WritePlan, outcome: Outcome, note: Note
) -> Outcome:
    """Commit an entry without rows, where delta-rs may not: it carries the ledger's entries and the transaction."""
    text = _plain_text(note(outcome))
    empty = spark.read.format("delta").load(table.table_uri).limit(0)
    reached("write: before commit")
    with spark_errors(f"table {plan.table}"):
        _writer(empty, plan, text).mode("append").save(table.table_uri)
    return replace(outcome, version=own_commit(table, text)["version"])


def _load(
    table: DeltaTable, contract: TableContract, plan: WritePlan, batch: "DataFrame", staged: Staged, note: Note
) -> Outcome:
    """Put the rows in the place of their partitions; their contents are known before, or observed on the way."""
    replaces, is_known = plan.action == "replace", staged.facts.rows is not None
    deleted = replaced_rows(table, plan) if replaces else 0
    planned = _loaded(staged.contents(contract), deleted, replaces=replaces) if is_known else None
    text = _plain_text(note(planned))
    statement = _save(table, contract, plan, batch, staged.facts, text)
    done = planned or _loaded(staged.contents(contract), deleted, replaces=replaces)
    return replace(done, version=own_commit(table, text)["version"], noted=is_known, statement=statement)


def _loaded(contents: Mapping[PartitionValues, Content], deleted: int, *, replaces: bool) -> Outcome:
    return Outcome(
        inserted=sum(content.rows for content in contents.values()),
        deleted=deleted,
        changes={values: Change(added=content) for values, content in contents.items()},
        replaces=replaces,
    )


def _merge(
    spark: "SparkSession",
    table: DeltaTable,
    contract: TableContract,
    plan: WritePlan,
    batch: "DataFrame",
    staged: Staged,
    note: Note,
) -> Outcome:
    with phase(_PART, contract.name, "compare"):
        there = plan.request.strategy == "upsert" and _is_there(spark, table, contract, plan, batch, staged)
    rows = staged.facts.rows
    assert rows is not None
    if there:
        return Outcome(unchanged=rows)
    text = _plain_text(note(None))
    with view_scope(spark) as views, session_settings(spark, _merge_settings(plan, text)):
        view = views.register(contract.name, batch)
        statement = plan.statement.replace(BATCH_SLOT, f"USING {view} AS s", 1)
        reached("write: before commit")
        with phase(_PART, contract.name, "merge"), spark_errors(f"table {contract.name}"):
            spark.sql(statement).collect()
    with phase(_PART, contract.name, "contents"):
        return replace(_merged(spark, table, contract, plan, rows, text), statement=statement)


def _is_there(
    spark: "SparkSession",
    table: DeltaTable,
    contract: TableContract,
    plan: WritePlan,
    batch: "DataFrame",
    staged: Staged,
) -> bool:
    """Whether the table holds just what the batch would make of it.

    A MERGE that changes no row copies the files it has looked into, and leaves no feed but these: each row would be
    read as deleted and inserted. Cost: mostly a look for a few of the batch's rows, one of which is new; only where
    all of them are there, the rows that the write may change, read and hashed once.
    """
    target = delta_name(table.table_uri)
    same = " AND ".join(
        null_safe_equal(column(each.name, "spark", of="s"), column(each.name, "spark", of="t"), "spark")
        for each in contract.columns
    )
    with view_scope(spark) as views, spark_errors(f"table {contract.name}"):

        def some_are_new(rows: "DataFrame") -> bool:
            view = views.register(contract.name, rows)
            query = f"SELECT 1 FROM {view} AS s LEFT ANTI JOIN {target} AS t ON {plan.predicate} AND {same} LIMIT 1"
            return spark.sql(query).toArrow().num_rows > 0

        if some_are_new(batch.limit(_PROBED)):
            return False
        if deletes_missing(plan.request):
            hashed = f"sum(CAST({row_hash_sql(contract.columns, of='t')} AS DECIMAL(38, 0)))"
            query = f"SELECT count(*) AS row_count, {hashed} AS hash_sum FROM {target} AS t WHERE {plan.predicate}"
            found = spark.sql(query).toArrow().to_pylist()[0]
            held = Content(rows=found["row_count"], total=int(found["hash_sum"] or 0) % (1 << 64))
            return held == reduce(Content.plus, staged.contents(contract).values(), NO_CONTENT)
        return not some_are_new(batch)


def _prepared(contract: TableContract, batch: "DataFrame", run_id: str) -> "DataFrame":
    """The table's columns in its order, one that the batch lacks as NULL, and those of the audit."""
    present = set(batch.columns)
    rows = batch.selectExpr(
        *(
            column(each.name, "spark")
            if each.name in present
            else f"CAST(NULL AS {each.type}) AS {name(each.name, 'spark')}"
            for each in contract.columns
        )
    )
    if not contract.audited:
        return rows
    now = literal(datetime.now(UTC), "spark")
    return rows.selectExpr("*", f"{now} AS written_at", f"{literal(run_id, 'spark')} AS written_by")


def _save(
    table: DeltaTable, contract: TableContract, plan: WritePlan, batch: "DataFrame", facts: BatchFacts, note: str
) -> str:
    """Write rows ordered by partition and owner, in files of bounded size, so that later writes touch few of them.

    As a replacement of the rows that the write answers for, also where there are none: Delta lets an append pass
    whatever another writer has put there meanwhile. Rows that workers make come in their order.
    """
    order = [each for each in (*contract.partition_by, contract.owner) if each]
    if order and facts.rows is not None and facts.rows > ROWS_PER_FILE:
        quoted = [column(each, "spark") for each in order]
        batch = batch.repartitionByRange(-(-facts.rows // ROWS_PER_FILE), *quoted).sortWithinPartitions(*quoted)
    where = target_predicate(contract, plan.request, "spark")
    reached("write: before commit")
    with spark_errors(f"table {contract.name}"):
        _writer(batch, plan, note).mode("overwrite").option("replaceWhere", where).save(table.table_uri)
    return f'DataFrameWriter.mode("overwrite").option("replaceWhere", {where!r})'


def _writer(batch: "DataFrame", plan: WritePlan, note: str) -> "DataFrameWriter":
    return (
        batch.write.format("delta")
        .option("userMetadata", note)
        .option("txnAppId", plan.request.key)
        .option("txnVersion", "1")
        .option("maxRecordsPerFile", str(ROWS_PER_FILE))
    )


def _merge_settings(plan: WritePlan, note: str) -> dict[str, str]:
    return {
        f"{_PREFIX}commitInfo.userMetadata": note,
        f"{_PREFIX}write.txnAppId": plan.request.key,
        f"{_PREFIX}write.txnVersion": "1",
        # Else a MERGE of many rows leaves them in one file, and each later write rewrites it.
        "spark.sql.files.maxRecordsPerFile": str(ROWS_PER_FILE),
    }


@contextmanager
def session_settings(spark: "SparkSession", settings: Mapping[str, str]) -> Generator[None, None, None]:
    """Set what a statement takes from the session alone; no other such statement of the process runs meanwhile."""
    with _session_lock:
        try:
            for key, value in settings.items():
                spark.conf.set(key, value)
            yield
        finally:
            for key in settings:
                spark.conf.unset(key)


def _merged(
    spark: "SparkSession",
    table: DeltaTable,
    contract: TableContract,
    plan: WritePlan,
    rows: int,
    note: str,
) -> Outcome:
    """What the MERGE did, from its commit; contents from the change feed of that commit alone."""
    commit = own_commit(table, note)
    if not commit:
        if table.transaction_version(plan.request.key) is not None:
            raise LakeStateError(
                subject=f"table {contract.name}",
                seen=f"the write {plan.request.key} was committed, but not with its note",
                why="what it changed cannot be told, and the ledger would be wrong",
                remedy="run it again: it will be noticed as done, and its contents be counted",
            )
        return Outcome(unchanged=rows if plan.action == "merge" else 0)
    metrics: Mapping[str, str] = commit.get("operationMetrics", {})
    inserted, updated, deleted = (
        int(metrics.get(f"numTargetRows{what}", 0)) for what in ("Inserted", "Updated", "Deleted")
    )
    return Outcome(
        inserted=inserted,
        updated=updated,
        deleted=deleted,
        unchanged=rows - inserted - updated if plan.action == "merge" else 0,
        version=commit["version"],
        noted=False,
        changes=_changes(spark, table, contract, commit["version"]) if inserted + updated + deleted else {},
    )


def _changes(
    spark: "SparkSession", table: DeltaTable, contract: TableContract, version: int
) -> dict[PartitionValues, Change]:
    feed = (
        spark.read.format("delta")
        .option("readChangeFeed", "true")
        .option("startingVersion", version)
        .option("endingVersion", version)
        .load(table.table_uri)
    )
    taken = "_change_type IN ('delete', 'update_preimage')"
    updated = "count_if(_change_type = 'update_postimage')"
    hashed = f"CAST({row_hash_sql(contract.columns)} AS DECIMAL(38, 0))"
    groups = [column(each, "spark") for each in contract.partition_by]
    with view_scope(spark) as views:
        view = views.register("feed", feed)
        measures = [f"{taken} AS taken", "count(*) AS row_count", f"sum({hashed}) AS hash_sum", f"{updated} AS updated"]
        query = f"SELECT {', '.join([*groups, *measures])} FROM {view} GROUP BY {', '.join([*groups, taken])}"
        rows = spark.sql(query).toArrow().to_pylist()
    changes: dict[PartitionValues, Change] = {}
    for row in rows:
        values = tuple(row[each] for each in contract.partition_by)
        content = Content(rows=row["row_count"], total=int(row["hash_sum"]) % (1 << 64))
        change = Change(removed=content) if row["taken"] else Change(added=content, updated=row["updated"])
        changes[values] = changes.get(values, Change()).plus(change)
    return changes


def _plain_text(note: str) -> str:
    """The same JSON without a dollar sign: Spark puts variables in the place of ${…} in settings too."""
    return note.replace("$", "\\u0024")
