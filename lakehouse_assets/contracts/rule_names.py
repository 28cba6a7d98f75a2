"""What the rules of rows are called and need; known without loading what checks them."""

from collections.abc import Sequence

from lakehouse_assets.contracts.table import TableContract

OUTSIDE = "outside the run's partitions"
OTHER_OWNERS = "not of the batch's owners"
DUPLICATE_KEY = "the key stands more than once"


def needed_columns(contract: TableContract, names: Sequence[str]) -> list[str]:
    """Of a batch's columns those that a rule, a row's name or its place is made from."""
    needed = {*contract.key, *contract.partition_by, *filter(None, [contract.owner])}
    needed |= {each.name for each in contract.columns if not each.nullable or each.one_of}
    return [name for name in names if name in needed]
