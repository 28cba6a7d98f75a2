"""From facts to a write plan: how a batch gets into its table, or why it does not.

Invariant: planning has no effects and execution makes no decisions. Whatever is refused is refused here,
before anything is written, with the rows named.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from lakehouse_assets.contracts.table import Strategy, TableContract
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.hashing import fingerprint
from lakehouse_assets.core.settings import Executor
from lakehouse_assets.plan.alignment import NamedType, align, new_column
from lakehouse_assets.plan.pruning import FileFacts, Pruning, prune
from lakehouse_assets.plan.scope import Scopes, check_scopes, scope_predicate
from lakehouse_assets.plan.sql_text import Dialect, column, delta_name, in_list, null_safe_equal

SMALL_ROWS = 100_000
SMALL_BYTES = 128 * 1024 * 1024
"""Up to here a batch and the files it touches go through delta-rs: Spark's fixed cost would be most of the work."""

BATCH_SLOT = "USING {batch} AS s"
"""Where a MERGE gets its batch. The whole phrase is replaced once: an owner may well be called {batch}."""

Action = Literal["nothing", "append", "replace", "merge", "delete"]
"""`append` and `replace` don't read the table: a first load, or partitions that are replaced as a whole."""

ChosenExecutor = Literal["spark", "delta-rs", "workers"]
"""`workers`: those who made the rows have written them, and the commit names their files."""


@dataclass(frozen=True, kw_only=True)
class Violation:
    """A rule that rows of the batch break, how many, and the first of them."""

    rule: str
    rows: int
    examples: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class BatchFacts:
    """The shape of a staged batch."""

    columns: Mapping[str, str]
    rows: int
    bytes: int | None
    violations: tuple[Violation, ...] = ()
    in_files: bool = False
    """Whether the rows are data files of the table already, which a commit need only name."""
    all_new: bool = False
    """Whether it is known that the table has none of the batch's keys."""
    in_process: bool = False
    """Whether the rows are in this process's memory already: Spark would have to be handed them first."""


@dataclass(frozen=True, kw_only=True)
class TableFacts:
    """The state of a table, from its log."""

    version: int
    columns: Mapping[str, str]
    files: tuple[FileFacts, ...] = ()


@dataclass(frozen=True, kw_only=True)
class WriteRequest:
    """What is asked for: which partitions, how, and which owners the batch is complete for.

    `owners` None means that the batch is complete for its partitions; an empty tuple that it replaces nothing
    but the keys it has.
    """

    scopes: Scopes
    strategy: Strategy
    owners: tuple[str, ...] | None = None
    key: str
    """Idempotency key: a second write with it does nothing."""


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
    """What Spark runs, or what delta-rs does in its stead."""

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
            "  statement  " + self.statement.replace("\n", "\n             "),
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
) -> WritePlan:
    """Decide; raises with the rows named if the batch cannot be written as it is."""
    check_scopes(contract, request.scopes)
    check_owners(contract, request)
    aligned = align(contract, batch.columns, table.columns)
    _refuse_violations(contract, batch)
    pruning = prune(table.files, request.scopes, request.owners or None)
    action = _action(request, batch, pruning)
    chosen, reason = _choose(executor, batch, pruning, action)
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
        statement=_statement(contract, request, action, aligned.columns, path, predicate),
    )


def target_predicate(contract: TableContract, request: WriteRequest, dialect: Dialect, *, of: str = "") -> str:
    """The rows that the write may change: its partitions, and in them its owners. Bounds help Delta skip files."""
    parts = [scope_predicate(request.scopes, dialect, of=of)]
    if request.owners and contract.owner:
        owner = column(contract.owner, dialect, of=of)
        parts.append(in_list(owner, sorted(request.owners), dialect))
    return " AND ".join(part for part in parts if part != "TRUE") or "TRUE"


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


def deletes_missing(request: WriteRequest) -> bool:
    """Whether rows that the batch lacks are deleted: if it is complete for its partitions or for some owners."""
    return request.strategy == "upsert" and request.owners != ()


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


def _choose(executor: Executor, batch: BatchFacts, pruning: Pruning, action: Action) -> tuple[ChosenExecutor, str]:
    if batch.in_files and action in ("append", "replace"):
        return "workers", f"the workers that made the {batch.rows:,} rows have written them"
    if executor != "auto":
        return executor, "forced by LAKEHOUSE_EXECUTOR"
    if batch.in_process and action == "append":
        return "delta-rs", f"the {batch.rows:,} rows are in this process, and nothing is to be compared"
    if batch.rows > SMALL_ROWS:
        return "spark", f"{batch.rows:,} rows are more than {SMALL_ROWS:,}"
    if (batch.bytes or 0) > SMALL_BYTES:
        return "spark", f"{batch.bytes:,} bytes are more than {SMALL_BYTES:,}"
    if action not in ("append", "nothing") and pruning.touched_bytes > SMALL_BYTES:
        return "spark", f"the touched files have {pruning.touched_bytes:,} bytes, more than {SMALL_BYTES:,}"
    return "delta-rs", f"{batch.rows:,} rows against {pruning.touched} files: Spark's fixed cost would outweigh them"


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


def _statement(
    contract: TableContract,
    request: WriteRequest,
    action: Action,
    columns: tuple[str, ...],
    path: str,
    predicate: str,
) -> str:
    """The plan's work as Spark SQL; the batch is the view that takes the place of {batch}."""
    table = delta_name(path)
    listed = ", ".join(column(name, "spark") for name in (*columns, *_audit_names(contract)))
    match action:
        case "nothing":
            return "-- nothing to do"
        case "append":
            return f"INSERT INTO {table} ({listed}) SELECT {listed} FROM {{batch}}"
        case "replace":
            where = scope_predicate(request.scopes, "spark")
            return f"INSERT INTO {table} REPLACE WHERE {where} SELECT {listed} FROM {{batch}}"
        case "merge" | "delete":
            return "\n".join(_merge(contract, request, action, columns, table, predicate))


def _merge(
    contract: TableContract, request: WriteRequest, action: Action, columns: tuple[str, ...], table: str, predicate: str
) -> list[str]:
    key = " AND ".join(f"{column(name, 'spark', of='t')} = {column(name, 'spark', of='s')}" for name in contract.key)
    lines = [f"MERGE INTO {table} AS t {BATCH_SLOT}", f"ON {predicate} AND {key}"]
    if action == "delete":
        return [*lines, "WHEN MATCHED THEN DELETE"]
    if request.strategy == "upsert":
        values = [name for name in columns if name not in contract.key]
        same = " AND ".join(
            null_safe_equal(column(name, "spark", of="t"), column(name, "spark", of="s"), "spark") for name in values
        )
        setting = [*values, *_audit_names(contract)]
        updates = ", ".join(f"{column(name, 'spark')} = {column(name, 'spark', of='s')}" for name in setting)
        if values:
            lines.append(f"WHEN MATCHED AND NOT ({same}) THEN UPDATE SET {updates}")
    inserted = [*columns, *_audit_names(contract)]
    names = ", ".join(column(name, "spark") for name in inserted)
    sources = ", ".join(column(name, "spark", of="s") for name in inserted)
    lines.append(f"WHEN NOT MATCHED THEN INSERT ({names}) VALUES ({sources})")
    if deletes_missing(request):
        # The predicate again: in ON alone it would not hold the clause back from the other partitions.
        lines.append(f"WHEN NOT MATCHED BY SOURCE AND {predicate} THEN DELETE")
    return lines


def _audit_names(contract: TableContract) -> list[str]:
    return [each.name for each in contract.stored_columns if each not in contract.columns]
