"""Lives of definitions and relationships as rows, for the files that changed.

Cost: the rows of these files, in the table of lives and in the one that it follows. Many repositories that are made
as a whole cost one reading of each table, not one each.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from lakehouse_assets.change.lifetimes import (
    PRESENT_DEFINITIONS,
    PRESENT_EDGES,
    definition_lifetimes_sql,
    edge_lifetimes_sql,
)
from lakehouse_assets.contracts.definition_lifetimes import DEFINITION_LIFETIMES
from lakehouse_assets.contracts.definitions import DEFINITIONS
from lakehouse_assets.contracts.edge_lifetimes import EDGE_LIFETIMES
from lakehouse_assets.contracts.graph_versions import GRAPH_VERSIONS
from lakehouse_assets.contracts.links import LINKS
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.step_engine import StepEngine
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.sql_text import literal

if TYPE_CHECKING:
    from lakehouse_assets.lake.step_engine import Rows

_STEPS = {
    DEFINITION_LIFETIMES.name: (PRESENT_DEFINITIONS, DEFINITIONS, definition_lifetimes_sql),
    EDGE_LIFETIMES.name: (PRESENT_EDGES, LINKS, edge_lifetimes_sql),
}


@dataclass(frozen=True, kw_only=True)
class Moment:
    """A commit that a repository is brought to, and the one that it was at before; None if it was at no other."""

    repo: str
    commit: str
    previous: str | None


def lifetimes(
    engine: StepEngine, lake: Lake, contract: TableContract, moments: Sequence[Moment], owners: Sequence[str] | None
) -> "Rows":
    """All lives of what is or was in these files of the repositories, or in all, as they are at their commits."""
    present, followed, sql = _STEPS[contract.name]
    repos = [each.repo for each in moments]
    names = {each.name: _rows_of(engine, lake, each, repos, owners) for each in (followed, contract)}
    here, _ = engine.keep("present", present.format_map(names))
    times = engine.give({"moments": _table_of(moments)})["moments"]
    return engine.rows(contract, sql(stored=names[contract.name], present=here, moments=times))


def _table_of(moments: Sequence[Moment]) -> pa.Table:
    columns = {
        "of_repo": [each.repo for each in moments],
        "to_commit": [each.commit for each in moments],
        "from_commit": [each.previous for each in moments],
    }
    return pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()})


def previous_commit(lake: Lake, repo: str, commit: str) -> str | None:
    """The commit that the repository's graph was at before this one; None if it was at no other."""
    where = f"repo = {literal(repo, 'datafusion')} AND commit_sha <> {literal(commit, 'datafusion')}"
    rows = lake.read(GRAPH_VERSIONS, columns=["commit_sha", "published_at"], where=where)
    if not rows.num_rows:
        return None
    return rows.sort_by("published_at")["commit_sha"].to_pylist()[-1]


def _rows_of(
    engine: StepEngine, lake: Lake, contract: TableContract, repos: Sequence[str], owners: Sequence[str] | None
) -> str:
    rows = engine.table(lake, contract, repos, owners)
    # Kept, because it is asked several times, and files of many repositories take longer to open than to read.
    return rows if owners is not None else engine.keep(contract.name, f"SELECT * FROM {rows} AS held")[0]
