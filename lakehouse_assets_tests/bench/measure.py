"""How measurements are taken and printed."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil

LAKEHOUSE = str(Path(sys.executable).parent / "lakehouse")


def timed(action: Callable[[], object], *, repeat: int = 1) -> float:
    """Median seconds of `action`."""
    laps: list[float] = []
    for _ in range(repeat):
        started = time.perf_counter()
        action()
        laps.append(time.perf_counter() - started)
    return statistics.median(laps)


def command(*words: str, home: Path, **environ: str) -> None:
    """Run a command against `home`; its output is kept back unless it fails."""
    env = os.environ | {"LAKEHOUSE_HOME": str(home)} | environ
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)} failed:\n{done.stdout}{done.stderr}")


def heading(text: str) -> None:
    load = os.getloadavg()[0]
    print(f"\n{text}   (load {load:.1f} on {psutil.cpu_count()} cores)", flush=True)


def line(label: str, seconds: float, *, against: tuple[str, float] | None = None, note: str = "") -> None:
    ratio = f"{seconds / against[1]:8.2f} × {against[0]}" if against else ""
    print(f"  {label:<44} {seconds:8.3f} s {ratio:<28} {note}".rstrip(), flush=True)


def goal(holds: bool, text: str) -> str:
    """Whether a goal is met, to stand beside the figure."""
    return f"goal {text}: {'met' if holds else 'NOT MET'}"


def pick(names: Sequence[str], known: dict[str, Callable[[], None]]) -> list[str]:
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SystemExit(f"no benchmark {', '.join(unknown)}; there are {', '.join(known)}")
    return list(names) or list(known)
