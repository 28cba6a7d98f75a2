"""One dynamic partition per registered repository, shared by every asset that tells of repositories as they are; one
partition per month for those that tell what happened in it.

A month has all repositories: what is asked of time is asked across them, and a partition for each of two thousand
repositories and each month would be more than a million.
"""

from collections.abc import Iterable

from dagster import DagsterInstance, DynamicPartitionsDefinition, MonthlyPartitionsDefinition

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
