"""Which repositories share a run: as many as a batch may hold, in stretches that one run can name.

Invariant: each wanted repository is in one batch. A batch is a stretch of neighbours in `order`, since a run is given
its partitions as a range; a few that are fresh may lie between, for looking at them costs less than another run.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class BatchLimits:
    """The most that one run takes on: repositories, and bytes of git objects. A larger repository is alone."""

    repositories: int = 200
    bytes: int = 4 * 1024**3
    between: int = 20
    """Fresh repositories in a row that a run may pass over."""


def batched(
    order: Sequence[str], wanted: Mapping[str, int], fresh: Collection[str], limits: BatchLimits
) -> list[list[str]]:
    """The wanted repositories, each with its bytes, in batches; those in `fresh` may be passed over."""
    batches: list[list[str]] = []
    passed: list[str] | None = None  # since the last wanted one; None if nothing can be joined to it
    size = 0
    for name in order:
        if name not in wanted:
            passed = [*passed, name] if passed is not None and name in fresh else None
            continue
        fits = (
            passed is not None
            and len(passed) <= limits.between
            and len(batches[-1]) + len(passed) < limits.repositories
            and size + wanted[name] <= limits.bytes
        )
        if fits and passed is not None:
            batches[-1] += [*passed, name]
            size += wanted[name]
        else:
            batches.append([name])
            size = wanted[name]
        passed = []
    return batches
