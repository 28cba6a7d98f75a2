"""Whether a run is alive is told by its lock, also after its process was killed."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lakehouse_assets.lake.run_locks import begin, end, is_abandoned

_HOLD = """
import sys, time
from pathlib import Path
from lakehouse_assets.lake.run_locks import begin
begin(Path(sys.argv[1]), "r")
print("held", flush=True)
time.sleep(60)
"""


def test_a_run_is_abandoned_once_its_process_was_killed_and_not_before(tmp_path: Path):
    with subprocess.Popen([sys.executable, "-c", _HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        assert not is_abandoned(tmp_path, "r")
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert is_abandoned(tmp_path, "r")


def test_nothing_is_known_of_a_run_that_did_not_begin_or_has_ended(tmp_path: Path):
    assert not is_abandoned(tmp_path, "r")
    begin(tmp_path, "r")
    begin(tmp_path, "r")  # for two resources of one run
    end(tmp_path, "r")
    assert not is_abandoned(tmp_path, "r")
    assert [path.name for path in (tmp_path / ".locks" / "runs").iterdir()] == ["r"]
    end(tmp_path, "r")
    assert not is_abandoned(tmp_path, "r")
    assert list((tmp_path / ".locks" / "runs").iterdir()) == []


def test_what_killed_runs_left_is_swept_after_a_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = tmp_path / ".locks" / "runs"
    folder.mkdir(parents=True)
    (folder / "killed").touch()
    begin(tmp_path, "young")
    assert (folder / "killed").exists()
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 2 * 24 * 3600)
    begin(tmp_path, "next")
    assert sorted(path.name for path in folder.iterdir()) == ["next", "young"]
    for run in ("young", "next"):
        end(tmp_path, run)
