"""What an executor gives back, the same from both."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from lakehouse_assets.plan.row_hash import NO_CONTENT, Content

PartitionValues = tuple[object, ...]


@dataclass(frozen=True, kw_only=True)
class Change:
    """What a write added to a partition's content, and what it took away."""

    added: Content = NO_CONTENT
    removed: Content = NO_CONTENT


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """Rows by operation and content by partition; `version` is None if there was nothing to commit."""

    inserted: int = 0
    updated: int = 0
    deleted: int = 0
    unchanged: int = 0
    version: int | None = None
    changes: Mapping[PartitionValues, Change] = field(default_factory=dict)
    noted: bool = True
    """Whether the commit's own note tells the contents; a MERGE by Spark knows them only after it."""
    replaces: bool = False
    """Whether `changes` tell all that the partitions now hold, instead of what became of them."""


Note = Callable[[Outcome | None], str]
"""The commit's user metadata, from what the commit does; None where that is known only after it."""
