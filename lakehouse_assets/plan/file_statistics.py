"""Which columns of a table have bounds in Delta's log, by which readers pass files over."""

from lakehouse_assets.contracts.table import Column, TableContract


def with_statistics(contract: TableContract) -> list[Column]:
    """Minimum and maximum prune on scalars; payloads would bloat the log, and it prunes by partition already.

    Bounds are values, and the log is no place for sensitive ones.
    """
    without = {*contract.without_statistics, *contract.partition_by, *(c.name for c in contract.columns if c.sensitive)}
    return [c for c in contract.columns if c.name not in without and c.type not in ("array<string>", "binary")]
