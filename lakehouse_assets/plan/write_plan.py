"""From facts to a write plan: how a batch gets into its table, or why it does not.

Invariant: planning has no effects and execution makes no decisions. Whatever is refused is refused here,
before anything is written, with the rows named.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.hashing import fingerprint
from lakehouse_assets.core.settings import Executor
from lakehouse_assets.plan.alignment import NamedType, align, new_column
from lakehouse_assets.plan.pruning import Pruning, prune, touched_files
from lakehouse_assets.plan.scope import check_scopes
from lakehouse_assets.plan.slices import Slice, are_bounded, can_be_cut, slices_of
from lakehouse_assets.plan.statements import Action, statement, target_predicate
from lakehouse_assets.plan.write_facts import BatchFacts, TableFacts, WriteRequest, deletes_missing

SMALL_ROWS = 100_000
SMALL_BYTES = 128 * 1024 * 1024
"""Up to here a batch and the files it touches are written without Spark, whose fixed cost would be most of the work."""

ChosenExecutor = Literal["spark", "delta-rs", "process", "workers"]
"""`process`: files and log entry by the run's process. `delta-rs`: by delta-rs in that process, for tables that ask
more of a writer. `workers`: those who made the rows have written them; the commit names their files, or what they were
compared to."""

ASKED_FOR = "the setting `executor` (LAKEHOUSE_EXECUTOR) asks for it"


@dataclass(frozen=True, kw_only=True)
class WritePlan:
    """Everything that execution does, decided. `str()` prints it."""

    table: str
    request: WriteRequest
    action: Action
    executor: ChosenExecutor
    executor_reason: str
    add_columns: tuple[NamedType, ...]
    """Columns that the table has to get first."""
    beyond_contract: tuple[NamedType, ...]
    """Columns that the contract has not: the batch brings them, or the table has them from before."""
    columns: tuple[str, ...]
    """What is written, apart from audit columns: the contract's columns, and those beyond it."""
    pruning: Pruning
    slices: tuple[Slice, ...]
    """What is compared by itself, part by part; nothing if the write is done in one go."""
    predicate: str
    """Which rows of the table may change, as Spark SQL over alias t."""
    statement: str
    """What is done, as SQL. Spark runs it to merge and to delete; in all other cases no SQL is run."""

    def __str__(self) -> str:
        pruning = self.pruning
        lines = [
            f"write to {self.table}: {self.request.strategy} as {self.action}",
            f"  executor   {self.executor} ({self.executor_reason})",
            f"  key        {self.request.key}",
            f"  rows       those where {self.predicate}",
            f"  files      {pruning.touched} of {pruning.total} can be touched, {pruning.pruned} pruned"
            + (f", {pruning.unbounded} for want of statistics" if pruning.unbounded else ""),
            *([f"  slices     {len(self.slices)}, each compared by itself"] if self.slices else []),
            *(f"  new column {name} {kind}" for name, kind in self.add_columns),
            "  as SQL     " + self.statement.replace("\n", "\n             "),
        ]
        return "\n".join(lines)


def idempotency_key(run_id: str, asset: str, partitions: Sequence[str]) -> str:
    return f"{asset}-{run_id}-{fingerprint(sorted(partitions))}"


def plan_write(
    contract: TableContract,
    request: WriteRequest,
    batch: BatchFacts,
    table: TableFacts,
    *,
    path: str,
    executor: Executor = "auto",
    because: str = ASKED_FOR,
) -> WritePlan:
    """Decide; raises with the rows named if the batch cannot be written as it is.

    `because` says why it is `executor`, where that is not to be chosen here.
    """
    check_scopes(contract, request.scopes)
    check_owners(contract, request)
    aligned = align(contract, batch.columns, table.columns)
    _refuse_violations(contract, batch)
    pruning = prune(table.files, request.scopes, request.owners or None)
    action = _action(request, batch, pruning)
    slices = _slices(contract, request, batch, table, action)
    here: ChosenExecutor = "process" if table.plain else "delta-rs"
    chosen, reason = _choose(executor, because, here, batch, pruning, action, slices)
    predicate = target_predicate(contract, request, "spark", of="t")
    return WritePlan(
        table=contract.name,
        request=request,
        action=action,
        executor=chosen,
        executor_reason=reason,
        add_columns=aligned.added,
        beyond_contract=aligned.beyond,
        columns=aligned.columns,
        pruning=pruning,
        slices=slices if chosen != "spark" and not _is_small(batch, pruning, action) else (),
        predicate=predicate,
        statement=statement(contract, request, action, aligned.columns, path, predicate),
    )


def evolved(contract: TableContract, plan: WritePlan) -> TableContract:
    """The contract with the columns that the batch brought along or the table kept."""
    new = tuple(new_column(name, kind) for name, kind in plan.beyond_contract)
    return replace(contract, columns=(*contract.columns, *new)) if new else contract


def check_owners(contract: TableContract, request: WriteRequest) -> None:
    """Refuse owners where they cannot hold a write back: it would delete rows of others."""
    if request.owners is None:
        return
    if request.strategy == "replace_partitions":
        raise BadInputError(
            subject=f"write to {contract.name}",
            seen="the batch is complete for some owners, but the strategy replaces whole partitions",
            why="rows of all other owners would be deleted",
            remedy="use the strategy upsert, or bring all rows of the partitions and name no owners",
        )
    if request.owners and (contract.owner is None or contract.column(contract.owner).type != "string"):
        raise BadInputError(
            subject=f"write to {contract.name}",
            seen=f"the batch names owners, but the contract's owner is {contract.owner or 'not set'}",
            why="the write could not be held to the rows of these owners",
            remedy="give the contract a text column as its owner, or name no owners",
        )


def may_move(contract: TableContract, request: WriteRequest) -> bool:
    """Whether a key of the batch could stand outside what the write covers: the key does not say where a row lives."""
    if request.strategy == "delete_matching":
        return False
    places = {condition.column for scope in request.scopes for condition in scope}
    if request.owners and contract.owner:
        places.add(contract.owner)
    return not places <= set(contract.key)


def _action(request: WriteRequest, batch: BatchFacts, pruning: Pruning) -> Action:
    empty = pruning.touched == 0
    match request.strategy:
        case "delete_matching":
            return "nothing" if empty or not batch.rows else "delete"
        case "replace_partitions":
            if empty:
                return "append" if batch.rows else "nothing"
            return "replace"
        case "append_new":
            if not batch.rows:
                return "nothing"
            return "append" if empty or batch.all_new else "merge"
        case "upsert":
            if empty:
                return "append" if batch.rows else "nothing"
            return "merge" if batch.rows or deletes_missing(request) else "nothing"


def _slices(
    contract: TableContract, request: WriteRequest, batch: BatchFacts, table: TableFacts, action: Action
) -> tuple[Slice, ...]:
    """The parts in which the batch can be compared with the table in bounded memory; nothing if it cannot."""
    if action not in ("merge", "delete") or request.strategy == "append_new":
        return ()
    if not (table.plain and can_be_cut(contract)):
        return ()
    slices = slices_of(contract, touched_files(table.files, request.scopes, request.owners or None), batch.files)
    return slices if are_bounded(slices) else ()


def _choose(
    executor: Executor,
    because: str,
    here: ChosenExecutor,
    batch: BatchFacts,
    pruning: Pruning,
    action: Action,
    slices: tuple[Slice, ...],
) -> tuple[ChosenExecutor, str]:
    if batch.in_files and action in ("append", "replace"):
        return "workers", f"the workers that made the {batch.rows:,} rows have written them"
    if executor != "auto":
        return "spark" if executor == "spark" else here, because
    if batch.in_process and action == "append":
        return here, f"the {batch.rows:,} rows are in this process, and nothing is to be compared"
    if _is_small(batch, pruning, action):
        return (
            here,
            (f"{batch.rows:,} rows against {pruning.touched} files: Spark's fixed cost would outweigh them"),
        )
    if slices and batch.in_files:
        return "workers", f"the workers compare the {batch.rows:,} rows in {len(slices)} slices"
    if slices and batch.in_process:
        return here, f"the {batch.rows:,} rows are in this process, and compared in {len(slices)} slices"
    if batch.rows > SMALL_ROWS:
        return "spark", f"{batch.rows:,} rows are more than {SMALL_ROWS:,}"
    if (batch.bytes or 0) > SMALL_BYTES:
        return "spark", f"{batch.bytes:,} bytes are more than {SMALL_BYTES:,}"
    return "spark", f"the touched files have {pruning.touched_bytes:,} bytes, more than {SMALL_BYTES:,}"


def _is_small(batch: BatchFacts, pruning: Pruning, action: Action) -> bool:
    reads = action not in ("append", "nothing")
    small = batch.rows <= SMALL_ROWS and (batch.bytes or 0) <= SMALL_BYTES
    return small and not (reads and pruning.touched_bytes > SMALL_BYTES)


def _refuse_violations(contract: TableContract, batch: BatchFacts) -> None:
    if not batch.violations:
        return
    told = "; ".join(
        f"{violation.rule} in {violation.rows:,} rows, such as {', '.join(violation.examples)}"
        for violation in batch.violations
    )
    raise BadInputError(
        subject=f"write to {contract.name}",
        seen=told,
        why="nothing was written, because the table would no longer be what its contract promises",
        remedy="mend the rows at their source, or give the contract the policy quarantine for rows that break it",
    )
