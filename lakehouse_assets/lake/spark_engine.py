"""Runs relational steps with Spark SQL."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lakehouse_assets.contracts.schemas import spark_schema
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.frames import frame_of
from lakehouse_assets.lake.published_graph import PublishedGraph
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.lake.views import ViewScope, view_scope
from lakehouse_assets.plan.canonical_sql import in_spark_sql

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession


class SparkEngine:
    """Keeps each result in Spark's store, under a view of its own."""

    def __init__(self, spark: "SparkSession", views: ViewScope) -> None:
        self._spark = spark
        self._views = views
        self._kept: list[DataFrame] = []

    def keep(self, label: str, query: str) -> tuple[str, int]:
        frame = self._frame(query).persist()
        self._kept.append(frame)
        # Counting computes it, so that the next step does not compute it again for each of its uses.
        return self._views.register(label, frame), frame.count()

    def give(self, tables: "Mapping[str, pa.Table]") -> dict[str, str]:
        return {label: self._views.register(label, frame_of(self._spark, t)) for label, t in tables.items()}

    def table(
        self, lake: Lake, contract: TableContract, repos: Sequence[str] | None, paths: Sequence[str] | None = None
    ) -> str:
        from pyspark.sql import functions

        lake.ensure(contract)
        frame = self._spark.read.format("delta").load(str(lake.path(contract)))
        if repos is not None:
            frame = frame.where(functions.col("repo").isin(list(repos)))
        if paths is not None:
            frame = frame.where(functions.col("path").isin(list(paths)))
        return self._views.register(contract.name, frame)

    def version(self, lake: Lake, contract: TableContract, version: int, repos: Sequence[str] | None) -> str:
        return self._views.register(contract.name, self._at(lake, contract, version, repos))

    def published(self, graph: PublishedGraph, contract: TableContract) -> str:
        """The newest version for most repositories, and an own one for each that was written to since."""
        from pyspark.sql import functions

        newest, apart = graph.apart(contract)
        frame = self._at(graph.lake, contract, newest, None)
        frame = frame.where(~functions.col("repo").isin(list(apart))) if apart else frame
        for version in sorted({*apart.values()} - {-1}):
            repos = [repo for repo, own in apart.items() if own == version]
            graph.refuse_gone(contract, version, repos)
            frame = frame.unionByName(self._at(graph.lake, contract, version, repos), allowMissingColumns=True)
        return self._views.register(contract.name, frame)

    def _at(self, lake: Lake, contract: TableContract, version: int, repos: Sequence[str] | None) -> "DataFrame":
        from pyspark.sql import functions

        frame = self._spark.read.format("delta").option("versionAsOf", version).load(str(lake.path(contract)))
        return frame if repos is None else frame.where(functions.col("repo").isin(list(repos)))

    def ask(self, query: str, **values: Any) -> list[dict[str, Any]]:
        return self._frame(query, **values).toArrow().to_pylist()

    def rows(self, contract: TableContract, query: str, **values: Any) -> "DataFrame":
        found = self._frame(query, **values)
        return found.select(*(found[each.name].cast(each.dataType) for each in spark_schema(contract.columns)))

    def let_go(self) -> None:
        while self._kept:
            self._kept.pop().unpersist()

    def _frame(self, query: str, **values: Any) -> "DataFrame":
        return self._spark.sql(in_spark_sql(query, values))


@contextmanager
def spark_engine(spark: "SparkSession") -> Generator[SparkEngine, None, None]:
    with view_scope(spark) as views:
        engine = SparkEngine(spark, views)
        try:
            yield engine
        finally:
            engine.let_go()
