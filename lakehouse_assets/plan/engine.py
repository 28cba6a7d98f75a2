"""Where a run works: on Spark or in this process, decided once from what it is about to do.

Rule: first builds, whatever is made anew as a whole, and whatever touches many rows run on Spark. An update runs in
this process while what changed is small, however large the repository, its history and the lake are.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from lakehouse_assets.core.settings import WantedEngine

Engine = Literal["spark", "local"]

MANY_CHANGES = 500
"""Beyond so many changed files (or commits, in assets of months) a run has much to do.

This process takes django's 2,930 Python files from git to edges in 75 seconds, so 500 in some thirteen. On Spark the
session's start and a commit for each of some twenty tables come first: at least as long again. `bench engines` prints
both ways side by side; what it finds on an idle machine is to move this number.
"""

MANY_ROWS = 20_000_000
"""Beyond so many rows read by users' queries a run works on Spark: DuckDB would hold what it groups in this process."""

ASKED_FOR = "the setting `engine` (LAKEHOUSE_ENGINE) asks for it"


@dataclass(frozen=True, kw_only=True)
class Extent:
    """What a run is about to make, as far as it is known before it begins."""

    first: tuple[str, ...] = ()
    """What is made for the first time, by name."""
    anew: tuple[str, ...] = ()
    """What is made anew as a whole though it was made before, each with why."""
    changed: int = 0
    """What changed since the rest was made."""
    of: str = "files"
    rows: int = 0
    """That its queries read, where it runs users' SQL."""


@dataclass(frozen=True, kw_only=True)
class EngineChoice:
    """The engine of a run, why it is that one, and whether so much changed that naming it would cost more than all."""

    engine: Engine
    reason: str
    much_changed: bool = False

    def __str__(self) -> str:
        return f"{self.engine}: {self.reason}"


def together(extents: Iterable[Extent]) -> Extent:
    """What a run of all of them is about to make."""
    held = list(extents)
    return Extent(
        first=tuple(name for each in held for name in each.first),
        anew=tuple(name for each in held for name in each.anew),
        changed=sum(each.changed for each in held),
    )


def choose_engine(wanted: WantedEngine, extent: Extent) -> EngineChoice:
    """Decide for a run."""
    much = extent.changed > MANY_CHANGES
    if wanted != "auto":
        return EngineChoice(engine=wanted, reason=ASKED_FOR, much_changed=much)
    if extent.first:
        return EngineChoice(engine="spark", reason=f"first build of {_some(extent.first)}", much_changed=much)
    if extent.anew:
        return EngineChoice(engine="spark", reason=f"made anew: {_some(extent.anew)}", much_changed=much)
    told = f"{extent.changed:,} changed {extent.of}"
    if much:
        return EngineChoice(engine="spark", reason=f"{told}, more than {MANY_CHANGES:,}", much_changed=True)
    if extent.rows > MANY_ROWS:
        return EngineChoice(engine="spark", reason=f"{extent.rows:,} rows are to be read, more than {MANY_ROWS:,}")
    if extent.rows:
        return EngineChoice(engine="local", reason=f"{extent.rows:,} rows are to be read, at most {MANY_ROWS:,}")
    return EngineChoice(engine="local", reason=f"{told}, at most {MANY_CHANGES:,}")


def _some(names: tuple[str, ...]) -> str:
    first, *more = names
    return f"{first} and {len(more):,} more" if more else first
