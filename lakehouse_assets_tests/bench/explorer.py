"""Latency of the explorer on django's lake: one question at a time, and fifty at once."""

import http.client
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil

from lakehouse_assets_tests.bench.inputs import repository
from lakehouse_assets_tests.bench.measure import LAKEHOUSE, command, goal, heading
from lakehouse_assets_tests.support.ports import free_port

AT_ONCE = 50
REQUESTS = 1_000
MOST_MEDIAN = 0.2
GIVEN_HOME = "LAKEHOUSE_BENCH_DJANGO_HOME"
"""A home with django synced, so that it need not be built for this alone."""


def explorer() -> None:
    """Searches, definitions, callers, callees and source, as `lakehouse explore` serves them."""
    given = os.environ.get(GIVEN_HOME)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(given) if given else Path(folder) / "home"
        if not given:
            source = repository("django", Path(folder))
            command(LAKEHOUSE, "repo", "add", "django", str(source), home=home)
            command(LAKEHOUSE, "sync", "django", home=home)
        port = free_port()
        env = os.environ | {"LAKEHOUSE_HOME": str(home)}
        server = subprocess.Popen([LAKEHOUSE, "explore", "--port", str(port)], env=env, stderr=subprocess.DEVNULL)
        try:
            heading("the explorer on django's graph")
            _wait(port)
            started = time.perf_counter()
            _get(port, ["/api/search?q=QuerySet"])
            print(f"  first answer, which reads the index: {time.perf_counter() - started:.2f} s")
            paths = _paths(port)
            _tell("one at a time", _get(port, paths[: REQUESTS // 5]))
            with ThreadPoolExecutor(AT_ONCE) as pool:
                shares = [paths[number::AT_ONCE] for number in range(AT_ONCE)]
                started, busy = time.perf_counter(), _busy(server.pid)
                laps = [lap for share in pool.map(lambda each: _get(port, each), shares) for lap in share]
                took, busy = time.perf_counter() - started, _busy(server.pid) - busy
            _tell(f"{AT_ONCE} at once ({len(laps) / took:,.0f} answers a second)", laps)
            print(f"  processor time of the server: {busy / len(laps) * 1000:.1f} ms an answer")
        finally:
            server.terminate()
            server.wait(timeout=30)


def _paths(port: int) -> list[str]:
    """Questions as someone asks who looks around: half of them searches, the rest about what was found."""
    names = ["query", "QuerySet.filter", "get", "Model.save", "url", "admin", "migrations.operations", "form", "cache"]
    paths: list[str] = []
    for name in names:
        connection = http.client.HTTPConnection("127.0.0.1", port)
        connection.request("GET", f"/api/search?limit=10&q={name}")
        found = json.loads(connection.getresponse().read())["items"]
        connection.close()
        for symbol in found:
            here = f"/api/symbols/{symbol['repo']}/{symbol['id']}"
            search = f"/api/search?limit=12&q={symbol['name'][:5]}"
            about = (here, f"{here}/related/callers", f"{here}/related/callees", f"{here}/source")
            paths += [path for each in about for path in (search, each)]
    return (paths * (REQUESTS // len(paths) + 1))[:REQUESTS]


def _get(port: int, paths: Sequence[str]) -> list[float]:
    """Seconds of each question, one after the other on one connection."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    laps: list[float] = []
    for path in paths:
        started = time.perf_counter()
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        laps.append(time.perf_counter() - started)
        if answer.status != 200:
            raise RuntimeError(f"{path} was answered with {answer.status}")
    connection.close()
    return laps


def _tell(label: str, laps: Sequence[float]) -> None:
    ordered = sorted(laps)
    median, late = ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.99)]
    held = goal(median <= MOST_MEDIAN, f"median at most {MOST_MEDIAN * 1000:.0f} ms")
    print(f"  {label}: p50 {median * 1000:.1f} ms, p99 {late * 1000:.1f} ms   {held}")


def _busy(pid: int) -> float:
    used = psutil.Process(pid).cpu_times()
    return used.user + used.system


def _wait(port: int) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            _get(port, ["/health"])
            return
        except ConnectionError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
