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
from lakehouse_assets.plan.alignment import NamedType, align, new_column
from lakehouse_assets.plan.pruning import Pruning, prune
from lakehouse_assets.plan.scope import check_scopes
from lakehouse_assets.plan.statements import Action, statement, target_predicate
from lakehouse_assets.plan.write_facts import (
    BatchFacts,
    TableFacts,
    Violation,
    WriteRequest,
    deletes_missing,
    needs_keys_only,
)

ChosenExecutor = Literal["spark", "delta-rs"]
Executor = Literal["auto", "spark", "delta-rs"]
"""auto: whoever has the rows."""


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
    predicate: str
    """Which rows of the table may change, as Spark SQL over alias t."""
    statement: str
    """What is done, as Spark SQL; a report has the statement that ran."""

    def __str__(self) -> str:
        pruning = self.pruning
        lines = [
            f"write to {self.table}: {self.request.strategy} as {self.action}",
            f"  executor   {self.executor} ({self.executor_reason})",
            f"  key        {self.request.key}",
            f"  rows       those where {self.predicate}",
            f"  files      {pruning.touched} of {pruning.total} can be touched, {pruning.pruned} pruned"
            + (f", {pruning.unbounded} for want of statistics" if pruning.unbounded else ""),
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
    because: str = "",
) -> WritePlan:
    """Decide; raises with the rows named if the batch cannot be written as it is.

    `because` says why it is `executor`: the reason of the run's engine, mostly (`plan/engine.py`).
    """
    check_scopes(contract, request.scopes)
    check_owners(contract, request)
    aligned = align(contract, batch.columns, table.columns, keys_only=needs_keys_only(request))
    if batch.violations:
        raise refusal(contract, batch.violations)
    pruning = prune(table.files, request.scopes, request.owners or None)
    action = _action(request, batch, pruning)
    chosen, reason = _choose(executor, because, batch, table)
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
    empty, has_rows = pruning.touched == 0, batch.rows != 0
    match request.strategy:
        case "delete_matching":
            return "nothing" if empty or not has_rows else "delete"
        case "replace_partitions":
            if empty:
                return "append" if has_rows else "nothing"
            return "replace"
        case "append_new":
            if not has_rows:
                return "nothing"
            return "append" if empty else "merge"
        case "upsert":
            if empty:
                return "append" if has_rows else "nothing"
            return "merge" if has_rows or deletes_missing(request) else "nothing"


def _choose(executor: Executor, because: str, batch: BatchFacts, table: TableFacts) -> tuple[ChosenExecutor, str]:
    if table.beyond_delta_rs:
        return "spark", f"the table asks its writers for {', '.join(table.beyond_delta_rs)}, which delta-rs has not"
    if executor != "auto":
        return executor, because or f"the caller asks for {executor}"
    if batch.in_process:
        return "delta-rs", because or "the rows are in this process"
    return "spark", "the rows are on Spark"


def refusal(contract: TableContract, violations: Sequence[Violation]) -> BadInputError:
    """Why rows are not written, with the first of them named."""
    told = "; ".join(
        f"{violation.rule} in {violation.rows:,} rows, such as {', '.join(violation.examples)}"
        for violation in violations
    )
    return BadInputError(
        subject=f"write to {contract.name}",
        seen=told,
        why="nothing was written, because the table would no longer be what its contract promises",
        remedy="mend the rows at their source, or give the contract the policy quarantine for rows that break it",
    )
