"""Log entries that are cut short, garbled or empty, data files that are gone or damaged: named, and mended as it says.

The remedy is tried both ways: the file is restored from a backup, or the table's folder is moved away. Then the update
is run, and every table compared with a clean build.
"""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.faults.conftest import FaultNamed
from lakehouse_assets_tests.faults.prepared import Prepared, differences, prepared_lakes
from lakehouse_assets_tests.faults.test_broken_surroundings import WITHOUT_SPARK, refused
from lakehouse_assets_tests.support.command import spawn
from lakehouse_assets_tests.support.places import local

pytestmark = pytest.mark.slow

TABLES = ["snapshots", "extracts", "link_state", "edges"]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prepared]:
    with prepared_lakes(tmp_path_factory.mktemp("tables")) as held:
        yield held


def newest_entry(table: Path) -> list[Path]:
    return [max((table / "_delta_log").glob("*.json"))]


def data_files(table: Path) -> list[Path]:
    return [path for path in table.rglob("*.parquet") if "_delta_log" not in path.parts]


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


HARM: dict[str, tuple[Callable[[Path], list[Path]], Callable[[Path], object]]] = {
    "a log entry is cut short": (newest_entry, cut_short),
    "a log entry is garbled": (newest_entry, lambda path: path.write_text("garbage\n")),
    "a log entry is empty": (newest_entry, lambda path: path.write_text("")),
    "data files are missing": (data_files, Path.unlink),
    "data files are cut short": (data_files, cut_short),
}


@pytest.mark.parametrize("remedy", ["restored", "moved away"])
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("name", HARM)
def test_a_damaged_table_is_named_and_is_right_after_the_remedy(
    settings: Settings, prepared: Prepared, name: str, table: str, remedy: str, fault: FaultNamed
):
    tried = fault(f"{name}; {remedy}")
    shutil.copytree(prepared.first, settings.home)
    folder = local(settings.lake) / table
    files, harm = HARM[name]
    for path in files(folder):
        harm(path)

    done = spawn(settings, "sync", "shop", **WITHOUT_SPARK)

    refused(done, f"table {table}")
    if remedy == "restored":
        shutil.rmtree(folder)
        shutil.copytree(prepared.first / "lake" / table, folder)
    else:
        folder.rename(settings.home / "away")
    again = spawn(settings, "sync", "shop", **WITHOUT_SPARK)
    assert again.returncode == 0, again.stderr
    tried.survived(**differences(Lake(settings.lake), prepared.clean))
