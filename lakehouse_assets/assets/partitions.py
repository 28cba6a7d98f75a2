"""One dynamic partition per registered repository, shared by every asset."""

from collections.abc import Iterable

from dagster import DagsterInstance, DynamicPartitionsDefinition

from lakehouse_assets.lake.run_partitions import PARTITIONS_NAME

REPOSITORY_PARTITIONS = DynamicPartitionsDefinition(name=PARTITIONS_NAME)


def align_partitions(instance: DagsterInstance, names: Iterable[str]) -> None:
    """Make the instance's partitions the registered names: the registry decides, Dagster follows."""
    wanted = list(names)
    present = set(instance.get_dynamic_partitions(PARTITIONS_NAME))
    missing = [name for name in wanted if name not in present]
    if missing:
        instance.add_dynamic_partitions(PARTITIONS_NAME, missing)
    for name in sorted(present - set(wanted)):
        instance.delete_dynamic_partition(PARTITIONS_NAME, name)
