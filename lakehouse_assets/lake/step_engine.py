"""Runs relational steps where the run works: with DuckDB in this process, or with Spark SQL.

Steps are written in DuckDB's SQL, in words that have a counterpart in Spark's; both engines take that text.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.local_engine import local_engine
from lakehouse_assets.lake.published_graph import PublishedGraph
from lakehouse_assets.lake.spark_engine import spark_engine
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.engine import Engine

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    Rows = pa.Table | DataFrame


class StepEngine(Protocol):
    """An engine; the names that it gives stand for relations in queries, as long as its scope is open."""

    def keep(self, label: str, query: str) -> tuple[str, int]:
        """Keep the result of a query; its name and its rows."""
        ...

    def give(self, tables: "Mapping[str, pa.Table]") -> dict[str, str]:
        """Make Arrow tables known; their names by label."""
        ...

    def table(
        self, lake: Lake, contract: TableContract, repos: Sequence[str] | None, paths: Sequence[str] | None = None
    ) -> str:
        """The rows of some repositories in a table, or of some of their files; of all repositories if they are None."""
        ...

    def version(self, lake: Lake, contract: TableContract, version: int, repos: Sequence[str] | None) -> str:
        """The same of a version of a table of repositories, which can be read."""
        ...

    def published(self, graph: PublishedGraph, contract: TableContract) -> str:
        """The rows of a table as a published graph has them."""
        ...

    def ask(self, query: str, **values: Any) -> list[dict[str, Any]]:
        """A few rows, with values for the names behind `$` in the query."""
        ...

    def rows(self, contract: TableContract, query: str, **values: Any) -> "Rows":
        """The rows of a table that a query makes; a Connect server looks its views up when they are asked for."""
        ...


@contextmanager
def step_engine(engine: Engine, spark: "Callable[[], SparkSession]") -> Generator[StepEngine, None, None]:
    """The engine of a run; `spark` is asked for a session only if it works there."""
    if engine == "local":
        with local_engine() as local:
            yield local
    else:
        with spark_engine(spark()) as remote:
            yield remote
