"""Runs unit tests of models over the rows they give; nothing is read from the lake, nothing written."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lakehouse_assets.contracts.schemas import arrow_type
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.settings import WantedEngine
from lakehouse_assets.lake.model_engine import Question, answer, engine_for
from lakehouse_assets.lake.model_inputs import Given
from lakehouse_assets.lake.model_tables import named
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.models.meaning import Meaning
from lakehouse_assets.models.project import Project
from lakehouse_assets.models.unit_tests import UnitTest, UnitTestResult, compared
from lakehouse_assets.plan.alignment import known_type
from lakehouse_assets.plan.engine import Extent, choose_engine

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def run_test(
    lake: Lake, project: Project, test: UnitTest, *, engine: WantedEngine, spark: "Callable[[], SparkSession]"
) -> UnitTestResult:
    """The model's query over the given rows, against the expected ones."""
    meaning = project.meanings.get(test.model)
    if meaning is None or set(test.given) - set(meaning.inputs):
        raise BadInputError(
            subject=f"test {test.name!r} of {test.model}",
            seen="there is no such model" if meaning is None else f"the model reads {', '.join(meaning.inputs)} alone",
            why="it would test nothing",
            remedy="mend the test",
        )
    relations = {name: _given(project, name, test.given.get(name, [])) for name in meaning.inputs}
    subject = f"test {test.name!r} of {test.model}"
    by, _ = engine_for(subject, meaning.sql, relations, choose_engine(engine, Extent(of="rows")))
    with answer(lake, Question(subject=subject, sql=meaning.sql, relations=relations), by, spark) as rows:
        made: pa.Table = rows if isinstance(rows, pa.Table) else rows.toArrow()
    return compared(test, made.to_pylist())


def _given(project: Project, name: str, rows: Sequence[Mapping[str, Any]]) -> Given:
    table = project.tables.get(name)
    types = _types(table, project.meanings.get(name))
    unknown = sorted({column for row in rows for column in row} - set(types))
    if unknown:
        raise BadInputError(
            subject=f"given rows of {name}",
            seen=f"it has no {', '.join(unknown)}",
            why="the test would not be of this table",
            remedy=f"use its columns: {', '.join(types)}",
        )
    schema = pa.schema([pa.field(column, kind) for column, kind in types.items()])
    return Given(rows=pa.Table.from_pylist([dict(row) for row in rows], schema=schema))


def _types(table: TableContract | None, meaning: Meaning | None) -> dict[str, pa.DataType]:
    if table is not None:
        return {each.name: arrow_type(each.type) for each in table.stored_columns}
    assert meaning is not None
    nominal = named(meaning.name)
    return {column: arrow_type(known_type(nominal, column, kind)) for column, kind in meaning.types.items()}
