"""What was measured of growth and of the soak, kept between runs in docs/scale.json, and the exponents that fit it."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lakehouse_assets.core.settings import PROJECT_ROOT
from lakehouse_assets_tests.support.measured import now, this_machine

FACTS = PROJECT_ROOT / "docs" / "scale.json"
REAL = "files of django"
"""The kind of what was measured of real code; the others are generated."""
EXPONENTS = {
    "build_seconds": ("a full build's seconds", 1.05),
    "update_seconds": ("an update's seconds", 0.15),
    "build_memory": ("the memory of all processes in a full build", 0.15),
    "update_memory": ("the memory of all processes in an update", 0.15),
}
"""What is fitted through the two largest sizes, where the fixed cost counts least, and the most that it may be."""


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A full build and a one-file update at one size. Memory is the most that all processes held together."""

    kind: str
    size: int
    build_seconds: float
    build_memory: int
    update_seconds: float
    update_memory: int
    delta_files: int
    delta_bytes: int
    nodes: int
    edges: int
    load: float
    """Of the machine when it was done: others' work makes seconds longer."""
    link_seconds: float = 0.0
    """Of the build's, those that the driver's processes linked for; the rest is of Spark's workers, as far as there is
    much to do."""


@dataclass(frozen=True, kw_only=True)
class Soaked:
    """The first and the last updates of a long row of them, in one process."""

    updates: int
    window: int
    first_seconds: float
    last_seconds: float
    first_memory: int
    last_memory: int
    first_files: int
    last_files: int
    first_entries: int
    last_entries: int
    load: float


@dataclass(frozen=True, kw_only=True)
class Shared:
    """One-file updates of one repository of a lake, before and after commits of others came into the same logs."""

    repositories: int
    commits: int
    before_seconds: float
    after_seconds: float
    together_seconds: float
    """Of one `sync --all` that took all these commits."""
    entries: int
    """Log entries that these commits left on disk, in all tables."""
    load: float

    @property
    def added_seconds(self) -> float:
        """What the entries of others cost an update."""
        return max(0.0, self.after_seconds - self.before_seconds)


def keep_measured(done: Measured) -> None:
    facts = facts_now()
    facts["growth"] = [
        each
        for each in facts["growth"]
        if each["kind"] != done.kind or (each["size"] != done.size and done.kind != REAL)
    ]
    facts["growth"].append(asdict(done))
    _write(facts)


def keep_soaked(done: Soaked) -> None:
    _write(facts_now() | {"soak": asdict(done)})


def keep_shared(done: Shared) -> None:
    _write(facts_now() | {"shared": asdict(done)})


def shared() -> Shared | None:
    held = facts_now().get("shared")
    return Shared(**held) if held else None


def known(kind: str) -> list[Measured]:
    """What was measured of the kind, by size."""
    held = [Measured(**each) for each in facts_now()["growth"] if each["kind"] == kind]
    return sorted(held, key=lambda each: each.size)


def soaked() -> Soaked | None:
    held = facts_now()["soak"]
    return Soaked(**held) if held else None


def slope(held: Sequence[Measured], which: str) -> float:
    """The exponent of the power of size that fits best: the slope of a line through the logarithms."""
    points = [(math.log(each.size), math.log(max(1e-9, getattr(each, which)))) for each in held]
    middle = [sum(values) / len(points) for values in zip(*points, strict=True)]
    across = sum((x - middle[0]) ** 2 for x, _ in points)
    return sum((x - middle[0]) * (y - middle[1]) for x, y in points) / across


def facts_now(path: Path = FACTS) -> dict[str, Any]:
    return json.loads(path.read_text()) if path.exists() else {"growth": [], "soak": None, "machine": "", "date": ""}


def _write(facts: dict[str, Any]) -> None:
    FACTS.write_text(json.dumps(facts | {"machine": this_machine(), "date": now()}, indent=1) + "\n")
