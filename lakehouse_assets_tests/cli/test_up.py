"""`lakehouse up`: everything starts, answers, and is gone after Ctrl-C."""

import os
import signal
import subprocess
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import psutil
import pytest

from lakehouse_assets.cli.up import what_is_served
from lakehouse_assets.core.errors import EnvironmentNotReadyError
from lakehouse_assets.core.settings import PROJECT_ROOT, Settings, load_settings
from lakehouse_assets_tests.support.command import LAKEHOUSE, lakehouse
from lakehouse_assets_tests.support.ports import free_port


def answers(url: str) -> bool:
    try:
        with urlopen(url, timeout=5) as answer:
            return answer.status == 200
    except (URLError, ConnectionError, TimeoutError):
        return False


@pytest.mark.slow
@pytest.mark.parametrize("spark", [False, True])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_all_parts_answer_and_nothing_is_left_when_it_is_ended(
    settings: Settings, tmp_path: Path, number: signal.Signals, spark: bool
):
    ui, explorer, resident = free_port(), free_port(), free_port()
    own = {
        "LAKEHOUSE_HOME": str(settings.home),
        "DAGSTER_HOME": str(PROJECT_ROOT),
        "LAKEHOUSE_RESIDENT_PORT": str(resident),
    }
    words = [str(LAKEHOUSE), "up", "--ui-port", str(ui), "--port", str(explorer), *([] if spark else ["--no-spark"])]
    with (tmp_path / "said").open("wb") as said:
        process = subprocess.Popen(words, env=os.environ | own, stderr=said, start_new_session=True)
    try:
        deadline = time.monotonic() + 150
        while not answers(f"http://127.0.0.1:{explorer}/health"):
            assert process.poll() is None, (tmp_path / "said").read_text()
            assert time.monotonic() < deadline, (tmp_path / "said").read_text()
            time.sleep(0.3)
        assert answers(f"http://127.0.0.1:{ui}/server_info")
        family = psutil.Process(process.pid).children(recursive=True)
        assert spark == any(child.name() == "java" for child in family)
        process.send_signal(number)
        assert process.wait(timeout=90) == 0, (tmp_path / "said").read_text()
        _, alive = psutil.wait_procs(family, timeout=10)
        assert alive == []
        assert "ended" in (tmp_path / "said").read_text()
    finally:
        if process.poll() is None:
            for late in [*psutil.Process(process.pid).children(recursive=True), psutil.Process(process.pid)]:
                late.kill()


def test_in_a_project_its_own_definitions_are_served(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    assert what_is_served(settings) == (["-w", "workspace.yaml"], PROJECT_ROOT)
    lakehouse("new", "project", str(tmp_path / "shop"))
    monkeypatch.chdir(tmp_path / "shop")
    assert what_is_served(load_settings()) == (["-f", "definitions.py"], tmp_path / "shop")


def test_a_taken_port_is_refused_before_anything_starts(settings: Settings):
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(EnvironmentNotReadyError, match="The explorer needs a port of its own"):
            lakehouse("up", "--no-spark", "--port", str(taken.getsockname()[1]), "--ui-port", str(free_port()))
    assert not (settings.server / "dagster.log").exists()
