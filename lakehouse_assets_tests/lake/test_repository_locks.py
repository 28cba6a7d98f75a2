"""One run at a time works on a repository, and a kill leaves no lock behind."""

import subprocess
import sys
import time
from pathlib import Path

from lakehouse_assets.lake.repository_locks import hold, let_go

HOLDER = """
import sys, time
from pathlib import Path
from lakehouse_assets.lake.repository_locks import hold
hold(Path(sys.argv[1]), sys.argv[2:])
print("held", flush=True)
time.sleep(600)
"""


def holder(root: Path, *names: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", HOLDER, str(root), *names], stdout=subprocess.PIPE, text=True)


def test_who_wants_a_held_repository_waits_until_its_holder_is_killed(tmp_path: Path):
    first = holder(tmp_path, "a", "b")
    assert first.stdout is not None
    assert first.stdout.readline() == "held\n"
    second = holder(tmp_path, "b", "c")
    hold(tmp_path, ["d"])  # others go on
    let_go(tmp_path, ["d"])
    time.sleep(0.5)
    assert second.poll() is None
    first.kill()
    assert second.stdout is not None
    assert second.stdout.readline() == "held\n"
    for process in (first, second):
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
