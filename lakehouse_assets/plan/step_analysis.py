"""Steps taken apart: canonical SQL, tree, fingerprint, columns and where they come from; checked against contracts.

What was found is kept beside the compiled code while the step and what it reads are the same, so that the parser is
loaded only after a change.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

import lakehouse_assets
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.hashing import json_text
from lakehouse_assets.plan import canonical_sql, sql_lineage
from lakehouse_assets.plan.canonical_sql import LIBRARY
from lakehouse_assets.plan.kept import Kept
from lakehouse_assets.plan.relational_step import Made, Relation, RelationalStep
from lakehouse_assets.plan.sql_lineage import Analysis, Source, analyze

Lineage = Mapping[str, tuple[Source, ...]]


@cache
def analysis_of(step: RelationalStep) -> Analysis:
    """The step taken apart; refused if it asks for what its inputs have not, or gives what its output has not."""
    found = _analyzed(step)
    if step.output is not None and (surplus := set(found.columns) - set(step.output.column_names)):
        raise BadInputError(
            subject=f"step {step.name}",
            seen=f"it gives {', '.join(sorted(surplus))}, which {step.output.name} has not",
            why="its rows could not be written",
            remedy=f"give columns of {step.output.name}: {', '.join(step.output.column_names)}",
        )
    return found


@cache
def lineage_of(step: RelationalStep) -> Lineage:
    """By column of the step the columns of contracts that it comes from, also by way of other steps."""
    return {name: _in_contracts(step.inputs, sources) for name, sources in analysis_of(step).lineage.items()}


def _in_contracts(inputs: Mapping[str, Relation], sources: Iterable[Source]) -> tuple[Source, ...]:
    found: set[Source] = set()
    for relation, column in sources:
        match inputs[relation]:
            case TableContract() as contract:
                found.add(Source(contract.name, column))
            case Made() as made:
                found.update(sources_in(made.sources[column]))
            case RelationalStep() as step:
                found.update(lineage_of(step)[column])
            case several:
                found.update(source for step in several for source in lineage_of(step)[column])
    return tuple(sorted(found))


def sources_in(text: str) -> list[Source]:
    """Columns as they are declared: `table.column`, with spaces between."""
    return [Source(*each.split(".")) for each in text.split()]


def _columns(step: RelationalStep, name: str, relation: Relation) -> tuple[str, ...]:
    match relation:
        case TableContract():
            return tuple(column.name for column in relation.stored_columns)
        case Made():
            return tuple(relation.sources)
        case RelationalStep():
            return analysis_of(relation).columns
        case several:
            first, *others = (analysis_of(each).columns for each in several)
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
