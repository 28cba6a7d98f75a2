"""The one sink that every part reports to: phases with their seconds, counts, warnings.

Parts call `report` and `phase` without knowing who listens. A listener (the command's progress
display, a Dagster run's log) subscribes for a scope; reports reach every listener that is
subscribed in the current context, and cost nothing when there is none.
"""

import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

Level = Literal["info", "warning"]
Value = str | int | float | bool | None


@dataclass(frozen=True, kw_only=True)
class Diagnostic:
    """One thing that a part has to say about a subject."""

    part: str
    subject: str
    message: str
    level: Level = "info"
    values: Mapping[str, Value] = field(default_factory=lambda: MappingProxyType({}))


Listener = Callable[[Diagnostic], None]
_listeners: ContextVar[tuple[Listener, ...]] = ContextVar("diagnostics_listeners", default=())


def report(part: str, subject: str, message: str, *, level: Level = "info", **values: Value) -> None:
    diagnostic = Diagnostic(part=part, subject=subject, message=message, level=level, values=MappingProxyType(values))
    for listener in _listeners.get():
        listener(diagnostic)


@contextmanager
def listening(listener: Listener) -> Generator[None, None, None]:
    """Send every report made inside the scope to `listener` as well."""
    token = _listeners.set((*_listeners.get(), listener))
    try:
        yield
    finally:
        _listeners.reset(token)


@contextmanager
def collecting() -> Generator[list[Diagnostic], None, None]:
    """Collect the reports made inside the scope."""
    collected: list[Diagnostic] = []
    with listening(collected.append):
        yield collected


@contextmanager
def phase(part: str, subject: str, name: str) -> Generator[None, None, None]:
    """Report how long the scope took, also when it fails."""
    started = time.perf_counter()
    try:
        yield
    finally:
        report(part, subject, name, seconds=round(time.perf_counter() - started, 3))


def seconds_by_phase(diagnostics: list[Diagnostic]) -> dict[str, float]:
    """Sum the seconds of the phases among `diagnostics` by name."""
    totals: dict[str, float] = {}
    for diagnostic in diagnostics:
        seconds = diagnostic.values.get("seconds")
        if isinstance(seconds, int | float):
            totals[diagnostic.message] = round(totals.get(diagnostic.message, 0.0) + seconds, 3)
    return totals
