"""Runs models' queries: where the run works (`plan/engine.py`), but in DuckDB only what provably gives the same rows.

Spark's SQL is what a model says. DuckDB gets the queries that are made of nothing but what means the same in both
(`models/portable.py`).
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import pyarrow as pa

from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.lake.frames import frame_of
from lakehouse_assets.lake.local_sql import user_sql
from lakehouse_assets.lake.model_inputs import Given, Relations, Stored, Viewed
from lakehouse_assets.lake.scan import relation
from lakehouse_assets.lake.spark_errors import QUERY, not_run, query_errors, spark_errors
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.lake.views import ViewScope, view_scope
from lakehouse_assets.models.intervals import Span
from lakehouse_assets.models.planning import Plan
from lakehouse_assets.models.query import needs_spark, runnable, within
from lakehouse_assets.plan.canonical_sql import SqlDialect
from lakehouse_assets.plan.engine import ASKED_FOR, EngineChoice, Extent
from lakehouse_assets.plan.scope import equal_scopes
from lakehouse_assets.plan.sql_text import Value, in_list, name

if TYPE_CHECKING:
    import duckdb
    from pyspark.sql import DataFrame, SparkSession

    Rows = pa.Table | DataFrame

EngineName = Literal["duckdb", "spark"]


@dataclass(frozen=True, kw_only=True)
class Question:
    """A query over relations: of some partitions of some of its inputs only, or of some days only."""

    subject: str
    sql: str
    relations: Relations
    partitions: tuple[str, Sequence[Value]] | None = None
    partitioned: frozenset[str] = frozenset()
    days: tuple[str, Sequence[Span]] | None = None

    def text(self, names: dict[str, str], dialect: SqlDialect) -> str:
        only = {self.partitions[0]: self.partitions[1]} if self.partitions else None
        sql = runnable(self.sql, names, dialect=dialect, only=only, of=self.partitioned)
        return within(sql, self.days[0], self.days[1], dialect) if self.days else sql


def extent_of(plan: Plan) -> Extent:
    """What a run of the plan is about to make."""
    return Extent(
        first=tuple(f"model {step.name}" for step in plan.running if step.action == "build"),
        rows=sum(step.rows_to_read or 0 for step in plan.running),
    )


def engine_for(subject: str, sql: str, relations: Relations, choice: EngineChoice) -> tuple[EngineName, str]:
    """Who runs a query, and why."""
    if choice.engine == "spark":
        return "spark", choice.reason
    types = {name: each.types for name, each in relations.items()}
    texts = [sql, *(each.meaning.sql for each in relations.values() if isinstance(each, Viewed))]
    different = next((reason for reason in (needs_spark(text, types) for text in texts) if reason), None)
    if different is None:
        return "duckdb", choice.reason
    if choice.reason != ASKED_FOR:
        return "spark", f"{different} may mean something else in DuckDB"
    raise BadInputError(
        subject=subject,
        seen=f"{different} may mean something else in DuckDB, and LAKEHOUSE_ENGINE keeps Spark out",
        why="its rows would depend on who made them",
        remedy="unset LAKEHOUSE_ENGINE",
    )


@contextmanager
def answer(
    lake: Lake, question: Question, engine: EngineName, spark: "Callable[[], SparkSession]"
) -> "Generator[Rows, None, None]":
    """The rows, to be used inside the scope: views that Spark reads them by live as long."""
    if engine == "duckdb":
        with user_sql(lake.root) as connection:  # what it holds is not bounded as that of our own steps
            yield _locally(lake, question, connection)
        return
    session = spark()
    subject, quiet = question.subject, is_sensitive(question.relations)
    with query_errors(subject, quiet=quiet, states=QUERY), view_scope(session) as views, spark_errors(subject):
        yield session.sql(question.text(_spark_views(lake, question.relations, session, views), "spark"))


def _locally(lake: Lake, question: Question, connection: "duckdb.DuckDBPyConnection") -> pa.Table:
    from duckdb import Error

    for each, what in question.relations.items():
        if isinstance(what, Given):
            connection.register(each, what.rows)
    for each, sql in relations_sql(lake, question.relations).items():
        connection.execute(f"CREATE OR REPLACE TEMP VIEW {name(each, 'duckdb')} AS FROM {sql}")
    try:
        return connection.sql(question.text({each: each for each in question.relations}, "duckdb")).to_arrow_table()
    except Error as error:
        quiet = is_sensitive(question.relations)
        failed = not_run(question.subject, type(error).__name__ if quiet else str(error).strip().splitlines()[0])
        if not quiet:
            raise failed from error
    raise failed


def is_sensitive(relations: Relations) -> bool:
    """Whether an engine's words, which may repeat a value, are to be kept back."""
    for each in relations.values():
        match each:
            case Stored(contract=contract) if contract.sensitive_columns:
                return True
            case Viewed(meaning=meaning) if meaning.sensitive:
                return True
            case _:
                continue
    return False


def relations_sql(lake: Lake, relations: Relations, *, prefix: str = "") -> dict[str, str]:
    """Stored relations and views as DuckDB's SQL, to stand behind FROM; views name those before them, with prefix."""
    made: dict[str, str] = {}
    names: dict[str, str] = {}
    for each, what in relations.items():
        names[each] = f"{prefix}{each}"
        match what:
            case Stored():
                made[names[each]] = _stored_sql(lake, what)
            case Viewed():
                made[names[each]] = f"({runnable(what.meaning.sql, names, dialect='duckdb')})"
            case Given():
                pass
    return made


def _stored_sql(lake: Lake, what: Stored) -> str:
    rows = relation(lake, what.contract, version=what.version)
    if not what.apart:
        return rows
    parts = [f"SELECT * FROM {rows} WHERE NOT {in_list('repo', sorted(what.apart), 'duckdb')}"]
    for repo, version in what.apart.items():
        if version >= 0:
            parts.append(f"FROM {relation(lake, what.contract, version=version, scopes=equal_scopes('repo', [repo]))}")
    return f"({' UNION ALL BY NAME '.join(parts)})"


def _spark_views(lake: Lake, relations: Relations, spark: "SparkSession", views: ViewScope) -> dict[str, str]:
    names: dict[str, str] = {}
    for each, what in relations.items():
        match what:
            case Stored():
                frame = _spark_table(lake, what, spark)
            case Given():
                frame = frame_of(spark, what.rows)
            case Viewed():
                frame = spark.sql(runnable(what.meaning.sql, names, dialect="spark"))
        names[each] = views.register(each, frame)
    return names


def _spark_table(lake: Lake, what: Stored, spark: "SparkSession") -> "DataFrame":
    if not lake.exists(what.contract):  # it is not made by reading it: that would count as a change
        return frame_of(spark, arrow_schema(what.contract.stored_columns).empty_table())
    path = str(lake.path(what.contract))

    def at(version: int | None) -> "DataFrame":
        reader = spark.read.format("delta")
        return (reader if version is None else reader.option("versionAsOf", version)).load(path)

    rows = at(what.version)
    if what.apart:
        rows = rows.where(f"NOT {in_list('repo', sorted(what.apart), 'spark')}")
    for repo, version in what.apart.items():
        if version >= 0:
            own = at(version).where(in_list("repo", [repo], "spark"))
            rows = rows.unionByName(own, allowMissingColumns=True)
    return rows
