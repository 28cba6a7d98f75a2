"""Commits the files that workers have written: a first load, or partitions replaced as a whole. No row is read.

The files that a replacement removes are told by the log; the change feed is what was added and removed.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder
from deltalake.exceptions import CommitFailedError

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.core.effects import reached
from lakehouse_assets.lake.commit_log import commit, removal
from lakehouse_assets.lake.contents import replaced_rows
from lakehouse_assets.lake.data_files import partition_texts
from lakehouse_assets.lake.outcome import Change, Note, Outcome
from lakehouse_assets.lake.worker_stage import FileStage
from lakehouse_assets.plan.pruning import FileFacts, touched_files
from lakehouse_assets.plan.row_hash import row_hashes
from lakehouse_assets.plan.sql_text import column
from lakehouse_assets.plan.statements import target_predicate
from lakehouse_assets.plan.write_facts import TableFacts, WriteRequest
from lakehouse_assets.plan.write_plan import WritePlan


def execute_files(
    table: DeltaTable, contract: TableContract, plan: WritePlan, facts: TableFacts, staged: FileStage, note: Note
) -> Outcome:
    """Commit the staged files, in the place of the partitions' own where the plan replaces them."""
    replaces = plan.action == "replace"
    outcome = Outcome(
        inserted=staged.facts.rows,
        deleted=replaced_rows(table, plan) if replaces else 0,
        changes={place: Change(added=content) for place, content in staged.contents(contract).items()},
        replaces=replaces,
    )
    actions: list[Mapping[str, Any]] = [file.add() for file in staged.files]
    gone = touched_files(facts.files, plan.request.scopes, None) if replaces else []
    actions += [_removal(contract, file) for file in gone]
    reached("write: before commit")
    staged.handed_over = True
    try:
        version = commit(
            table,
            staged.folder,
            actions,
            operation="WRITE",
            note=note(outcome),
            transaction=plan.request.key,
            metrics={
                "numFiles": len(staged.files),
                "numRemovedFiles": len(gone),
                "numOutputRows": outcome.inserted,
                "numDeletedRows": outcome.deleted,
            },
        )
    except CommitFailedError:
        staged.handed_over = False  # another writer was first, so that no commit names the files
        raise
    return replace(outcome, version=version)


def has_no_key_of(table: DeltaTable, contract: TableContract, request: WriteRequest, staged: FileStage) -> bool:
    """Whether the table certainly has none of the batch's keys. Cost: the key columns of what the write covers."""
    columns = [contract.column(name) for name in contract.key]
    parts = [row_hashes(columns, rows.columns) for rows in staged.read(contract.key)]
    held = np.unique(np.concatenate(parts)) if parts else np.zeros(0, dtype=np.uint64)
    listed = ", ".join(column(each.name, "datafusion") for each in columns)
    where = target_predicate(contract, request, "datafusion")
    looked_at = 0
    for batch in QueryBuilder().register("t", table).execute(f"SELECT {listed} FROM t WHERE {where}"):
        hashes = row_hashes(columns, pa.record_batch(batch).columns)
        looked_at += len(hashes)
        if np.isin(hashes, held).any():
            return False
    report("workers", contract.name, "none of the keys is in the table", looked_at=looked_at, keys=len(held))
    return True


def _removal(contract: TableContract, file: FileFacts) -> dict[str, Any]:
    place = tuple(file.partition[name] for name in contract.partition_by)
    return removal(file.path, size=file.size, partition=partition_texts(contract, place))
