"""Temporary views end with their scope, whatever happens."""

import pytest
from pyspark.sql import SparkSession

from lakehouse_assets.lake.views import view_scope


def names(spark: SparkSession) -> set[str]:
    return {table.name for table in spark.catalog.listTables()}


def test_a_view_can_be_asked_inside_its_scope_and_is_gone_after_it(spark: SparkSession):
    with view_scope(spark) as views:
        name = views.register("numbers", spark.range(3))
        assert spark.table(name).count() == 3
    assert name not in names(spark)


def test_a_view_is_gone_after_a_failure_too(spark: SparkSession):
    registered: list[str] = []

    def fail_inside_a_scope() -> None:
        with view_scope(spark) as views:
            registered.append(views.register("numbers", spark.range(3)))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_inside_a_scope()
    assert registered
    assert names(spark).isdisjoint(registered)


def test_two_scopes_can_use_one_label(spark: SparkSession):
    with view_scope(spark) as outer, view_scope(spark) as inner:
        first, second = outer.register("t", spark.range(1)), inner.register("t", spark.range(2))
        assert (spark.table(first).count(), spark.table(second).count()) == (1, 2)
