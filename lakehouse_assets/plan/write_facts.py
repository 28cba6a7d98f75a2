"""What a write plan is made from: what is asked for, what the batch is, what the table is."""

from collections.abc import Mapping
from dataclasses import dataclass

from lakehouse_assets.contracts.table import Strategy
from lakehouse_assets.plan.pruning import FileFacts
from lakehouse_assets.plan.scope import Scopes


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
    rows: int | None
    """None where Spark makes the rows while it writes them."""
    violations: tuple[Violation, ...] = ()
    in_process: bool = False
    """Whether this process has the rows already: Spark would have to be handed them first."""


@dataclass(frozen=True, kw_only=True)
class TableFacts:
    """The state of a table, from its log."""

    version: int
    columns: Mapping[str, str]
    files: tuple[FileFacts, ...] = ()
    beyond_delta_rs: tuple[str, ...] = ()
    """Features that the table asks of its writers and delta-rs has not."""


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


def needs_keys_only(request: WriteRequest) -> bool:
    """Whether the batch says which rows to delete, for which their keys are enough."""
    return request.strategy == "delete_matching"


def deletes_missing(request: WriteRequest) -> bool:
    """Whether rows that the batch lacks are deleted: if it is complete for its partitions or for some owners."""
    return request.strategy == "upsert" and request.owners != ()
