"""Rows of views for those who read an environment in DuckDB.

A view is its query, and a query is Spark's SQL. Where DuckDB might answer it differently, Spark answers it, and readers
get the rows: an audit of the view has judged the same.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from lakehouse_assets.core.settings import Settings, WantedEngine
from lakehouse_assets.lake.model_engine import Question, answer, engine_for
from lakehouse_assets.lake.model_inputs import Given, Relation, Relations, Viewed, needed
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.engine import Extent, choose_engine

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, kw_only=True)
class ViewReader:
    """Asks Spark, which is started if it has to be, for the rows of views; unless the setting keeps it out."""

    spark: "Callable[[], SparkSession]"
    engine: WantedEngine

    @staticmethod
    def of(settings: Settings) -> "ViewReader":
        """The reader of a process of its own."""
        from lakehouse_assets.lake.session import runtime_for  # most queries start no Spark

        return ViewReader(spark=lambda: runtime_for(settings).session, engine=settings.engine)

    def settled(self, lake: Lake, relations: Relations) -> Relations:
        """The relations, with its rows in place of each view that DuckDB might answer differently."""
        found: dict[str, Relation] = {}
        for name, what in relations.items():
            found[name] = self._rows(lake, name, what, found) if isinstance(what, Viewed) else what
        return found

    def _rows(self, lake: Lake, name: str, view: Viewed, before: Relations) -> Relation:
        subject, sql = f"view {name}", view.meaning.sql
        inputs = needed(before, view.meaning.inputs, {})
        # That Spark is to build does not say that it is to read.
        choice = choose_engine("local" if self.engine == "local" else "auto", Extent(of="rows"))
        engine, _ = engine_for(subject, sql, inputs, choice)
        if engine == "duckdb":
            return view
        with answer(lake, Question(subject=subject, sql=sql, relations=inputs), engine, self.spark) as rows:
            return Given(rows=rows if isinstance(rows, pa.Table) else rows.toArrow())
