"""Where a test's tables are: a folder of this machine, which it may look into and do harm to."""

from pathlib import Path

from lakehouse_assets.core.settings import StorePlace
from lakehouse_assets.lake.object_path import LakePath


def local(place: LakePath | StorePlace) -> Path:
    assert isinstance(place, Path)
    return place
