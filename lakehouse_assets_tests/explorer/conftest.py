"""One lake, explored by all tests of the room."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from lakehouse_assets.core.settings import Settings, load_settings
from lakehouse_assets_tests.support.explored import make_lake
from lakehouse_assets_tests.support.explorer import Served, serving


@dataclass(frozen=True, kw_only=True)
class Explored:
    settings: Settings
    commits: dict[str, list[str]]
    served: Served


@pytest.fixture(scope="package")
def explored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Explored]:
    folder = tmp_path_factory.mktemp("explored")
    with pytest.MonkeyPatch.context() as environ:
        environ.setenv("LAKEHOUSE_HOME", str(folder / "home"))
        environ.setenv("LAKEHOUSE_EXECUTOR", "delta-rs")
        environ.delenv("DAGSTER_HOME", raising=False)
        commits = make_lake(folder)
        settings = load_settings()
        with serving(settings) as served:
            yield Explored(settings=settings, commits=commits, served=served)
