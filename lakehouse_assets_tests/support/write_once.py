"""Writes to `things` in processes of their own, which a test may kill or let run against each other.

`python -m lakehouse_assets_tests.support.write_once` reads a list of writes as JSON from its input, carries them
out in turn and prints what each did. Processes that share a meeting place start each write together.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from deltalake import CommitProperties, DeltaTable

from lakehouse_assets.core.effects import KILL_AT, EffectPoint, reached
from lakehouse_assets.core.settings import load_settings
from lakehouse_assets.lake import local_executor
from lakehouse_assets.lake.ledger import new_entry, note
from lakehouse_assets.lake.object_path import ObjectPath
from lakehouse_assets.lake.report import WriteReport
from lakehouse_assets.lake.session import runtime_for
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.write_plan import Executor
from lakehouse_assets_tests.support.writes import THINGS, key, table_of, worker_rows, write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PATIENCE_SECONDS = 300.0
_NOTE = note([new_entry(key(THINGS.name, "a"), run_id="of another machine")])
THEIRS = CommitProperties(custom_metadata={"userMetadata": _NOTE})


@dataclass(frozen=True, kw_only=True)
class Write:
    """One write to `things`, plain enough to be handed to another process."""

    root: str
    rows: list[dict[str, Any]]
    run_id: str
    partitions: list[str] = field(default_factory=lambda: ["a"])
    cursor: str = "c1"
    executor: Executor = "delta-rs"
    owners: list[str] | None = None
    lenient: bool = False
    """Rows that break the contract are set aside."""
    by_workers: bool = False
    """Spark's workers have the rows, and write them."""
    overtaken: int = 0
    """So many of its attempts meet a commit of another writer to the same rows, of another machine."""


def lake_at(root: str) -> Lake:
    """The lake in a folder, or in an object store; there the locks are those of this process's own home."""
    return Lake(ObjectPath(root, load_settings().home / "lake") if root.startswith("s3://") else Path(root))


def carry_out(each: Write, spark: "SparkSession | None" = None) -> WriteReport:
    contract = replace(THINGS, violations="quarantine") if each.lenient else THINGS
    rows = table_of(contract, each.rows)
    with patch.object(local_executor, "reached", _overtaking(each)) if each.overtaken else nullcontext():
        return write(
            lake_at(each.root),
            contract,
            worker_rows(spark, rows, tasks=1) if each.by_workers and spark is not None else rows,
            partitions=each.partitions,
            owners=None if each.owners is None else tuple(each.owners),
            run_id=each.run_id,
            cursor=each.cursor,
            executor=each.executor,
            spark=spark,
        )


def _overtaking(each: Write) -> Callable[[EffectPoint], None]:
    """What comes at the points of a local commit: first the other writer, then what comes there anyway."""
    attempts = iter(range(each.overtaken))

    def meet(point: EffectPoint) -> None:
        if next(attempts, None) is not None:
            table = DeltaTable(str(lake_at(each.root).path(THINGS)))
            table.update({"size": "size + 100"}, predicate="repo = 'a'", commit_properties=THEIRS)
        reached(point)

    return meet


def start(
    writes: Sequence[Write],
    *,
    name: str = "",
    meeting: Path | None = None,
    kill_at: EffectPoint | str | None = None,
    home: Path | None = None,
) -> subprocess.Popen[str]:
    """Start a process that carries out the writes, each together with the other one that has the meeting place."""
    command = [sys.executable, "-m", __name__, name, str(meeting) if meeting else ""]
    env = os.environ | ({KILL_AT: kill_at} if kill_at else {}) | ({"LAKEHOUSE_HOME": str(home)} if home else {})
    process = subprocess.Popen(command, env=env, stdin=-1, stdout=-1, stderr=-1, text=True)
    assert process.stdin is not None
    process.stdin.write(json.dumps([asdict(each) for each in writes]))
    process.stdin.close()
    process.stdin = None
    return process


def finish(process: subprocess.Popen[str]) -> tuple[int, list[dict[str, Any]], str]:
    """The process's exit code, what its writes did, and what it complained of."""
    out, complaints = process.communicate(timeout=900)
    return process.returncode, [json.loads(line) for line in out.splitlines()], complaints


def _meet(place: Path, name: str, number: int) -> None:
    """Wait until the other process is here too."""
    (place / f"{number}-{name}").touch()
    until = time.monotonic() + _PATIENCE_SECONDS
    while len(list(place.glob(f"{number}-*"))) < 2:
        if time.monotonic() > until:
            raise TimeoutError(f"nobody came to meeting {number} of {name}")
        time.sleep(0.001)


def _main(name: str, meeting: str) -> None:
    writes = [Write(**each) for each in json.load(sys.stdin)]
    spark = (
        runtime_for(load_settings()).session
        if any(each.executor == "spark" or each.by_workers for each in writes)
        else None
    )
    for number, each in enumerate(writes):
        if meeting:
            _meet(Path(meeting), name, number)
        done = carry_out(each, spark)
        told = {"action": done.action, "version": done.version_after, "data_versions": done.data_versions}
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    _main(*sys.argv[1:])
