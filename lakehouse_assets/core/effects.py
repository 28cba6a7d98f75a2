"""The named points between effects, where a process may die. Tests kill it there; in use they cost a look-up.

One list: a write path that has an effect names the point before and after it here, so that every
one of them can be tried.
"""

import os
import signal
from typing import Literal, get_args

EffectPoint = Literal[
    "write: before staging",
    "write: after staging",
    "write: after table made",
    "write: after quarantine",
    "workers: before files",
    "workers: after files",
    "write: before commit",
    "commit: before log entry",
    "commit: after log entry",
    "write: after commit",
    "write: after ledger",
    "write: after report",
    "apply: before environment",
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
"""Environment variable with the point at which the process kills itself. For tests of faults only."""


def reached(point: EffectPoint) -> None:
    if os.environ.get(KILL_AT) == point:
        os.kill(os.getpid(), signal.SIGKILL)
