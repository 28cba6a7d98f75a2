"""Some files made clean and compared: nothing differs after updates, and what does is shown where it arose."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from dagster import DagsterInstance, DefaultScheduleStatus, build_schedule_context

from lakehouse_assets.assets.graph.sample import SAMPLED_TABLES, sample_of
from lakehouse_assets.automation.verify_sample import hourly_verify_sample
from lakehouse_assets.contracts.extracts import EXTRACTS
from lakehouse_assets.contracts.links import LINKS
from lakehouse_assets.contracts.nodes import NODES
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.definitions import defs
from lakehouse_assets_tests.support.graph_lake import GraphLake
from lakehouse_assets_tests.support.repos import RepoBuilder, registered

FILES = {f"shop/m{n}.py": f"from shop.base import go\n\n\ndef f{n}():\n    return go({n})\n" for n in range(8)}
CONFIG = {"ops": {"compare_sample": {"config": {"files": 100}}}}


@pytest.fixture
def graph(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GraphLake:
    monkeypatch.setenv("LAKEHOUSE_ENGINE", "local")
    shop = RepoBuilder(tmp_path / "shop")
    shop.commit({**FILES, "shop/__init__.py": "", "shop/base.py": "def go(n):\n    return n\n"})
    graph = GraphLake(settings.home, [registered(shop.path, name="shop")])
    graph.sync()
    shop.commit({"shop/base.py": "def gone(n):\n    return n\n\n\ngo = gone\n"})
    graph.sync()
    return graph


def checked(config: Mapping[str, Any] = CONFIG) -> dict[str, tuple[bool, dict[str, Any]]]:
    """By table whether the check passed, and its metadata."""
    with DagsterInstance.ephemeral() as instance:
        done = defs.resolve_job_def("verify_sample").execute_in_process(instance=instance, run_config=config)
    return {
        each.asset_key.path[-1]: (each.passed, {name: value.value for name, value in each.metadata.items()})
        for each in done.get_asset_check_evaluations()
    }


def test_what_updates_made_is_as_clean_and_what_is_not_is_shown(graph: GraphLake):
    found = checked()
    assert set(found) == {each.name for each in SAMPLED_TABLES}
    assert all(passed for passed, _ in found.values())
    assert all(told["rows_compared"] > 0 for name, (_, told) in found.items() if name != "props")
    assert len(found["nodes"][1]["files"]) == 10

    graph.lake.open(NODES).delete("path = 'shop/m3.py' AND n = 1")
    graph.lake.open(LINKS).update({"confidence": "'guess'"}, predicate="path = 'shop/m5.py' AND kind = 'CALL'")
    graph.lake.open(EXTRACTS).update({"line_count": "7"}, predicate="def_count > 0")
    found = checked()
    wrong = {name: told["owners_that_differ"] for name, (passed, told) in found.items() if not passed}
    # What is placed from the wrong link is not as it should be either: it was made before the link was wrong.
    assert wrong == {
        "extracts": [],
        "links": ["shop/m5.py"],
        "nodes": ["shop/m3.py"],
        "edges": ["shop/m5.py"],
    }
    assert found["nodes"][1]["only_in_a_clean_build"] > 0 == found["nodes"][1]["only_in_the_lake"]
    (row, *_) = [record.data for record in found["nodes"][1]["failing_rows"].records]
    assert (row["only in"], row["path"], row["n"]) == ("a clean build", "shop/m3.py", 1)


def test_each_seed_takes_other_files_and_the_same_seed_the_same(graph: GraphLake):
    first, again, other = (sample_of(graph.lake, "shop", files=4, seed=seed) for seed in ("a", "a", "b"))
    assert first == again != other
    assert len(first) == 4


@pytest.mark.usefixtures("settings")
def test_an_empty_lake_has_nothing_to_compare():
    assert all(passed for passed, _ in checked().values())


def test_the_schedule_is_off_and_asks_for_another_sample_each_hour():
    assert hourly_verify_sample.default_status == DefaultScheduleStatus.STOPPED
    asked = [
        hourly_verify_sample(
            build_schedule_context(scheduled_execution_time=datetime(2026, 1, 1, hour, 30, tzinfo=UTC))
        )
        for hour in (1, 2)
    ]
    defs.resolve_all_job_defs()  # names are unique in the whole project
    assert asked[0].run_key != asked[1].run_key  # type: ignore[union-attr]
