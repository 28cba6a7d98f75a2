"""Which scope the values of partition columns belong to."""

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.plan.scope import Equals, Scope


def belongs(contract: TableContract, values: tuple[object, ...], scope: Scope) -> bool:
    held = dict(zip(contract.partition_by, values, strict=True))
    for condition in scope:
        value = held.get(condition.column)
        if isinstance(condition, Equals):
            if value != condition.value:
                return False
        elif value is None or not condition.start <= value < condition.end:  # pyright: ignore[reportOperatorIssue]
            return False
    return True
