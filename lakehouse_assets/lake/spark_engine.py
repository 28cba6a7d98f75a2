"""Runs relational steps with Spark SQL, for more rows than one process should hold."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lakehouse_assets.lake.frames import frame_of
from lakehouse_assets.lake.views import ViewScope, view_scope

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
        frame = self._spark.sql(query).persist()
        self._kept.append(frame)
        # Counting computes it, so that the next step does not compute it again for each of its uses.
        return self._views.register(label, frame), frame.count()

    def give(self, tables: "Mapping[str, pa.Table]") -> dict[str, str]:
        """Make Arrow tables known; their names by label."""
        return {label: self._views.register(label, frame_of(self._spark, t)) for label, t in tables.items()}

    def ask(self, query: str) -> list[dict[str, Any]]:
        return self._spark.sql(query).toArrow().to_pylist()

    def let_go(self) -> None:
        while self._kept:
            self._kept.pop().unpersist()


@contextmanager
def spark_engine(spark: "SparkSession") -> Generator[SparkEngine, None, None]:
    with view_scope(spark) as views:
        engine = SparkEngine(spark, views)
        try:
            yield engine
        finally:
            engine.let_go()
