"""One PostgreSQL for all tests of this room, a database of its own for each."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lakehouse_assets.contracts.connections import PostgresConnection, SqliteConnection
from lakehouse_assets.core.settings import Settings
from lakehouse_assets_tests.support.postgres import Cluster, running_cluster
from lakehouse_assets_tests.support.shops import Shop

MakeShop = Callable[..., Shop]


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    with running_cluster() as held:
        yield held


@pytest.fixture
def postgres(cluster: Cluster) -> PostgresConnection:
    return PostgresConnection(kind="postgresql", uri=cluster.new_database())


@pytest.fixture
def sqlite(tmp_path: Path) -> SqliteConnection:
    return SqliteConnection(kind="sqlite", path=str(tmp_path / "shop.db"))


@pytest.fixture(params=["postgresql", "sqlite"])
def make_shop(request: pytest.FixtureRequest, settings: Settings) -> MakeShop:
    """A shop in each kind of database, whose copy is in the other kind."""
    names = ("postgres", "sqlite") if request.param == "postgresql" else ("sqlite", "postgres")
    source, target = (request.getfixturevalue(name) for name in names)

    def made(deliver: dict[str, Any] | None = None, **more: Any) -> Shop:
        shop = Shop(settings=settings, source=source, target=target, more=more, deliver=deliver or {})
        shop.make()
        return shop

    return made
