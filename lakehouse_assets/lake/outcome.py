"""What an executor gives back, the same from both."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from lakehouse_assets.plan.row_hash import NO_CONTENT, Content

PartitionValues = tuple[object, ...]


@dataclass(frozen=True, kw_only=True)
class Change:
    """What a write added to a partition's content, and what it took away."""

    added: Content = NO_CONTENT
    removed: Content = NO_CONTENT
    updated: int = 0
    """Rows among both: taken away as they were, added as they are."""

    def plus(self, other: "Change") -> "Change":
        return Change(
            added=self.added.plus(other.added),
            removed=self.removed.plus(other.removed),
            updated=self.updated + other.updated,
        )


@dataclass(frozen=True, kw_only=True)
class OwnerChange:
    """How many rows of an owner, a file of a repository for most tables, a write added and removed."""

    partition: str
    owner: str
    added: int
    removed: int


BIGGEST = 10
"""Of so many owners a write tells."""


def biggest(changes: Iterable[OwnerChange]) -> tuple[OwnerChange, ...]:
    """Those with the most rows added and removed, most first."""
    return tuple(sorted(changes, key=lambda each: (-each.added - each.removed, each.partition, each.owner))[:BIGGEST])


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """Rows by operation and content by partition; `version` is None if there was nothing to commit."""

    inserted: int = 0
    updated: int = 0
    deleted: int = 0
    unchanged: int = 0
    version: int | None = None
    changes: Mapping[PartitionValues, Change] = field(default_factory=dict)
    owners: tuple[OwnerChange, ...] = ()
    """The owners that changed most, where the executor compared row by row; none where it did not."""
    noted: bool = True
    """Whether the commit's own note tells the contents; a MERGE by Spark knows them only after it."""
    statement: str = ""
    """What ran: SQL by Spark, else the call of the engine; empty where no row differed."""
    replaces: bool = False
    """Whether `changes` tell all that the partitions now hold, instead of what became of them."""


Note = Callable[[Outcome | None], str]
"""The commit's user metadata, from what the commit does; None where that is known only after it."""
