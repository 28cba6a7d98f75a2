"""A run is killed at each of its steps, or its database is; the next run makes source, lake and target equal."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from lakehouse_assets.contracts.connections import PostgresConnection, SqliteConnection
from lakehouse_assets.core.effects import EFFECT_POINTS, EffectPoint
from lakehouse_assets.core.errors import SourceError
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.sources.sql import delivery, ingest, inspection
from lakehouse_assets_tests.faults.conftest import FaultNamed
from lakehouse_assets_tests.support.carry_once import carry_and_kill
from lakehouse_assets_tests.support.postgres import Cluster, running_cluster
from lakehouse_assets_tests.support.shops import Shop

STEPS: tuple[EffectPoint, ...] = tuple(p for p in EFFECT_POINTS if p.startswith(("ingest:", "deliver:")))
COMMIT: tuple[EffectPoint, ...] = ("write: before commit", "write: after commit")
BY_TIMESTAMP = {"strategy": "timestamp", "timestamp": "updated_at"}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with running_cluster() as held:
        yield held


def shop_between(settings: Settings, source: object, target: object) -> Shop:
    shop = Shop(settings=settings, source=source, target=target, more=BY_TIMESTAMP, deliver={})  # pyright: ignore[reportArgumentType]
    shop.make()
    shop.add(1, 2, 3)
    return shop


def kill_twice(shop: Shop, point: EffectPoint, fault: FaultNamed) -> None:
    """In the first run and in a later one, each taken up by the next."""
    tried = fault(f"kill -9 at `{point}`")
    assert carry_and_kill(shop.settings, shop.project, point) == -signal.SIGKILL
    shop.cycle()
    shop.change(2)
    shop.add(4)
    assert carry_and_kill(shop.settings, shop.project, point) == -signal.SIGKILL
    done = shop.ingest()
    assert done.count("rows_updated") in (0, 1)
    shop.send()
    shop.all_equal()
    tried.survived()


def test_there_are_seven_steps():
    assert len(STEPS) == 7


@pytest.mark.parametrize("point", ["ingest: after land", "deliver: after merge"])
def test_after_a_kill_between_steps_the_next_run_goes_on(
    settings: Settings, tmp_path: Path, point: EffectPoint, fault: FaultNamed
):
    tried = fault(f"kill -9 at `{point}`")
    files = [SqliteConnection(kind="sqlite", path=str(tmp_path / f"{name}.db")) for name in ("shop", "reports")]
    shop = shop_between(settings, *files)
    assert carry_and_kill(settings, shop.project, point) == -signal.SIGKILL
    shop.cycle()
    tried.survived()


@pytest.mark.slow
@pytest.mark.parametrize("point", [*STEPS, *COMMIT])
def test_after_a_kill_at_any_step_the_next_run_goes_on(
    settings: Settings, cluster: Cluster, point: EffectPoint, fault: FaultNamed
):
    address = PostgresConnection(kind="postgresql", uri=cluster.new_database())
    kill_twice(shop_between(settings, address, address), point, fault)


@pytest.mark.slow
def test_after_the_database_was_killed_in_a_merge_the_next_run_goes_on(
    settings: Settings, cluster: Cluster, monkeypatch: pytest.MonkeyPatch, fault: FaultNamed
):
    lost_connection, gone = fault("PostgreSQL ends the connection in a merge"), fault("PostgreSQL goes away")
    address = PostgresConnection(kind="postgresql", uri=cluster.new_database())
    shop = shop_between(settings, address, address)
    shop.cycle()
    shop.change(1)
    shop.add(9)
    shop.ingest()
    whole = delivery.merge_statements

    def interrupted(*words: object, **options: object) -> list[delivery.Statement]:
        crash = delivery.Statement(sql="SELECT pg_terminate_backend(pg_backend_pid())")
        return [*whole(*words, **options), crash]  # pyright: ignore[reportArgumentType]

    with monkeypatch.context() as patched:
        patched.setattr(delivery, "merge_statements", interrupted)
        with pytest.raises(SourceError):
            shop.send()
    shop.cycle()
    lost_connection.survived()
    shop.change(2)
    cluster.stop("immediate")
    with pytest.raises(SourceError):
        shop.ingest()
    cluster.start()
    shop.cycle()
    gone.survived()


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["inspect", "read", "stage", "merge", "reconcile", "record"])
def test_after_the_database_was_killed_at_any_moment_the_next_run_goes_on(
    settings: Settings, cluster: Cluster, monkeypatch: pytest.MonkeyPatch, moment: str
):
    """It stops without warning, in the midst of what a step asks of it."""
    address = PostgresConnection(kind="postgresql", uri=cluster.new_database())
    shop = shop_between(settings, address, address)
    shop.cycle()
    shop.change(1)
    shop.add(9)
    place, name = {
        "inspect": (inspection, "_asked"),
        "read": (ingest, "passing"),
        "stage": (delivery, "create_staging"),
        "merge": (delivery, "cursor_statement"),
        "reconcile": (delivery, "rows_query"),
        "record": (delivery, "remove"),
    }[moment]
    whole, calls = getattr(place, name), 0

    def dying(*words: object, **options: object) -> object:
        nonlocal calls
        calls += 1
        if calls == 1:
            cluster.stop("immediate")
        return whole(*words, **options)

    with monkeypatch.context() as patched:
        patched.setattr(place, name, dying)
        with pytest.raises(SourceError):
            shop.cycle()
    cluster.start()
    shop.cycle()
    shop.change(2)
    shop.cycle()
