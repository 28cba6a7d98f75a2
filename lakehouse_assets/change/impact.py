"""Who may be touched by changed definitions: callers, importers, files, each with the shortest way to it.

This is the wide set, for people: what to review and test. What has to be relinked is decided elsewhere, from what
linking read.

Relations asked of the engine, with the columns of their contracts: `diffs` and `file_changes` (of one update),
`links`, `imports_resolved` and `definitions` (of all repositories, before the update and after it: what is gone was
relied on only before).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from lakehouse_assets.change.impact_steps import (
    CALLERS_0,
    CALLERS_NEXT,
    CHANGED,
    DEPENDENCIES,
    FILES,
    IMPORTERS_0,
    IMPORTERS_1,
    IMPORTERS_NEXT,
    SYMBOLS,
)
from lakehouse_assets.plan.relational_step import RelationalStep

DISTANCE_LIMIT = 4
"""Steps that are followed. Far ones touch nearly everything and say little; that there are more is told."""


class Engine(Protocol):
    """Something that runs the steps. What it keeps is there until it is closed."""

    def keep(self, label: str, query: str) -> tuple[str, int]:
        """Keep the result of a query; gives the name it can be asked for by, and its rows."""
        ...


@dataclass(frozen=True, kw_only=True)
class Impact:
    """Names of the kept results; and whether somebody is reached only beyond the limit."""

    callers: str
    importers: str
    files: str
    symbols: str
    limit: int
    more_callers: bool
    more_importers: bool


def find_impact(engine: Engine, inputs: Mapping[str, str], *, limit: int = DISTANCE_LIMIT) -> Impact:
    """Run the steps on the inputs, by the names that the engine knows them by."""
    names = dict(inputs)
    for step in (CHANGED, SYMBOLS, DEPENDENCIES):
        names[step.name], _ = engine.keep(step.name, step.text(names))
    names["callers"], more_callers = _spread(engine, names, "callers", CALLERS_0, [CALLERS_NEXT] * (limit + 1))
    importers = [IMPORTERS_1, *[IMPORTERS_NEXT] * limit]
    names["importers"], more_importers = _spread(engine, names, "importers", IMPORTERS_0, importers)
    names["files"], _ = engine.keep("files", FILES.text(names))
    return Impact(
        callers=names["callers"],
        importers=names["importers"],
        files=names["files"],
        symbols=names["symbols"],
        limit=limit,
        more_callers=more_callers,
        more_importers=more_importers,
    )


def _spread(
    engine: Engine, names: Mapping[str, str], what: str, first: RelationalStep, steps: Sequence[RelationalStep]
) -> tuple[str, bool]:
    """Follow the ways; the kept union of all finds but the last step's, and whether that one finds any more."""
    frontier, rows = engine.keep(f"{what}_0", first.text(names))
    finds = [frontier]
    for number, step in enumerate(steps, start=1):
        if not rows:
            break
        query = step.text({**names, "frontier": frontier, "reached": _union(finds)})
        frontier, rows = engine.keep(f"{what}_{number}", query)
        if number == len(steps):
            return _kept(engine, what, finds), bool(rows)
        finds.append(frontier)
    return _kept(engine, what, finds), False


def _kept(engine: Engine, what: str, finds: Sequence[str]) -> str:
    return engine.keep(what, f"SELECT * FROM {_union(finds)} AS finds")[0]


def _union(names: Sequence[str]) -> str:
    return "(" + " UNION ALL ".join(f"SELECT * FROM {name}" for name in names) + ")"
