"""One write as it was asked for, checked as far as that goes without looking at rows or table."""

from collections.abc import Mapping
from dataclasses import dataclass

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.plan.scope import Scope, check_scopes
from lakehouse_assets.plan.write_facts import WriteRequest
from lakehouse_assets.plan.write_plan import check_owners, idempotency_key


@dataclass(frozen=True, kw_only=True)
class Job:
    contract: TableContract
    batch: Batch
    partitions: Mapping[str, Scope]
    request: WriteRequest
    run_id: str


def job_of(contract: TableContract, batch: Batch, partitions: Mapping[str, Scope], run_id: str) -> Job:
    request = WriteRequest(
        scopes=tuple(partitions.values()) if contract.partition_by else (),
        strategy=batch.strategy or contract.strategy,
        owners=None if batch.owners is None else tuple(sorted(set(batch.owners))),
        key=idempotency_key(run_id, contract.name, list(partitions)),
    )
    check_scopes(contract, request.scopes)
    check_owners(contract, request)
    return Job(contract=contract, batch=batch, partitions=partitions, request=request, run_id=run_id)


def check_keys(contract: TableContract, batch: Batch, partitions: Mapping[str, Scope]) -> None:
    """A batch speaks for all partitions of its run, or rows of those it says nothing of would be deleted."""
    named = {key.partition for key in batch.keys}
    if named != set(partitions):
        raise BadInputError(
            subject=f"write to {contract.name}",
            seen=f"the batch is of partitions {sorted(named)}, the run of {sorted(partitions)}",
            why="rows of partitions that only one of them names would be lost, or answered for by nobody",
            remedy="give the batch one key for each partition of the run",
        )
