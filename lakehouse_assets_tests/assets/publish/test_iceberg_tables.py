"""The asset that publishes, as the UI runs it."""

import pytest
from dagster import Failure, materialize

from lakehouse_assets.assets.publish.iceberg_tables import iceberg_tables
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.iceberg import NAMESPACE, open_catalog
from lakehouse_assets.lake.resources import LakehouseResource
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.sample_graph import save_samples


def run(*tables: str):
    config = {"ops": {"iceberg_tables": {"config": {"tables": list(tables)}}}}
    return materialize([iceberg_tables], resources={"lakehouse": LakehouseResource()}, run_config=config)


def test_a_run_publishes_the_tables_it_is_told(lake: Lake, settings: Settings):
    save_samples(lake)
    assert run("definitions", "nodes").success
    catalog = open_catalog(settings.home)
    assert {name for _, name in catalog.list_tables(NAMESPACE)} == {"definitions", "nodes"}
    assert catalog.load_table((NAMESPACE, "definitions")).scan().to_arrow().num_rows > 0


def test_a_table_that_is_not_there_is_named(lake: Lake):
    with pytest.raises(Failure, match="no table of that name"):
        run("nothing")
