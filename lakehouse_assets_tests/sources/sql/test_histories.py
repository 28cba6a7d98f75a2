"""Random histories of a table: whatever is done between two runs, source, lake and target are equal after the next."""

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakehouse_assets.contracts.connections import SqliteConnection
from lakehouse_assets.contracts.ingest import IngestStrategy
from lakehouse_assets.core.settings import Settings, load_settings
from lakehouse_assets_tests.support.postgres import Cluster
from lakehouse_assets_tests.support.shops import Shop

IDS = st.integers(1, 6)
MOMENTS = st.sampled_from([None, "'2026-01-01 00:00:00.000'", "'2026-01-01 00:00:00.001'", "'2026-02-01 12:00:00.000'"])
ADD, CHANGE, REMOVE, RUN = "add", "change", "remove", "run"
STEPS = st.lists(st.tuples(st.sampled_from([ADD, CHANGE, REMOVE, RUN, RUN]), IDS, MOMENTS), max_size=10)


def play(shop: Shop, steps: list[tuple[str, int, str | None]], *, deletes: bool) -> None:
    """Do the steps, with a cycle at each run and at the end; rows are compared by key, content and cursor."""
    present: set[int] = set()
    for number, (action, row, moment) in enumerate(steps):
        if action == ADD and row not in present:
            shop.add(row, customer=f"c{number}", at=moment)
            present.add(row)
        elif action == CHANGE and row in present:
            shop.change(row, customer=f"c{number}", at=moment)
        elif action == REMOVE and row in present and deletes:
            shop.remove(row)
            present.discard(row)
        elif action == RUN:
            shop.cycle()
    shop.cycle()


def shop_in(folder: Path, strategy: IngestStrategy, cluster: Cluster | None) -> Shop:
    more = {"strategy": strategy} | ({"timestamp": "updated_at"} if strategy == "timestamp" else {})
    target = SqliteConnection(kind="sqlite", path=str(folder / "reports.db"))
    source = SqliteConnection(kind="sqlite", path=str(folder / "shop.db"))
    if cluster is not None:
        from lakehouse_assets.contracts.connections import PostgresConnection

        source = PostgresConnection(kind="postgresql", uri=cluster.new_database())
    home: Settings = load_settings({"LAKEHOUSE_HOME": str(folder / "home"), "LAKEHOUSE_EXECUTOR": "delta-rs"})
    shop = Shop(settings=home, source=source, target=target, more=more, deliver={})
    shop.make()
    return shop


def check(steps: list[tuple[str, int, str | None]], strategy: IngestStrategy, cluster: Cluster | None) -> None:
    folder = Path(tempfile.mkdtemp(prefix="lakehouse-history-"))
    try:
        play(shop_in(folder, strategy, cluster), steps, deletes=strategy == "snapshot")
    finally:
        shutil.rmtree(folder)


OPTIONS = {"deadline": None, "suppress_health_check": list(HealthCheck), "derandomize": True}


@given(STEPS)
@settings(max_examples=5, **OPTIONS)
def test_after_any_history_all_three_are_equal(cluster: Cluster, steps: list[tuple[str, int, str | None]]):
    check(steps, "timestamp", cluster)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["timestamp", "snapshot"])
@pytest.mark.parametrize("kind", ["postgresql", "sqlite"])
def test_after_many_histories_all_three_are_equal(cluster: Cluster, strategy: IngestStrategy, kind: str):
    @given(STEPS)
    @settings(max_examples=40, **OPTIONS)
    def histories(steps: list[tuple[str, int, str | None]]) -> None:
        check(steps, strategy, cluster if kind == "postgresql" else None)

    histories()
