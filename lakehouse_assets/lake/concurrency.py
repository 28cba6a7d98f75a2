"""When two writers meet: Delta notices it at the commit, and the one who was second plans anew.

What a write may change is named in its statement by literal partitions, so that writers of other partitions pass, on
any storage. A conflict is tried again with growing, random pauses, and given up after a time. Those of one machine who
write the same partitions also wait for each other, which no correctness rests on: it spares the work of a write that
would be refused.

Cost: one file a stripe. Writers of different partitions meet only if they share one, and then merely wait.
"""

import fcntl
import itertools
import random
import sys
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, TypeVar

from deltalake.exceptions import CommitFailedError

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.core.errors import LakeStateError
from lakehouse_assets.core.hashing import fingerprint
from lakehouse_assets.lake.commit_log import last_writer
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.scope import Equals, Scope, Scopes

PATIENCE_SECONDS = 120.0
STRIPES = 32
_LONGEST_WAIT_SECONDS = 2.0
_PART = "concurrency"
_SPARK_CONFLICTS = (
    "DELTA_CONCURRENT",
    "DELTA_METADATA_CHANGED",
    "DELTA_PROTOCOL_CHANGED",
    "RemoteFileChangedException",
)
"""The last is Hadoop's word for a conditional request that S3 refused: another writer has put that log entry."""
_REFUSALS = ("append-only", "Unsupported table features")
"""What delta-rs tells by the class of a conflict and is none: the table refuses the write, each time it is tried."""
_T = TypeVar("_T")


def retried(lake: Lake, contract: TableContract, action: Callable[[], _T]) -> _T:
    """Do `action` on a table until no commit of another comes between; it reads anew whatever it relies on."""
    started, subject = time.monotonic(), f"table {contract.name}"
    for attempt in itertools.count(1):
        try:
            return action()
        except _conflicts() as error:
            if not _is_conflict(error):
                raise
            seconds = time.monotonic() - started
            if seconds > PATIENCE_SECONDS:
                who = last_writer(lake.path(contract))
                raise LakeStateError(
                    subject=subject,
                    seen=f"{attempt} attempts in {seconds:.0f} s met commits of others; the last was {who}: {error}",
                    why="nothing of this write was committed",
                    remedy="run it again when the other writer is done",
                ) from error
        report(_PART, subject, "another writer was first; trying again", level="warning", attempt=attempt)
        time.sleep(random.uniform(0, min(_LONGEST_WAIT_SECONDS, 0.02 * 2 ** min(attempt, 10))))
    raise AssertionError("unreachable")


@contextmanager
def holding(root: Path, contract: TableContract, scopes: Scopes) -> Generator[None, None, None]:
    """Keep other writers of these partitions out for the length of the scope."""
    folder = root / ".locks" / "tables" / contract.name
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as locks:
        for stripe in stripes(contract, scopes):
            _lock(locks.enter_context((folder / str(stripe)).open("ab")), contract.name)
        yield


@contextmanager
def alone(root: Path, what: str) -> Generator[None, None, None]:
    """Keep out others of this machine who do the same thing to the lake."""
    folder = root / ".locks"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{what}.lock").open("ab") as file:
        _lock(file, what)
        yield


def stripes(contract: TableContract, scopes: Scopes) -> list[int]:
    """The locks of these partitions, in the order in which everyone takes them; all of them for the whole table."""
    values = [first_value(contract, scope) for scope in scopes]
    if not values or None in values:
        return list(range(STRIPES))
    return sorted({int(fingerprint([value]), 16) % STRIPES for value in values})


def first_value(contract: TableContract, scope: Scope) -> str | None:
    """The scope's value of the first partition column, if it has one only."""
    first = contract.partition_by[0]
    return next((str(each.value) for each in scope if isinstance(each, Equals) and each.column == first), None)


def _lock(file: IO[bytes], subject: str) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        report(_PART, subject, "waiting for another who has the lock")
        fcntl.flock(file, fcntl.LOCK_EX)


def _conflicts() -> tuple[type[Exception], ...]:
    """Errors that may tell of another writer; Spark's only if it is in use, so that it is not loaded for them."""
    errors: Any = sys.modules.get("pyspark.errors")
    java: Any = sys.modules.get("py4j.protocol")
    engine = () if errors is None else (errors.PySparkException,)
    return (CommitFailedError, *engine, *(() if java is None else (java.Py4JJavaError,)))


def _is_conflict(error: Exception) -> bool:
    told = str(error)
    if isinstance(error, CommitFailedError):
        return not any(name in told for name in _REFUSALS)
    return any(name in told for name in _SPARK_CONFLICTS)
