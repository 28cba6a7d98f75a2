"""Who holds what: clones and Iceberg's readers keep the files that they share."""

import json
import uuid
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from lakehouse_assets.contracts.links import LINKS
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.holders import clones, iceberg_snapshots
from lakehouse_assets.lake.iceberg import NAMESPACE, open_catalog, publish
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.lake.vacuum import vacuum_table
from lakehouse_assets_tests.support.places import local
from lakehouse_assets_tests.support.worlds import World
from lakehouse_assets_tests.support.writes import write

NOW = timedelta(0)


def link(lake: Lake, *targets: str) -> None:
    world = World()
    for target in targets:
        world.use("a.py:f().", target)
    write(lake, LINKS, world.tables()["links"], partitions=("r",), run_id=f"to {targets}")


@pytest.fixture
def linked(lake: Lake) -> Lake:
    link(lake, "a.py:g().")
    return lake


def test_nothing_is_held_where_nothing_shares(settings: Settings, linked: Lake):
    assert [*clones(settings), *iceberg_snapshots(settings)] == []
    assert not (settings.home / "iceberg").exists()


def test_a_snapshot_of_iceberg_keeps_its_files(settings: Settings, linked: Lake):
    catalog = open_catalog(settings.home)
    publish(linked, LINKS, catalog)
    link(linked, "a.py:h().")
    link(linked, "a.py:i().")
    done = vacuum_table(linked, LINKS, list(iceberg_snapshots(settings)), age=NOW)
    assert ([each.by for each in done.plan.held], bool(done.plan.remove)) == (["Iceberg table links"], True)
    assert catalog.load_table((NAMESPACE, "links")).scan().to_arrow().num_rows == 1


def test_a_clone_keeps_the_files_that_it_names(settings: Settings, linked: Lake):
    table = linked.open(LINKS)
    (path,) = pa.table(table.get_add_actions())["path"].to_pylist()
    shallow_clone(linked, local(linked.root) / "dev" / "links", path)
    link(linked, "a.py:h().")
    link(linked, "a.py:i().")
    (hold,) = clones(settings)
    assert (hold.table, hold.by, hold.files) == ("links", "clone dev/links", (path,))
    done = vacuum_table(linked, LINKS, [hold], age=NOW)
    assert (linked.path(LINKS) / path).exists()
    assert done.plan.remove


def shallow_clone(lake: Lake, folder: Path, path: str) -> None:
    """A table whose log names a file of another by its whole path, as Spark's SHALLOW CLONE writes it."""
    (lake.path(LINKS) / "_delta_log").mkdir(exist_ok=True)
    actions: list[dict[str, dict[str, object]]] = []
    for log in sorted((local(lake.path(LINKS)) / "_delta_log").glob("*.json")):
        actions += [json.loads(line) for line in log.read_text().splitlines()]
    kept = [action for action in actions if "protocol" in action or "metaData" in action]
    kept += [action for action in actions if "add" in action]
    for action in kept:
        if "metaData" in action:
            action["metaData"]["id"] = str(uuid.uuid4())
        if "add" in action:
            action["add"]["path"] = (local(lake.path(LINKS)) / path).as_uri()
    (folder / "_delta_log").mkdir(parents=True)
    (folder / "_delta_log" / f"{0:020}.json").write_text("".join(json.dumps(action) + "\n" for action in kept))
