"""The whole way of a table as a job: seven steps, two assets, and errors that name what to do."""

from pathlib import Path

import dagster as dg
import pytest

from lakehouse_assets.assets.sql.definitions import SqlTables, sql_definitions
from lakehouse_assets.contracts.connections import SqliteConnection
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.resources import LakehouseResource
from lakehouse_assets_tests.support.shops import Shop


@pytest.fixture
def shop(settings: Settings, tmp_path: Path) -> Shop:
    source = SqliteConnection(kind="sqlite", path=str(tmp_path / "shop.db"))
    target = SqliteConnection(kind="sqlite", path=str(tmp_path / "reports.db"))
    more = {"strategy": "timestamp", "timestamp": "updated_at"}
    shop = Shop(settings=settings, source=source, target=target, more=more, deliver={})
    shop.make()
    shop.add(1, 2)
    return shop


def run(shop: Shop, **options: object) -> dg.ExecuteInProcessResult:
    defs = dg.Definitions.merge(
        sql_definitions(shop.project), dg.Definitions(resources={"lakehouse": LakehouseResource()})
    )
    job = defs.resolve_job_def("ingest_shop_orders")
    return job.execute_in_process(raise_on_error=False, **options)  # pyright: ignore[reportArgumentType]


def test_the_job_of_a_table_has_its_seven_steps_and_makes_both_tables(shop: Shop):
    done = run(shop)
    assert done.success
    steps = [event.step_key for event in done.get_step_success_events()]
    assert [str(step).rpartition(".")[2].partition("_")[0] for step in steps] == [
        "inspect",
        "decide",
        "land",
        "stage",
        "merge",
        "reconcile",
        "record",
    ]
    made = {event.asset_key.to_user_string() for event in done.get_asset_materialization_events() if event.asset_key}
    assert made == {"shop_orders", "reports/orders_copy"}
    shop.all_equal()


def test_a_refusal_fails_its_step_with_the_message(shop: Shop):
    shop.add(3, at="NULL")
    done = run(shop)
    (failure,) = [event for event in done.all_events if event.is_step_failure]
    assert failure.step_key == "shop_orders.decide_shop_orders"
    assert "rows have no value in updated_at" in str(failure.step_failure_data.user_failure_data)


def test_the_component_builds_the_same_assets_from_yaml(shop: Shop):
    parts = shop.project.model_dump(mode="json", exclude_defaults=True)
    component = SqlTables(connections=parts["connections"], ingest=parts["ingest"], deliver=parts["deliver"])
    defs = component.build_defs(dg.ComponentTree.for_test().load_context)
    assert {key.to_user_string() for key in defs.resolve_all_asset_keys()} == {"shop_orders", "reports/orders_copy"}
