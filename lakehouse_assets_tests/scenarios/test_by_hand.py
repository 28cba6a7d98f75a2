"""Materializations as a user of Dagster asks for them: by selection, one table of a step, and once more."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from dagster import AssetKey, DagsterInstance, ExecuteInProcessResult

from lakehouse_assets.assets.partitions import align_partitions
from lakehouse_assets.cli.instance import open_instance
from lakehouse_assets.contracts.nodes import NODES
from lakehouse_assets.contracts.writes import WRITES
from lakehouse_assets.core.settings import PROJECT_ROOT, Settings
from lakehouse_assets.definitions import defs
from lakehouse_assets.lake.ledger import Ledger
from lakehouse_assets.lake.registry import Registry
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.makes import MAKES_TAG
from lakehouse_assets.recipes.catalog import RECIPES, SYNC_GROUPS
from lakehouse_assets.recipes.graph import LINKED
from lakehouse_assets_tests.support.command import lakehouse, lakehouse_json
from lakehouse_assets_tests.support.repos import RepoBuilder

OF_SYNC = [each for each in RECIPES.values() if each.group in SYNC_GROUPS]
QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


@pytest.fixture
def repo(settings: Settings, tmp_path: Path) -> RepoBuilder:
    repo = RepoBuilder(tmp_path / "shop")
    repo.commit(
        {
            "shop/__init__.py": "",
            "shop/cart.py": "class Cart:\n    def total(self):\n        return 1\n",
            "shop/main.py": "from shop.cart import Cart\n\n\ndef run():\n    return Cart().total()\n",
        }
    )
    lakehouse("repo", "add", "shop", str(repo.path))
    return repo


@pytest.fixture
def instance(repo: RepoBuilder, settings: Settings, lake: Lake) -> Iterator[DagsterInstance]:
    with open_instance(settings) as instance:
        align_partitions(instance, Registry(lake).all())
        yield instance


def materialize(instance: DagsterInstance, *names: str, tags: dict[str, str] | None = None) -> ExecuteInProcessResult:
    """As the button of the UI does, for the repository."""
    job = defs.resolve_implicit_global_asset_job_def()
    keys = [AssetKey(name) for name in names]
    return job.execute_in_process(
        instance=instance, asset_selection=keys, partition_key="shop", tags=tags, run_config=QUIET, raise_on_error=False
    )


def written(lake: Lake, result: ExecuteInProcessResult) -> dict[str, int]:
    """By table the rows that the run changed."""
    rows = [row for row in lake.read(WRITES).to_pylist() if row["run_id"] == result.run_id]
    return {row["asset"]: row["rows_inserted"] + row["rows_updated"] + row["rows_deleted"] for row in rows}


def stale() -> set[str]:
    (told,) = lakehouse_json("sync", "shop", "--dry-run")["repositories"]
    return {reason["asset"] for reason in told["reasons"]}


def select(selection: str) -> None:
    command = [str(Path(sys.executable).parent / "dagster"), "asset", "materialize", "--select", selection]
    command += ["-m", "lakehouse_assets.definitions", "--partition", "shop"]
    done = subprocess.run(command, cwd=PROJECT_ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.usefixtures("instance")
def test_an_asset_is_selected_with_what_it_is_made_from(lake: Lake):
    select('+key:"edges"')  # with all that leads to it
    made = {asset for asset, _ in Ledger(lake).latest([each.contract for each in OF_SYNC])}
    wanted = {"edges"}
    for name in reversed(tuple(RECIPES)):
        if name in wanted:
            wanted |= {each.name for each in RECIPES[name].deps}
    assert made == wanted
    assert "links" in made
    assert "module_index" not in made
    select("+edges")  # with what it is made from directly
    lakehouse("sync", "shop")
    assert lakehouse("verify", "shop").exit_code == 0


def test_tables_that_one_step_makes_are_made_one_by_one(repo: RepoBuilder, instance: DagsterInstance, lake: Lake):
    lakehouse("sync", "shop")
    repo.commit({"shop/cart.py": "class Cart:\n    def sum(self):\n        return 1\n"})
    upstream = ["commits", "snapshots", "blobs", "extracts", "offered_modules"]
    assert materialize(instance, *upstream).success
    for contract in reversed(LINKED):
        result = materialize(instance, contract.name, tags={MAKES_TAG: "stale"})
        assert set(written(lake, result)) == {contract.name}
    rest = [each.name for each in OF_SYNC if each.name not in upstream and each.contract not in LINKED]
    assert materialize(instance, *rest, tags={MAKES_TAG: "stale"}).success
    assert stale() == set()
    assert lakehouse("verify", "shop").exit_code == 0


def test_what_is_fresh_is_made_again_when_it_is_asked_for_by_hand(instance: DagsterInstance, lake: Lake):
    lakehouse("sync", "shop")
    rows = sorted(map(str, lake.read(NODES).to_pylist()))
    lake.open(NODES).delete("path = 'shop/main.py'")
    lost = lake.read(NODES)

    by_job = defs.resolve_job_def("sync").execute_in_process(instance=instance, partition_key="shop", run_config=QUIET)
    assert written(lake, by_job) == {}
    assert lake.read(NODES).num_rows == lost.num_rows

    by_hand = materialize(instance, "nodes")
    assert set(written(lake, by_hand)) == {"nodes"}
    assert len(rows) > lost.num_rows
    assert sorted(map(str, lake.read(NODES).to_pylist())) == rows
    run = instance.get_run_by_id(by_hand.run_id)
    assert run is not None
    assert run.tags[MAKES_TAG] == "everything"
    told = [each.user_message for each in instance.all_logs(by_hand.run_id)]
    assert any("What is fresh is made again" in line for line in told)


def test_all_tables_are_made_again_as_they_were(instance: DagsterInstance, lake: Lake):
    lakehouse("sync", "shop")
    rows = written(lake, materialize(instance, *(each.name for each in OF_SYNC)))
    # The update that `file_changes` tells of is past; a publication says when it was made.
    assert rows == {each.name: 0 for each in OF_SYNC if each.name != "file_changes"} | {"graph_versions": 1}
    assert stale() == set()


def test_a_run_can_be_told_to_leave_what_is_fresh(instance: DagsterInstance, lake: Lake):
    lakehouse("sync", "shop")
    assert written(lake, materialize(instance, "nodes", "edges", tags={MAKES_TAG: "stale"})) == {}
    refused = materialize(instance, "nodes", tags={MAKES_TAG: "much"})
    (error,) = [each.step_failure_data for each in refused.all_events if each.is_step_failure]
    assert "give it `stale`, or `everything`" in str(error.user_failure_data)
