"""One lake with two small repositories for all exports; they only read it."""

import pytest

from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.sample_graph import save_samples


@pytest.fixture(scope="package")
def graphs(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    lake = Lake(tmp_path_factory.mktemp("graphs") / "lake")
    save_samples(lake)
    return lake
