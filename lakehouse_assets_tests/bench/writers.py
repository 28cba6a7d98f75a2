"""Many processes that write one table at once, by the service and by delta-rs' `merge` alone, on disk and in S3.

Each process makes its imports, those of its first write as well, waits for the others, and writes eight times a hundred
rows: to a partition of its own, or all of them to the same one. Afterwards every row has to be there once.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError

from lakehouse_assets.core.errors import LakehouseError
from lakehouse_assets.core.settings import load_settings
from lakehouse_assets.lake.bookkeeping import bookkeeping
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.bench.items import ITEMS, arrow_items
from lakehouse_assets_tests.bench.measure import goal, heading, line
from lakehouse_assets_tests.support.s3 import running_s3
from lakehouse_assets_tests.support.writes import write

PROCESSES = (1, 4, 16, 32)
WRITES = 8
ROWS = 100
GOAL = 1.5
_WAYS = ("service", "delta-rs")
_PATIENCE_SECONDS = 600.0


def writers() -> None:
    """Wall seconds, failures, and rows that are missing or doubled."""
    for place in ("disk", "S3"):
        for apart in (True, False):
            where = "a partition for each process" if apart else "the same partition"
            heading(f"processes × {WRITES} writes of {ROWS} rows on {place}, {where}")
            for processes in PROCESSES:
                took: dict[str, float] = {}
                for way in reversed(_WAYS):
                    with _environ(place) as environ:
                        took[way], failed, wrong = _round(processes, way, environ, apart=apart)
                    lost = f"{failed} writes failed, {wrong} rows missing or doubled"
                    line(f"{processes} × {way}", took[way], against=("delta-rs", took["delta-rs"]), note=lost)
                ratio = took["service"] / took["delta-rs"]
                print(f"    {goal(ratio <= GOAL, f'at most {GOAL} × delta-rs')}", flush=True)


@contextmanager
def _environ(place: str) -> Iterator[dict[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        home = {"LAKEHOUSE_HOME": folder}
        if place == "disk":
            yield home
            return
        with running_s3(Path(folder) / "server") as server:
            yield home | server.environ | server.lake(uuid.uuid4().hex)


def _round(processes: int, way: str, environ: dict[str, str], *, apart: bool) -> tuple[float, int, int]:
    with _as(environ):
        lake = Lake(load_settings().lake)
        lake.ensure(ITEMS)
        names = [f"r{number}" if apart else "r" for number in range(processes)]
        meeting = Path(environ["LAKEHOUSE_HOME"]) / "meeting"
        meeting.mkdir()
        started = [
            subprocess.Popen(
                [sys.executable, "-m", "lakehouse_assets_tests.bench.writers", way, name, str(number), str(meeting)],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for number, name in enumerate(names)
        ]
        while len(list(meeting.glob("ready-*"))) < processes:
            time.sleep(0.02)
        begun = time.perf_counter()
        (meeting / "go").touch()
        told = [process.communicate(timeout=_PATIENCE_SECONDS) for process in started]
        seconds = time.perf_counter() - begun
        failed = 0
        for out, err in told:
            if not out.strip():
                raise RuntimeError(err)
            failed += json.loads(out.splitlines()[-1])["failed"]
        keys = lake.read(ITEMS, columns=["repo", "path", "name"]).to_pylist()
        there = {tuple(key.values()) for key in keys}
        expected = processes * WRITES * ROWS
        return seconds, failed, abs(expected - len(there)) + len(keys) - len(there)


def _write_all(way: str, name: str, number: int, meeting: Path) -> int:
    """One process's writes; gives how many of them failed."""
    import lakehouse_assets.contracts.row_rules  # noqa: F401  # the first write of a process loads it

    lake = Lake(load_settings().lake)
    lake.open(ITEMS)
    (meeting / f"ready-{number}").touch()
    while not (meeting / "go").exists():
        time.sleep(0.005)
    failed = 0
    with bookkeeping(lake):
        for each in range(WRITES):
            first = (number * WRITES + each) * ROWS
            rows = arrow_items(first, ROWS, 0)
            rows = rows.set_column(0, "repo", [[name] * ROWS])
            owners = tuple(dict.fromkeys(rows["path"].to_pylist()))
            try:
                if way == "service":
                    write(lake, ITEMS, rows, partitions=[name], owners=owners, run_id=f"{number}-{each}")
                else:
                    _merge(lake, rows, name, owners)
            except (LakehouseError, CommitFailedError) as error:
                print(error, file=sys.stderr)
                failed += 1
    return failed


def _merge(lake: Lake, rows: object, name: str, owners: tuple[str, ...]) -> None:
    """A MERGE by hand, tried again while it conflicts, as anyone would."""
    listed = ", ".join(f"'{owner}'" for owner in owners)
    while True:
        merge = DeltaTable(str(lake.path(ITEMS))).merge(
            rows,  # pyright: ignore[reportArgumentType]
            predicate=f"t.repo = '{name}' AND t.path IN ({listed}) AND t.repo = s.repo AND t.path = s.path "
            "AND t.name = s.name",
            source_alias="s",
            target_alias="t",
        )
        try:
            merge.when_matched_update_all().when_not_matched_insert_all().execute()
        except CommitFailedError:
            continue
        return


@contextmanager
def _as(environ: dict[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(environ)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


if __name__ == "__main__":
    _way, _name, _number, _meeting = sys.argv[1:]
    print(json.dumps({"failed": _write_all(_way, _name, int(_number), Path(_meeting))}))
