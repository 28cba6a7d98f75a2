"""Random histories of a table: whatever is done between two runs, source, lake and target are equal after the next."""

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakehouse_assets.contracts.connections import SqliteConnection
from lakehouse_assets.core.settings import Settings, load_settings
from lakehouse_assets_tests.support.postgres import Cluster
from lakehouse_assets_tests.support.shops import Shop

Step = tuple[str, int, str | None]
IDS = st.integers(1, 4)
MOMENTS = st.sampled_from([None, "'2026-01-01 00:00:00.000'", "'2026-01-01 00:00:00.001'", "'2026-02-01 12:00:00.000'"])
WRITE, REMOVE, RUN = "write", "remove", "run"
STEPS = st.lists(st.tuples(st.sampled_from([WRITE, WRITE, WRITE, REMOVE, RUN, RUN]), IDS, MOMENTS), max_size=14)

ADD, CHANGE = "add", "change"
PROMISES: dict[str, frozenset[str]] = {
    "timestamp": frozenset({ADD, CHANGE}),
    "id": frozenset({ADD}),
    "append by id": frozenset({ADD}),
    "append by timestamp": frozenset({ADD}),
    "timestamp_and_id": frozenset({ADD, CHANGE}),
    "snapshot": frozenset({ADD, CHANGE, REMOVE}),
}
"""What a source may do under each strategy; whatever the order of ids and moments, nothing may be missed."""


def play(shop: Shop, steps: list[Step], allowed: frozenset[str]) -> None:
    """Do the steps, with a cycle at each run and at the end; rows are compared by key, content and cursor."""
    present: dict[int, str | None] = {}
    read: dict[int, str | None] = {}
    for number, (action, row, moment) in enumerate(steps):
        # Where rows do not tell their transaction, a change has to be told by its timestamp, late as it may be.
        unseen = moment is not None and moment == read.get(row) and shop.source.kind == "sqlite"
        if action == RUN:
            shop.cycle()
            read = dict(present)
        elif action == REMOVE:
            if row in present and REMOVE in allowed:
                shop.remove(row)
                del present[row]
        elif row not in present:
            shop.add(row, customer=f"c{number}", at=moment)
            present[row] = moment
        elif CHANGE in allowed and not unseen:
            shop.change(row, customer=f"c{number}", at=moment)
            present[row] = moment
    shop.cycle()


def shop_in(folder: Path, strategy: str, cluster: Cluster | None) -> Shop:
    more = {"strategy": strategy.split(" by ")[0]}
    more |= {"timestamp": "updated_at"} if "timestamp" in strategy else {}
    more |= {"id": "id"} if strategy.endswith("id") else {}
    target = SqliteConnection(kind="sqlite", path=str(folder / "reports.db"))
    source = SqliteConnection(kind="sqlite", path=str(folder / "shop.db"))
    if cluster is not None:
        from lakehouse_assets.contracts.connections import PostgresConnection

        source = PostgresConnection(kind="postgresql", uri=cluster.new_database())
    home: Settings = load_settings({"LAKEHOUSE_HOME": str(folder / "home"), "LAKEHOUSE_ENGINE": "local"})
    shop = Shop(settings=home, source=source, target=target, more=more, deliver={})
    shop.make()
    return shop


def check(steps: list[Step], strategy: str, cluster: Cluster | None) -> None:
    folder = Path(tempfile.mkdtemp(prefix="lakehouse-history-"))
    try:
        play(shop_in(folder, strategy, cluster), steps, PROMISES[strategy])
    finally:
        shutil.rmtree(folder)


OPTIONS = {"deadline": None, "suppress_health_check": list(HealthCheck), "derandomize": True}


@given(STEPS)
@settings(max_examples=5, **OPTIONS)
def test_after_any_history_all_three_are_equal(cluster: Cluster, steps: list[Step]):
    check(steps, "timestamp", cluster)


@pytest.mark.parametrize("strategy", ["id", "append by id", "timestamp_and_id"])
def test_after_any_history_by_other_strategies_all_three_are_equal(strategy: str):
    @given(STEPS)
    @settings(max_examples=4, **OPTIONS)
    def histories(steps: list[Step]) -> None:
        check(steps, strategy, None)

    histories()


@pytest.mark.slow
@pytest.mark.parametrize("strategy", PROMISES)
@pytest.mark.parametrize(("kind", "examples"), [("postgresql", 25), ("sqlite", 80)])
def test_after_many_histories_all_three_are_equal(cluster: Cluster, strategy: str, kind: str, examples: int):
    @given(STEPS)
    @settings(max_examples=examples, **OPTIONS)
    def histories(steps: list[Step]) -> None:
        check(steps, strategy, cluster if kind == "postgresql" else None)

    histories()
