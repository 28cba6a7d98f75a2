"""Partitions that a run could not make, while it goes on with the others.

Invariant: nothing of a failed partition is committed by the step that it failed in, and the step ends as failed, in its
name. What is caught is what odd data can cause; an environment that is not ready (no disk, no JVM) stops the whole run.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import TypeVar

from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.core.errors import BadInputError, LakehouseError, LakeStateError, SourceError
from lakehouse_assets.lake.causes import cause_of

_ODD_DATA = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What code raises that met something its author did not think of."""

DATA_ERRORS = (BadInputError, SourceError, *_ODD_DATA)
PARTITION_ERRORS = (*DATA_ERRORS, LakeStateError)

_T = TypeVar("_T")


class FailedPartitions:
    """By partition the first error; whoever works on a run's partitions adds to it."""

    def __init__(self) -> None:
        self._errors: dict[str, LakehouseError] = {}

    def __contains__(self, partition: object) -> bool:
        return partition in self._errors

    def __len__(self) -> int:
        return len(self._errors)

    @property
    def errors(self) -> Mapping[str, LakehouseError]:
        return MappingProxyType(self._errors)

    def add(self, partition: str, error: Exception) -> None:
        if partition not in self._errors:
            self._errors[partition] = error if isinstance(error, LakehouseError) else _unexpected(partition, error)
            report("partitions", partition, f"left out: {error}", level="warning")

    @contextmanager
    def alone(self, partition: str) -> Generator[None, None, None]:
        """What goes wrong with this partition is its own."""
        try:
            yield
        except PARTITION_ERRORS as error:
            self.add(partition, error)

    def in_parts(self, partitions: Sequence[str], action: Callable[[Sequence[str]], _T]) -> list[_T]:
        """`action` for all partitions at once; if one of them spoils it, for each half of them, and so on.

        Cost: one call where nothing is wrong; else two more for each halving on the way to the one that is.
        """
        if not partitions:
            return []
        try:
            return [action(partitions)]
        except PARTITION_ERRORS as error:
            if len(partitions) == 1:
                self.add(partitions[0], error)
                return []
        half = len(partitions) // 2
        return [*self.in_parts(partitions[:half], action), *self.in_parts(partitions[half:], action)]


def _unexpected(partition: str, error: Exception) -> LakehouseError:
    """An error of ours that tells of one that nobody expected, with it as its cause."""
    told = cause_of(f"partition {partition!r}", str(error)) or SourceError(
        subject=f"partition {partition!r}",
        seen=f"{type(error).__name__}: {error}",
        why="something in it is not as the code expects, so nothing of it was written",
        remedy="see the traceback in the step's log; the other partitions don't need this one",
    )
    told.__cause__ = error
    return told
