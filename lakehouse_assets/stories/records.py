"""What a story is told from."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date, datetime
from typing import Any, Literal, get_args

Status = Literal["succeeded", "failed", "skipped", "running"]
"""Of a run or a step. Skipped: what it needs failed before."""

Outcome = Literal["written", "equal", "untouched", "failed", "skipped", "running"]
"""What became of an asset. Equal: made anew, and came out the same; untouched: it was fresh, so it was not made."""

REDACTED = "redacted"
"""What is shown in the place of a value of a sensitive column."""


@dataclass(frozen=True, kw_only=True)
class Problem:
    """An error. One of ours says why it matters and what to do; of another only its message is known."""

    subject: str
    seen: str
    why: str | None = None
    remedy: str | None = None


@dataclass(frozen=True, kw_only=True)
class Step:
    """A step of a run: the assets it makes, the steps it needs, when it ran (seconds since the epoch)."""

    name: str
    assets: tuple[str, ...]
    needs: tuple[str, ...]
    status: Status
    started: float | None
    ended: float | None
    problem: Problem | None = None

    @property
    def seconds(self) -> float | None:
        return None if self.started is None or self.ended is None else self.ended - self.started


@dataclass(frozen=True, kw_only=True)
class Check:
    """An asset check and how it came out."""

    asset: str
    name: str
    passed: bool
    description: str
    is_warning: bool = False
    """Whether its failing says only that something should be looked at."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """A run as its executor recorded it."""

    run_id: str
    job: str
    status: Status
    started: float | None
    ended: float | None
    asked: Mapping[str, str]
    """Partitions, and the commit that each was to be brought to; empty where none was named."""
    steps: tuple[Step, ...]
    checks: tuple[Check, ...]
    untouched: Mapping[str, int]
    """By asset, how many partitions were fresh."""
    problem: Problem | None = None
    """Why the run as a whole ended, where no step says it."""

    @property
    def seconds(self) -> float | None:
        return None if self.started is None or self.ended is None else self.ended - self.started


@dataclass(frozen=True, kw_only=True)
class KeyPart:
    """A part of a materialization's key: as it was in the materialization before, None if there was none, and now."""

    name: str
    old: str | None
    new: str

    @property
    def changed(self) -> bool:
        return self.old != self.new


@dataclass(frozen=True, kw_only=True)
class PartitionKey:
    """What a partition was made from, and its content before and after."""

    partition: str
    parts: tuple[KeyPart, ...]
    content_before: str | None
    content_after: str | None


@dataclass(frozen=True, kw_only=True)
class Samples:
    """Some of the rows that a write changed, as text by column. A changed row stands in both of a pair."""

    columns: tuple[str, ...]
    key: tuple[str, ...]
    added: tuple[tuple[str | None, ...], ...] = ()
    removed: tuple[tuple[str | None, ...], ...] = ()
    changed: tuple[tuple[tuple[str | None, ...], tuple[str | None, ...]], ...] = ()
    note: str = ""
    """Why there are none, or not all that was asked for."""


@dataclass(frozen=True, kw_only=True)
class Nulls:
    """How many values of a column are NULL, of how many rows, before a write and after it."""

    column: str
    before: int | None
    rows_before: int | None
    after: int
    rows_after: int


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A statement behind an asset as it was at this run, and as it was before; None if there was none before."""

    name: str
    text: str
    before: str | None


@dataclass(frozen=True, kw_only=True)
class Write:
    """One commit into a table."""

    partitions: tuple[str, ...]
    strategy: str
    action: str
    executor: str
    executor_reason: str
    rows_inserted: int
    rows_updated: int
    rows_deleted: int
    rows_unchanged: int
    rows_quarantined: int
    files_total: int
    files_touched: int
    files_unbounded: int
    files_added: int
    files_removed: int
    bytes_added: int
    version_before: int
    version_after: int
    seconds: Mapping[str, float]
    keys: tuple[PartitionKey, ...]
    samples: Samples | None

    @property
    def rows_changed(self) -> int:
        return self.rows_inserted + self.rows_updated + self.rows_deleted


@dataclass(frozen=True, kw_only=True)
class AssetStory:
    """What a run did to an asset, and why."""

    name: str
    description: str
    step: str
    outcome: Outcome
    why: str
    writes: tuple[Write, ...] = ()
    nulls: tuple[Nulls, ...] = ()
    plans: tuple[Plan, ...] = ()
    checks: tuple[Check, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Story:
    """A run, told."""

    run: Run
    assets: tuple[AssetStory, ...]

    @property
    def rows_changed(self) -> int:
        return sum(write.rows_changed for asset in self.assets for write in asset.writes)

    @property
    def problems(self) -> tuple[Problem, ...]:
        told = [step.problem for step in self.run.steps if step.problem is not None]
        return tuple(told) or tuple(filter(None, [self.run.problem]))


@dataclass(frozen=True, kw_only=True)
class RowDiff:
    """What differs between two versions of a table, by key."""

    table: str
    before: int
    after: int
    added: int
    removed: int
    changed: int
    samples: Samples

    @property
    def count(self) -> int:
        return self.added + self.removed + self.changed


DriftKind = Literal["none", "new", "logic", "settings", "inputs", "rows"]
"""Why an asset differs between two runs: it was not there at the first; its code or policy, its settings, what it was
made from; or its rows do though nothing of that does."""


@dataclass(frozen=True, kw_only=True)
class Drift:
    """How an asset's partition differs between two runs."""

    asset: str
    key: PartitionKey
    rows: RowDiff | None
    note: str = ""

    @property
    def what(self) -> str:
        return f"{self.asset} of {self.key.partition}" if self.key.partition else self.asset

    @property
    def kinds(self) -> tuple[DriftKind, ...]:
        if self.key.parts and all(part.old is None for part in self.key.parts):
            return ("new",)
        changed = {_DRIFT.get(part.name, "inputs") for part in self.key.parts if part.changed and _counts(part.name)}
        if not changed and self.key.content_before != self.key.content_after:
            return ("rows",)
        return tuple(kind for kind in get_args(DriftKind) if kind in changed) or ("none",)


_DRIFT: Mapping[str, DriftKind] = {"code": "logic", "policy": "logic", "settings": "settings"}


def _counts(part: str) -> bool:
    """How far a feed was read is no reason for a difference: what was read is."""
    return not part.startswith("changes read of")


@dataclass(frozen=True, kw_only=True)
class RunDiff:
    """Two runs side by side."""

    first: Run
    second: Run
    drifts: tuple[Drift, ...]


def as_json(record: Any) -> dict[str, Any]:
    """A record as values that JSON has."""
    return asdict(record)


def as_text(value: object) -> str | None:
    """A value of a row as a page shows it: long ones cut, since a sample is to be looked at."""
    match value:
        case None:
            return None
        case bool():
            return "true" if value else "false"
        case datetime():
            return value.isoformat(sep=" ", timespec="seconds")
        case date():
            return value.isoformat()
        case list():
            return ", ".join(str(each) for each in value)  # type: ignore[reportUnknownVariableType]
        case bytes():
            return f"{len(value):,} bytes"
        case _:
            text = str(value)
            return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text):,} characters)"


_LONGEST = 300
