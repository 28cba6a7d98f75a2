"""Temporary views with an owner: every view is named here, and dropped when its scope ends, whatever happens."""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_numbers = itertools.count(1)


class ViewScope:
    """Views that live as long as the scope. Names are unique in the process: scopes may nest, or run in threads."""

    def __init__(self, spark: "SparkSession") -> None:
        self._spark = spark
        self._names: list[str] = []

    def register(self, label: str, frame: "DataFrame") -> str:
        """Make `frame` a view and give its name, ready to stand in SQL text."""
        name = f"lakehouse_{label}_{next(_numbers)}"
        frame.createOrReplaceTempView(name)
        self._names.append(name)
        return name

    def drop_all(self) -> None:
        while self._names:
            self._spark.catalog.dropTempView(self._names.pop())


@contextmanager
def view_scope(spark: "SparkSession") -> Iterator[ViewScope]:
    scope = ViewScope(spark)
    try:
        yield scope
    finally:
        scope.drop_all()
