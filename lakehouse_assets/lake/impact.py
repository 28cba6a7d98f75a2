"""Who an update touched, from the graph as it was published last and as it was before.

Cost: the resolved relationships of all repositories, a few columns of them, once or, where the graph before the update
is still to be had, twice; then what is reached.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import pyarrow as pa

from lakehouse_assets.change.impact import DISTANCE_LIMIT, find_impact
from lakehouse_assets.change.impact_steps import (
    IMPACTED_CALLERS_ROWS,
    IMPACTED_FILES_ROWS,
    IMPACTED_IMPORTERS_ROWS,
)
from lakehouse_assets.contracts.definitions import DEFINITIONS
from lakehouse_assets.contracts.impacted_callers import IMPACTED_CALLERS
from lakehouse_assets.contracts.impacted_files import IMPACTED_FILES
from lakehouse_assets.contracts.impacted_importers import IMPACTED_IMPORTERS
from lakehouse_assets.contracts.imports_resolved import IMPORTS_RESOLVED
from lakehouse_assets.contracts.links import LINKS
from lakehouse_assets.lake.local_engine import local_engine
from lakehouse_assets.lake.published import is_readable, published
from lakehouse_assets.lake.published_graph import newest_graph
from lakehouse_assets.lake.step_engine import StepEngine
from lakehouse_assets.lake.tables import Lake

if TYPE_CHECKING:
    from lakehouse_assets.lake.step_engine import Rows

_READ = {
    LINKS: "repo, path, kind, src_def, dst_repo, dst_def, dst_n",
    IMPORTS_RESOLVED: "repo, path, name, module, target_repo, target_path, target_def",
    DEFINITIONS: "repo, path, def_id, parent_id, kind, symbol",
}
"""The columns that the steps ask for."""

_TABLES = {
    IMPACTED_CALLERS: IMPACTED_CALLERS_ROWS,
    IMPACTED_IMPORTERS: IMPACTED_IMPORTERS_ROWS,
    IMPACTED_FILES: IMPACTED_FILES_ROWS,
}


@dataclass(frozen=True, kw_only=True)
class FoundImpact:
    """Rows of the three tables, nearest first, where the engine works, and whether the limit cut them short."""

    callers: "Rows"
    importers: "Rows"
    files: "Rows"
    limit: int
    more_callers: bool
    more_importers: bool
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Impacted(FoundImpact):
    """The same in this process."""

    callers: pa.Table
    importers: pa.Table
    files: pa.Table


def impact_of(
    lake: Lake,
    repo: str,
    diffs: pa.Table,
    file_changes: pa.Table,
    *,
    from_commit: str | None,
    limit: int = DISTANCE_LIMIT,
) -> Impacted:
    """Who the changes of `repo` touch, for one who asks."""
    with local_engine() as engine:
        found = impact_by(engine, lake, repo, diffs, file_changes, from_commit=from_commit, limit=limit)
    return Impacted(**{each.name: getattr(found, each.name) for each in fields(found)})


def impact_by(
    engine: StepEngine,
    lake: Lake,
    repo: str,
    diffs: pa.Table,
    file_changes: pa.Table,
    *,
    from_commit: str | None,
    limit: int = DISTANCE_LIMIT,
) -> FoundImpact:
    """Who the changes of `repo` touch. Who relied on what is gone is found in the graph of `from_commit`."""
    earlier, notes = _earlier_versions(lake, repo, from_commit)
    published_now = newest_graph(lake)
    names = engine.give({"diffs": diffs, "file_changes": file_changes})
    for contract, columns in _READ.items():
        sources = [engine.published(published_now, contract)]
        if contract.name in earlier:
            version = earlier[contract.name]
            # Of others the earlier rows count as well, as long as nobody has vacuumed them.
            repos = None if is_readable(lake, contract, version, ()) else [repo]
            sources.append(engine.version(lake, contract, version, repos))
        union = " UNION ".join(f"SELECT {columns} FROM {source} AS present" for source in sources)
        names[contract.name], _ = engine.keep(contract.name, union)
    found = find_impact(engine, names, limit=limit)
    names |= {
        "callers": found.callers,
        "importers": found.importers,
        "files": found.files,
        "symbols": found.symbols,
    }
    callers, importers, files = (
        engine.rows(contract, step.text(names), repo=repo) for contract, step in _TABLES.items()
    )
    return FoundImpact(
        callers=callers,
        importers=importers,
        files=files,
        limit=limit,
        more_callers=found.more_callers,
        more_importers=found.more_importers,
        notes=tuple(notes),
    )


def _earlier_versions(lake: Lake, repo: str, commit: str | None) -> tuple[dict[str, int], Sequence[str]]:
    """The versions of the tables that tell of `commit`, as far as they can still be read; and what cannot."""
    if commit is None:
        return {}, ()
    found = published(lake, repo, commit, tuple(_READ))
    if found is None:
        return {}, [f"the graph was never brought to {commit[:12]}: who relied on what is gone is not told"]
    if not found.missing:
        return found.versions, ()
    told = f"{', '.join(found.missing)} as of {commit[:12]} is not known or was vacuumed"
    return found.versions, [f"{told}: who relied on what is gone may not be told"]
