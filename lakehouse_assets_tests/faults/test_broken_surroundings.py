"""A disk that is full, read-only or forbidden, a clock that jumps, two syncs at once, a server that sleeps: told
plainly, mended by a rerun.

Each test does something to the surroundings of an update, sees what the command tells, puts them right, runs the update
again, and compares every table with a clean build.
"""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lakehouse_assets.core.settings import Settings, load_settings
from lakehouse_assets.lake.server import start_server, stop_server
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.faults.conftest import FaultNamed
from lakehouse_assets_tests.faults.prepared import Prepared, differences, prepared_lakes
from lakehouse_assets_tests.support.command import LAKEHOUSE, spawn
from lakehouse_assets_tests.support.places import local
from lakehouse_assets_tests.support.ports import free_port

ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a disk")
WITHOUT_SPARK = {"LAKEHOUSE_ENGINE": "local"}
_DROPPED = "-dac_override,-dac_read_search,-fowner,-chown"
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prepared]:
    with prepared_lakes(tmp_path_factory.mktemp("surroundings")) as held:
        yield held


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    mount(place, "size=400m")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def mount(place: Path, options: str) -> None:
    words = ["-o", f"remount,{options}"] if place.is_mount() else ["-t", "tmpfs", "-o", options, "tmpfs"]
    subprocess.run(["mount", *words, str(place)], check=True)


def completed(settings: Settings, prepared: Prepared) -> dict[str, int]:
    done = spawn(settings, "sync", "shop", **WITHOUT_SPARK)
    assert done.returncode == 0, done.stderr
    return differences(Lake(settings.lake), prepared.clean)


def refused(done: subprocess.CompletedProcess[str], seen: str) -> None:
    """One message with subject, cause and remedy, and no traceback."""
    assert done.returncode == 1, done.stderr
    assert seen in done.stderr
    assert "why it matters:" in done.stderr
    assert "what to do:" in done.stderr
    assert "Traceback" not in done.stderr


@ROOT
def test_a_disk_that_fills_up_at_any_size_is_told_and_the_update_completes_with_room(
    disk: Path, prepared: Prepared, fault: FaultNamed
):
    for room in (8, 64, 256):
        tried = fault("disk full")
        settings = load_settings({"LAKEHOUSE_HOME": str(disk / str(room))})
        shutil.copytree(prepared.first, settings.home)
        filler = disk / "filler"
        with filler.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, shutil.disk_usage(disk).free - room * 1024)
        refused(spawn(settings, "sync", "shop", **WITHOUT_SPARK), "the disk is full")
        filler.unlink()
        tried.survived(**completed(settings, prepared))


@ROOT
def test_a_lake_that_is_read_only_answers_and_says_that_it_cannot_be_written(
    disk: Path, prepared: Prepared, tmp_path: Path, fault: FaultNamed
):
    for name, part in (("read-only lake", "lake"), ("read-only home", ".")):
        tried = fault(name)
        settings = load_settings({"LAKEHOUSE_HOME": str(tmp_path / name)})
        shutil.copytree(prepared.first, settings.home if part == "lake" else disk / "home")
        if part == "lake":
            shutil.move(local(settings.lake), disk / "lake")
            local(settings.lake).symlink_to(disk / "lake")
        else:
            settings = load_settings({"LAKEHOUSE_HOME": str(disk / "home")})
        mount(disk, "ro")
        refused(spawn(settings, "sync", "shop", **WITHOUT_SPARK), "read-only")
        asked = spawn(settings, "callers", "helper")
        assert "shop.old" in asked.stdout, asked.stderr
        mount(disk, "rw")
        tried.survived(**completed(settings, prepared))


@ROOT
@pytest.mark.parametrize("table", ["snapshots", "extracts", "nodes", "edges"])
def test_a_table_that_may_not_be_written_is_named(
    settings: Settings, prepared: Prepared, table: str, fault: FaultNamed
):
    tried = fault("no permission to write a table")
    shutil.copytree(prepared.first, settings.home)
    folders = [
        path for path in (local(settings.lake) / table, *(local(settings.lake) / table).rglob("*")) if path.is_dir()
    ]
    for folder in folders:
        folder.chmod(0o555)
    done = subprocess.run(
        ["setpriv", f"--bounding-set={_DROPPED}", str(LAKEHOUSE), "sync", "shop"],
        env=os.environ | {"LAKEHOUSE_HOME": str(settings.home)} | WITHOUT_SPARK,
        capture_output=True,
        text=True,
        check=False,
    )
    refused(done, "may not write")
    assert f"table {table}" in done.stderr
    for folder in folders:
        folder.chmod(0o755)
    tried.survived(**completed(settings, prepared))


@pytest.mark.skipif(shutil.which("faketime") is None, reason="there is no faketime to set a process's clock")
@pytest.mark.parametrize("jump", ["-400 days", "-1 hour", "+1 hour", "+400 days"])
def test_a_clock_that_jumps_between_and_after_updates_changes_no_row(
    settings: Settings, prepared: Prepared, jump: str, fault: FaultNamed
):
    tried = fault("clock jumps")
    shutil.copytree(prepared.first, settings.home)
    for words in (("sync", "shop"), ("vacuum",), ("optimize",)):
        done = subprocess.run(
            ["faketime", "-f", jump.replace(" days", "d").replace(" hour", "h"), str(LAKEHOUSE), *words],
            env=os.environ | {"LAKEHOUSE_HOME": str(settings.home)} | WITHOUT_SPARK,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    assert spawn(settings, "vacuum", **WITHOUT_SPARK).returncode == 0
    tried.survived(**completed(settings, prepared))


def test_two_syncs_of_one_repository_at_once_leave_each_row_once(
    settings: Settings, prepared: Prepared, fault: FaultNamed
):
    tried = fault("two syncs at once")
    shutil.copytree(prepared.first, settings.home)
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda _: spawn(settings, "sync", "shop", **WITHOUT_SPARK), range(2)))
    assert [done.returncode for done in both] == [0, 0], "".join(done.stderr for done in both)
    tried.survived(**completed(settings, prepared))


def test_a_resident_server_that_slept_for_longer_than_spark_waits_for_an_executor_serves_on(
    settings: Settings, prepared: Prepared, fault: FaultNamed
):
    tried = fault("the resident Spark server sleeps")
    shutil.copytree(prepared.first, settings.home)
    served = settings.model_copy(update={"resident_port": free_port()})
    state, _ = start_server(served)
    try:
        os.kill(state.pid, signal.SIGSTOP)
        time.sleep(150)  # Spark's patience is two minutes
        os.kill(state.pid, signal.SIGCONT)
        time.sleep(15)  # until its next heartbeat
        environ = {"LAKEHOUSE_SPARK": "resident", "LAKEHOUSE_RESIDENT_PORT": str(served.resident_port)}
        done = spawn(settings, "sync", "shop", LAKEHOUSE_ENGINE="spark", **environ)
        assert done.returncode == 0, done.stderr
        assert "ERROR" not in (served.server / "server.log").read_text()
    finally:
        stop_server(served)
    tried.survived(**differences(Lake(settings.lake), prepared.clean))
