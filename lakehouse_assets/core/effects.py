"""The named points between effects, where a process may die. Tests kill it there; in use they cost a look-up.

One list: a write path that has an effect names the point before and after it here, so that every
one of them can be tried.
"""

import os
import signal
from collections import Counter
from typing import Literal, get_args

EffectPoint = Literal[
    "write: before staging",
    "write: after staging",
    "write: after table made",
    "write: after quarantine",
    "write: before commit",
    "write: after commit",
    "write: after ledger",
    "write: after report",
    "apply: before environment",
    "delete: before commit",
    "delete: after commit",
    "optimize: before commit",
    "optimize: after commit",
    "vacuum: before files",
    "vacuum: after files",
    "vacuum: after log",
    "collect: before folder",
    "collect: after rename",
    "publish: before snapshot",
    "publish: after snapshot",
    "ingest: after inspect",
    "ingest: after decide",
    "ingest: after land",
    "deliver: after stage",
    "deliver: after merge",
    "deliver: after reconcile",
    "deliver: after record",
]
EFFECT_POINTS: tuple[EffectPoint, ...] = get_args(EffectPoint)

KILL_AT = "LAKEHOUSE_KILL_AT"
"""Environment variable with the point at which the process kills itself, or `POINT #N` for the Nth time that it comes
there: an update has many writes. For tests of faults only."""

_times: Counter[str] = Counter()


def reached(point: EffectPoint) -> None:
    wanted = os.environ.get(KILL_AT)
    if wanted is None:
        return
    name, _, number = wanted.partition(" #")
    if name == point:
        _times[point] += 1
        if _times[point] == int(number or 1):
            os.kill(os.getpid(), signal.SIGKILL)
