"""Relational steps: named SQL over contracts, and over the results of other steps.

Invariant: a step says all that decides its result: its SQL, and what it reads. So it can be checked before it runs,
printed as what it means, and told from its earlier self: by its fingerprint.

In the SQL, names in braces are relations; whoever runs the step puts the names there that its engine knows them by.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Any, Union

import lakehouse_assets
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.hashing import json_text
from lakehouse_assets.plan import canonical_sql, sql_lineage
from lakehouse_assets.plan.canonical_sql import LIBRARY, SqlDialect
from lakehouse_assets.plan.kept import Kept
from lakehouse_assets.plan.sql_lineage import Analysis, Source, analyze

Relation = Union[TableContract, "RelationalStep", "tuple[RelationalStep, ...]"]
"""What a step reads: rows of a contract, of a step, or of any of several steps with the same columns."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RelationalStep:
    """One query by name; `assets` are the tables that it helps to make, none if it answers a question."""

    name: str
    sql: str
    inputs: Mapping[str, Relation]
    """What each name in braces stands for."""
    output: TableContract | None = None
    """The table that its rows are for: it gives columns of that, and no others."""
    assets: tuple[str, ...] = ()
    dialect: SqlDialect = "duckdb"

    def text(self, relations: Mapping[str, str]) -> str:
        """The SQL over relations by the names that an engine knows them by."""
        return self.sql.format_map(relations)

    @cached_property
    def analysis(self) -> Analysis:
        """The step taken apart, checked against what it reads and what it is to give."""
        found = _analyzed(self)
        if self.output is not None and (surplus := set(found.columns) - set(self.output.column_names)):
            raise BadInputError(
                subject=f"step {self.name}",
                seen=f"it gives {', '.join(sorted(surplus))}, which {self.output.name} has not",
                why="its rows could not be written",
                remedy=f"give columns of {self.output.name}: {', '.join(self.output.column_names)}",
            )
        return found

    @cached_property
    def lineage(self) -> Mapping[str, tuple[Source, ...]]:
        """By column the columns of contracts that it comes from, also by way of other steps."""
        return {name: _in_contracts(self.inputs, sources) for name, sources in self.analysis.lineage.items()}


def over(*inputs: TableContract | RelationalStep, **named: Relation) -> Mapping[str, Relation]:
    """The inputs of a step: each under its own name, or under another."""
    return MappingProxyType({**{each.name: each for each in inputs}, **named})


def _in_contracts(inputs: Mapping[str, Relation], sources: Iterable[Source]) -> tuple[Source, ...]:
    found: set[Source] = set()
    for relation, column in sources:
        match inputs[relation]:
            case TableContract() as contract:
                found.add(Source(contract.name, column))
            case RelationalStep() as step:
                found.update(step.lineage[column])
            case several:
                found.update(source for step in several for source in step.lineage[column])
    return tuple(sorted(found))


def _columns(step: RelationalStep, name: str, relation: Relation) -> tuple[str, ...]:
    match relation:
        case TableContract():
            return tuple(column.name for column in relation.stored_columns)
        case RelationalStep():
            return relation.analysis.columns
        case several:
            first, *others = (each.analysis.columns for each in several)
            if any(other != first for other in others):
                raise BadInputError(
                    subject=f"step {step.name}",
                    seen=f"{name} is of steps with different columns: {', '.join(each.name for each in several)}",
                    why="their rows cannot stand together",
                    remedy="let these steps give the same columns in the same order",
                )
            return first


def _analyzed(step: RelationalStep) -> Analysis:
    """From what was kept, while the step and what it reads are the same."""
    relations = {name: _columns(step, name, relation) for name, relation in step.inputs.items()}
    digest = sha256(json_text([step.dialect, step.sql, relations]).encode()).digest()
    kept = _kept()
    held = kept.get(step.name, digest)
    if held is not None:
        return _from_plain(held)
    made = analyze(step.sql, relations, dialect=step.dialect, subject=f"step {step.name}")
    kept.put(step.name, digest, _plain(made))
    kept.save()
    return made


@cache
def _kept() -> Kept:
    return Kept(Path(lakehouse_assets.__path__[0]), ".steps", _makers())


def _makers() -> Iterator[bytes]:
    for module in (canonical_sql, sql_lineage):
        yield Path(str(module.__file__)).read_bytes()
    yield version(LIBRARY).encode()


def _plain(made: Analysis) -> Any:
    lineage = {name: [tuple(source) for source in sources] for name, sources in made.lineage.items()}
    reads = [tuple(source) for source in made.reads]
    return (made.canonical, made.tree, made.fingerprint, made.columns, lineage, reads)


def _from_plain(held: Any) -> Analysis:
    canonical, tree, fingerprint, columns, lineage, reads = held
    return Analysis(
        canonical=canonical,
        tree=tree,
        fingerprint=fingerprint,
        columns=columns,
        lineage={name: tuple(Source(*each) for each in sources) for name, sources in lineage.items()},
        reads=tuple(Source(*each) for each in reads),
    )
