"""The story of a run that brought a table in and sent it on."""

from pathlib import Path

import dagster as dg
import pytest
import yaml

from lakehouse_assets.assets.sql.definitions import sql_definitions
from lakehouse_assets.cli.instance import open_instance
from lakehouse_assets.cli.story import story_of
from lakehouse_assets.contracts.connections import SqliteConnection
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.resources import LakehouseResource
from lakehouse_assets.stories.records import Story
from lakehouse_assets.stories.story_page import story_page
from lakehouse_assets_tests.support.shops import Shop


@pytest.fixture
def shop(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    files = [SqliteConnection(kind="sqlite", path=str(tmp_path / f"{name}.db")) for name in ("shop", "reports")]
    more = {"strategy": "snapshot", "columns": [{"name": "customer", "sensitive": True}]}
    shop = Shop(settings=settings, source=files[0], target=files[1], more=more, deliver={})
    (tmp_path / "ingest").mkdir()
    parts = shop.project.model_dump(mode="json", exclude_defaults=True)
    (tmp_path / "ingest" / "shop.yaml").write_text(yaml.safe_dump(parts))
    monkeypatch.setenv("LAKEHOUSE_INGEST", str(tmp_path / "ingest"))
    shop.make()
    shop.add(1, 2, customer="Zyx98765")
    return shop


def told(shop: Shop) -> Story:
    """What the story of one more run tells."""
    resources = dg.Definitions(resources={"lakehouse": LakehouseResource()})
    job = dg.Definitions.merge(sql_definitions(shop.project), resources).resolve_job_def("ingest_shop_orders")
    with open_instance(shop.settings) as instance:
        done = job.execute_in_process(instance=instance, raise_on_error=False)
    return story_of(shop.settings, done.run_id)


def test_a_story_tells_what_came_in_what_was_sent_and_what_failed_on_the_way(shop: Shop):
    first = told(shop)
    table, target = first.assets
    assert (table.name, table.outcome, table.why) == ("shop_orders", "written", "Made because: never made before.")
    assert (target.name, target.outcome) == ("reports/orders_copy", "written")
    assert target.why.startswith("Delivered by full: 2 inserted, 0 updated, 0 deleted")
    assert "2 of the target's 2 rows compared" in target.why
    page = story_page(first)
    assert "2026-01-02" in page  # of a row's sample
    assert "Zyx98765" not in page
    assert [(each.outcome, each.why) for each in told(shop).assets] == [
        ("untouched", "Its step found nothing new.")
    ] * 2
    shop.run("ALTER TABLE orders RENAME TO elsewhere")
    failed = told(shop)
    assert [each.outcome for each in failed.assets] == ["skipped", "skipped"]
    assert "because shop_orders.inspect_shop_orders failed" in failed.assets[0].why
    assert ["no such table: orders" in each.seen for each in failed.problems] == [True]
    assert "no such table: orders" in story_page(failed)
