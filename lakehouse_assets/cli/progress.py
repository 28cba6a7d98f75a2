"""Progress on standard error: a live line on a terminal, plain lines elsewhere.

Dagster captures the process's output while a step runs, so progress is written to a copy of standard
error that was taken before.
"""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from lakehouse_assets.core.diagnostics import Diagnostic
from lakehouse_assets.core.text import visible_lines

_BAR = 30
"""Signs of a full bar."""
_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class Progress:
    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._out = os.fdopen(os.dup(2), "w", buffering=1)
        self._live = self._out.isatty() and not quiet
        self._left_out: set[str] = set()
        self._warned: set[str] = set()
        self._expected = 0
        self._written: list[str] = []

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Show that `name` is under way, then how long it took."""
        started = time.monotonic()
        over = threading.Event()
        spinner = threading.Thread(target=self._spin, args=(name, started, over), daemon=True)
        if self._live:
            spinner.start()
        try:
            yield
        finally:
            over.set()
            if self._live:
                spinner.join()
        self.done(name, round(time.monotonic() - started, 1))

    @contextmanager
    def tables(self, expected: int) -> Iterator[None]:
        """On a terminal, a bar below the lines: how many of the tables are written."""
        self._expected, self._written = expected, []
        self._draw()
        try:
            yield
        finally:
            self._clear()
            self._expected = 0

    def done(self, name: str, seconds: float, detail: str = "") -> None:
        self._tell(f"  ✓ {name:<14} {seconds:>6.1f} s  {detail}".rstrip())

    def say(self, text: str) -> None:
        self._tell(f"  {text}")

    def _tell(self, line: str) -> None:
        if self._quiet:
            return
        self._clear()
        self._out.write(f"{visible_lines(line)}\n")
        self._draw()

    def _draw(self) -> None:
        if self._live and self._expected:
            done = len(set(self._written))
            full = round(_BAR * min(done, self._expected) / self._expected)
            self._out.write(f"\r  {'█' * full}{'░' * (_BAR - full)} {done} of {self._expected} tables")
            self._out.flush()

    def _clear(self) -> None:
        if self._live and self._expected:
            self._out.write("\r\x1b[K")

    def on_warning(self, diagnostic: Diagnostic) -> None:
        """Listener: warnings alone, for work that is shown as one step."""
        if diagnostic.level == "warning":
            self.on_diagnostic(diagnostic)

    def on_diagnostic(self, diagnostic: Diagnostic) -> None:
        """Listener: tables as they are written, and warnings as they come."""
        if self._quiet:
            return
        if diagnostic.part == "partitions":  # every later step leaves it out as well
            if diagnostic.subject in self._left_out:
                return
            self._left_out.add(diagnostic.subject)
        if diagnostic.level == "warning":
            line = f"  ! {diagnostic.subject}: {diagnostic.message}"
            if line not in self._warned:  # each step that reads a table finds the same of it
                self._warned.add(line)
                self._tell(line)
        elif (diagnostic.part, diagnostic.message) == ("spark", "session start"):
            self.done("start Spark", float(diagnostic.values["seconds"] or 0))
        elif (diagnostic.part, diagnostic.message) == ("spark", "web UI"):
            self.say(f"Spark's web UI, while it runs: {diagnostic.subject}")
        elif diagnostic.part == "write":
            values = diagnostic.values
            self._written.append(diagnostic.subject)
            self.done(diagnostic.subject, float(values.get("seconds") or 0), f"{values.get('rows'):,} rows")

    def _spin(self, name: str, started: float, over: threading.Event) -> None:
        frame = 0
        while not over.wait(0.1):
            self._out.write(f"\r  {_FRAMES[frame % len(_FRAMES)]} {name:<14} {time.monotonic() - started:>6.1f} s")
            self._out.flush()
            frame += 1
        self._out.write("\r\x1b[K")
