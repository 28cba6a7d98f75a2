"""Relational steps: named SQL over contracts, and over the results of other steps.

Invariant: a step says all that decides its result: its SQL, and what it reads. So it can be checked before it runs,
printed as what it means, and told from its earlier self: by its fingerprint (see `step_analysis`, which is apart so
that how a step is described is no part of the code versions of what it makes).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Union

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.plan.canonical_sql import SqlDialect

Relation = Union[TableContract, "Made", "RelationalStep", "tuple[RelationalStep, ...]"]
"""What a step reads: rows of a contract, that Python made, of a step, or of several steps with the same columns."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Made:
    """Rows that Python makes for a step: the columns that they have, and what is known of where these come from."""

    sources: Mapping[str, str]
    """By column the columns of contracts behind it, each as `table.column`, with spaces between."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RelationalStep:
    """One query by name. In its SQL, names in braces are relations, and names behind `$` values."""

    name: str
    sql: str
    inputs: Mapping[str, Relation]
    """What each name in braces stands for."""
    output: TableContract | None = None
    """The table that its rows are for: it gives columns of that, and no others."""
    assets: tuple[str, ...] = ()
    """Tables that it helps to make; none if it answers a question."""
    dialect: SqlDialect = "duckdb"

    def text(self, relations: Mapping[str, str]) -> str:
        """The SQL over relations by the names that an engine knows them by."""
        return self.sql.format_map(relations)


def over(*inputs: TableContract | RelationalStep, **named: Relation) -> Mapping[str, Relation]:
    """The inputs of a step: each under its own name, or under another."""
    return MappingProxyType({**{each.name: each for each in inputs}, **named})
