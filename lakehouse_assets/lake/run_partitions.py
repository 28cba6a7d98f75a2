"""Which repositories a Dagster run is of, by its tags."""

from collections.abc import Sequence

from dagster import DagsterRun
from dagster._core.storage.tags import (
    ASSET_PARTITION_RANGE_END_TAG,
    ASSET_PARTITION_RANGE_START_TAG,
    PARTITION_NAME_TAG,
)

PARTITIONS_NAME = "repositories"
"""Dagster's name for the partitions that are repositories."""


def range_tags(names: Sequence[str]) -> dict[str, str]:
    """Tags of a run over neighbours in the order of partitions."""
    return {ASSET_PARTITION_RANGE_START_TAG: names[0], ASSET_PARTITION_RANGE_END_TAG: names[-1]}


def partitions_of_run(run: DagsterRun, order: Sequence[str]) -> list[str]:
    """The repositories that a run is of; none if it is of something else."""
    one = run.tags.get(PARTITION_NAME_TAG)
    if one is not None:
        return [one] if one in order else []
    first, last = run.tags.get(ASSET_PARTITION_RANGE_START_TAG), run.tags.get(ASSET_PARTITION_RANGE_END_TAG)
    if first not in order or last not in order:
        return []
    return list(order[order.index(first) : order.index(last) + 1])
