"""One dynamic partition per registered repository, shared by every asset that tells of repositories as they are; one
partition per month for those that tell what happened in it.

A month has all repositories: what is asked of time is asked across them, and a partition for each of two thousand
repositories and each month would be more than a million.
"""

from collections.abc import Iterable, Sequence

from dagster import (
    AssetExecutionContext,
    DagsterInstance,
    DagsterInvalidInvocationError,
    DynamicPartitionsDefinition,
    MonthlyPartitionsDefinition,
)

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.lake.failures import failure
from lakehouse_assets.lake.run_partitions import PARTITIONS_NAME

REPOSITORY_PARTITIONS = DynamicPartitionsDefinition(name=PARTITIONS_NAME)

MONTHS = MonthlyPartitionsDefinition(start_date="1970-01-01", end_offset=1)
"""From the first that git can tell of to the present one, by their first days in UTC."""


def align_partitions(instance: DagsterInstance, names: Iterable[str]) -> None:
    """Make the instance's partitions the registered names: the registry decides, Dagster follows."""
    wanted = list(names)
    present = set(instance.get_dynamic_partitions(PARTITIONS_NAME))
    missing = [name for name in wanted if name not in present]
    if missing:
        instance.add_dynamic_partitions(PARTITIONS_NAME, missing)
    for name in sorted(present - set(wanted)):
        instance.delete_dynamic_partition(PARTITIONS_NAME, name)


def repositories_of(context: AssetExecutionContext) -> Sequence[str]:
    """Give the repositories that the run is of; refuse by name a run of one that was removed before it could begin.

    The run holds them from its first step on (`lake/resources.py`): none is removed after this.
    """
    try:
        return context.partition_keys
    except DagsterInvalidInvocationError:
        known = context.instance.get_dynamic_partitions(PARTITIONS_NAME)
        asked = context.partition_key_range
        gone = [name for name in dict.fromkeys([asked.start, asked.end]) if name not in known]
    raise failure(
        {
            "": BadInputError(
                subject=f"repository {' and '.join(map(repr, gone))}",
                seen="it was removed before this run could begin",
                why="its rows would be left behind, of a repository that is not registered",
                remedy="register it again with `lakehouse repo add`, or let the run be; others of it can be run again",
            )
        }
    )
