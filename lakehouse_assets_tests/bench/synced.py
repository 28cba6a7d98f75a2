"""A sync as a user runs it, with what it took: seconds by asset, the session's start apart, memory of all processes."""

import json
import os
import re
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from lakehouse_assets_tests.bench.measure import LAKEHOUSE
from lakehouse_assets_tests.bench.session import READY

_SESSION = re.compile(r"start Spark\s+([\d.]+) s")


@dataclass(frozen=True, kw_only=True)
class Sync:
    """`seconds` leaves out the start of the session; `memory` is the most that all processes held together: the
    command's, those that link, Spark's JVM and its workers."""

    seconds: float
    session: float
    memory: int
    by_asset: dict[str, float]
    rows: dict[str, int]
    writes: list[dict[str, Any]]
    steps: dict[str, float]
    """Seconds of each step of the run; the rest of `seconds` is the start of the process, planning, and Dagster."""


def sync(home: Path, name: str) -> Sync:
    return measured(home, "sync", name)


def measured(home: Path, *words: str) -> Sync:
    """A command that brings repositories up to their heads, and what it took."""
    env = os.environ | {"LAKEHOUSE_HOME": str(home)}
    before = _written(home)
    started = time.perf_counter()
    process = subprocess.Popen([LAKEHOUSE, *words], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    peak = Peak(process.pid)
    out, err = process.communicate()
    seconds = time.perf_counter() - started
    held = peak.end()
    if process.returncode:
        raise RuntimeError(f"{' '.join(words)} failed:\n{out}{err}")
    session = sum(float(found) for found in _SESSION.findall(err))
    writes = _written(home)[len(before) :]
    return _summed(seconds - session, session, held, writes, _steps(home, writes))


class Session:
    """A process that makes one update after the other; its start is in no update's seconds."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._process = subprocess.Popen(
            [sys.executable, "-m", "lakehouse_assets_tests.bench.session"],
            env=os.environ | {"LAKEHOUSE_HOME": str(home)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._answer(READY)

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def sync(self, name: str) -> Sync:
        before = len(_written(self._home))
        assert self._process.stdin is not None
        peak = Peak(self._process.pid)
        print(name, file=self._process.stdin, flush=True)
        told = json.loads(self._answer("{"))
        held = peak.end()
        writes = _written(self._home)[before:]
        return _summed(told["seconds"], told["spark"], held, writes, told["steps"])

    def _answer(self, start: str) -> str:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(start):
                return line
        raise RuntimeError(f"the session of {self._home} ended with {self._process.wait()}")


def _summed(seconds: float, session: float, memory: int, writes: list[dict[str, Any]], steps: dict[str, float]) -> Sync:
    return Sync(
        seconds=seconds,
        session=session,
        memory=memory,
        by_asset={row["asset"]: sum(json.loads(row["seconds"]).values()) for row in writes},
        rows={row["asset"]: row["rows_inserted"] + row["rows_updated"] + row["rows_deleted"] for row in writes},
        writes=writes,
        steps=steps,
    )


def ask(home: Path, query: str) -> list[dict[str, Any]]:
    env = os.environ | {"LAKEHOUSE_HOME": str(home)}
    out = subprocess.run([LAKEHOUSE, "sql", query, "--json"], env=env, capture_output=True, text=True, check=True)
    return json.loads(out.stdout)


def _written(home: Path) -> list[dict[str, Any]]:
    from lakehouse_assets.contracts.writes import WRITES
    from lakehouse_assets.lake.tables import Lake

    return Lake(home / "lake").read(WRITES).sort_by("written_at").to_pylist()


def _steps(home: Path, writes: list[dict[str, Any]]) -> dict[str, float]:
    """What Dagster kept of the run's steps, as `lakehouse replay` shows it."""
    if not writes:
        return {}
    code = (
        "import json, sys\n"
        "from lakehouse_assets.cli.instance import open_instance\n"
        "from lakehouse_assets.core.settings import load_settings\n"
        "with open_instance(load_settings()) as instance:\n"
        "    stats = instance.get_run_step_stats(sys.argv[1])\n"
        "print(json.dumps({s.step_key: s.end_time - s.start_time for s in stats if s.start_time and s.end_time}))"
    )
    env = os.environ | {"LAKEHOUSE_HOME": str(home)}
    run = [sys.executable, "-c", code, writes[-1]["run_id"]]
    out = subprocess.run(run, env=env, capture_output=True, text=True, check=True)
    return json.loads(out.stdout.splitlines()[-1])


class Peak:
    """The most memory that a process and those below it hold together, pages that they share counted once."""

    def __init__(self, pid: int) -> None:
        self._root = psutil.Process(pid)
        self._most = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def end(self) -> int:
        self._over.set()
        self._thread.join()
        return self._most

    def _watch(self) -> None:
        while not self._over.wait(0.5):
            try:
                family = [self._root, *self._root.children(recursive=True)]
            except psutil.Error:
                continue  # it has ended
            self._most = max(self._most, sum(map(_held, family)))


def _held(process: psutil.Process) -> int:
    try:
        return process.memory_full_info().pss
    except psutil.Error:
        return 0  # it ended while the others were looked at
