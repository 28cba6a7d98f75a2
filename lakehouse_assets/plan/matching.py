"""Which scopes the values of partition columns belong to.

Cost: scopes that name a value for each column are found by it, whatever their number; only those with windows are
looked at one by one.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.plan.scope import Condition, Equals, Scope, Window


class Matching:
    """Some scopes of a table, to be found by values of its partition columns."""

    def __init__(self, contract: TableContract, scopes: Sequence[Scope]) -> None:
        self._columns = contract.partition_by
        self._exact: dict[tuple[object, ...], list[int]] = {}
        self._others: list[tuple[int, Scope]] = []
        for number, scope in enumerate(scopes):
            values = self._values(scope)
            if values is None:
                self._others.append((number, scope))
            else:
                self._exact.setdefault(values, []).append(number)

    def of(self, values: tuple[object, ...]) -> Iterator[int]:
        """The positions of the scopes that the values belong to."""
        yield from self._exact.get(values, ())
        held = dict(zip(self._columns, values, strict=True))
        for number, scope in self._others:
            if all(_holds(held.get(condition.column), condition) for condition in scope):
                yield number

    def has(self, values: tuple[object, ...]) -> bool:
        return next(self.of(values), None) is not None

    def _values(self, scope: Scope) -> tuple[object, ...] | None:
        """The value of each partition column in its order; None if the scope does not say just that."""
        named = {each.column: each.value for each in scope if isinstance(each, Equals)}
        if len(named) != len(scope) or set(named) != set(self._columns):
            return None
        return tuple(named[column] for column in self._columns)


def _holds(value: Any, condition: Condition) -> bool:
    match condition:
        case Equals():
            return value == condition.value
        case Window():
            return value is not None and condition.start <= value < condition.end
