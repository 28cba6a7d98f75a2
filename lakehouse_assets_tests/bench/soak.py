"""Hundreds of updates in one process: do time, memory, files or logs drift? With maintenance in between.

LAKEHOUSE_BENCH_UPDATES says how many (500). Each is a commit of one edited file and a sync, without a JVM; every fifth
adds a function with a call, the others change a body. What months of updates would leave behind passes within minutes,
so maintenance is told not to wait for anything's age; the last commits, and what their readers need, stay.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import psutil

from lakehouse_assets_tests.bench.generated import (
    commit_file,
    edited,
    generated_contents,
    generated_repository,
    path_of,
    with_call,
)
from lakehouse_assets_tests.bench.measure import LAKEHOUSE, command, goal, heading
from lakehouse_assets_tests.bench.scale_facts import Soaked, keep_soaked
from lakehouse_assets_tests.bench.scale_page import write_page
from lakehouse_assets_tests.support.places import local

UPDATES = 500
FILES = 200
_MAINTENANCE_EVERY = 50
_CALL_EVERY = 5


def soak() -> None:
    """The first against the last updates; writes docs/scale.md."""
    updates = int(os.environ.get("LAKEHOUSE_BENCH_UPDATES") or UPDATES)
    window = max(1, updates // 10)
    with tempfile.TemporaryDirectory() as folder:
        home, path = Path(folder) / "home", Path(folder) / "made.git"
        generated_repository(path, files=FILES)
        command(LAKEHOUSE, "repo", "add", "made", str(path), home=home)
        command(LAKEHOUSE, "sync", "made", home=home)
        heading(f"{updates} updates in one process")
        env = os.environ | {"LAKEHOUSE_HOME": str(home)}
        run = [sys.executable, "-m", __name__, str(path), str(updates)]
        out = subprocess.run(run, env=env, stdout=subprocess.PIPE, text=True, check=True).stdout
    laps = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    first, last = laps[:window], laps[-window:]
    done = Soaked(
        updates=updates,
        window=window,
        first_seconds=round(statistics.median(each["seconds"] for each in first), 3),
        last_seconds=round(statistics.median(each["seconds"] for each in last), 3),
        first_memory=first[-1]["memory"],
        last_memory=last[-1]["memory"],
        first_files=first[-1]["files"],
        last_files=last[-1]["files"],
        first_entries=first[-1]["entries"],
        last_entries=last[-1]["entries"],
        load=round(os.getloadavg()[0], 1),
    )
    keep_soaked(done)
    ratio = done.last_seconds / done.first_seconds
    print(f"  an update: first {window} {done.first_seconds:.2f} s, last {window} {done.last_seconds:.2f} s, ", end="")
    print(f"{ratio:.2f} ×; {goal(ratio <= 1.2, 'at most 1.2')}", flush=True)
    write_page()


def _run(path: Path, updates: int) -> None:
    """In the process of its own: edit, sync, tell; maintenance every so often, as the schedule would have it."""
    import pygit2

    from lakehouse_assets.cli.sync import sync_repositories
    from lakehouse_assets.core.settings import load_settings

    settings, repository = load_settings(), pygit2.Repository(str(path))
    texts = generated_contents(FILES)
    for number in range(1, updates + 1):
        name = path_of(number * 7 % FILES)
        text = edited(texts[name], 10_000 + number)
        if number % _CALL_EVERY == 0:
            text = with_call(text, number)
        commit_file(repository, name, text, f"edit {number}")
        started = time.perf_counter()
        sync_repositories(settings, ("made",), to=None, dry_run=False, quiet=True)
        seconds = time.perf_counter() - started
        if number % _MAINTENANCE_EVERY == 0:
            for words in (("optimize",), ("vacuum", "--older-than", "0")):
                command(LAKEHOUSE, *words, home=settings.home, LAKEHOUSE_KEEP_LOG_DAYS="0")
        print(json.dumps({"seconds": seconds, **_held(local(settings.lake))}), flush=True)


def _held(lake: Path) -> dict[str, int]:
    logs = [path for path in lake.glob("*/_delta_log/*.json") if path.stem.isdecimal()]
    files: Sequence[Path] = [path for path in lake.glob("*/**/*.parquet") if "_delta_log" not in path.parts]
    return {"memory": psutil.Process().memory_info().rss, "files": len(files), "entries": len(logs)}


if __name__ == "__main__":
    _run(Path(sys.argv[1]), int(sys.argv[2]))
