"""Time in intervals: days or months, half-open, each built once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.models.header import Interval


@dataclass(frozen=True, kw_only=True, order=True)
class Span:
    """From `start` on, before `end`."""

    start: date
    end: date

    def __str__(self) -> str:
        return f"{self.start}..{self.end}"


def first_of(interval: Interval, day: date) -> date:
    return day.replace(day=1) if interval == "month" else day


def after(interval: Interval, day: date) -> date:
    if interval == "day":
        return day + timedelta(days=1)
    return date(day.year + day.month // 12, day.month % 12 + 1, 1)


def span_of(interval: Interval, key: str) -> Span:
    """The days of an interval by its key, which is its first day."""
    start = date.fromisoformat(key)
    return Span(start=start, end=after(interval, start))


def intervals(interval: Interval, start: date, end: date) -> list[str]:
    """The keys of the whole intervals from `start` on that end by `end`."""
    keys: list[str] = []
    day = first_of(interval, start)
    while after(interval, day) <= end:
        keys.append(day.isoformat())
        day = after(interval, day)
    return keys


def merged(interval: Interval, keys: Iterable[str]) -> list[Span]:
    """Neighbouring intervals as one span each."""
    spans: list[Span] = []
    for key in sorted(keys):
        span = span_of(interval, key)
        if spans and spans[-1].end == span.start:
            spans[-1] = Span(start=spans[-1].start, end=span.end)
        else:
            spans.append(span)
    return spans


def read_span(text: str) -> Span:
    """`2026-01-01..2026-02-01`: the second day is not part of it."""
    parts: Sequence[str] = text.split("..")
    try:
        start, end = (date.fromisoformat(part) for part in parts)
    except ValueError:
        start = end = date.min
    if start >= end:
        raise BadInputError(
            subject=f"range {text!r}",
            seen="it is not two days with .. between, the first before the second",
            why="it has to be clear which rows are meant",
            remedy="write it as 2026-01-01..2026-02-01; the second day is not part of it",
        )
    return Span(start=start, end=end)
