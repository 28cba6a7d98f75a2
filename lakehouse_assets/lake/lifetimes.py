"""Lives of definitions and relationships as rows, for the files that changed.

Cost: the rows of these files, in the table of lives and in the one that it follows. Many repositories that are made
as a whole cost one reading of each table, not one each.
"""

from collections.abc import Sequence
from dataclasses import dataclass

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
from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.local_engine import LocalEngine, local_engine
from lakehouse_assets.lake.scan import relation
from lakehouse_assets.lake.source_files import Selection
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.scope import equal_scopes
from lakehouse_assets.plan.sql_text import literal

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


def lifetimes(lake: Lake, contract: TableContract, moments: Sequence[Moment], owners: Sequence[str] | None) -> pa.Table:
    """All lives of what is or was in these files of the repositories, or in all, as they are at their commits."""
    present, followed, sql = _STEPS[contract.name]
    repos = [each.repo for each in moments]
    with local_engine() as engine:
        names = {each.name: _rows_of(lake, each, repos, owners, engine) for each in (followed, contract)}
        here, _ = engine.keep("present", present.format_map(names))
        times = engine.give({"moments": _table_of(moments)})["moments"]
        query = sql(
            stored=names[contract.name],
            present=here,
            commit=f"(SELECT to_commit FROM {times} WHERE of_repo = repo)",
            previous=f"(SELECT from_commit FROM {times} WHERE of_repo = repo)",
        )
        found = engine.ask_arrow(query)
    schema = arrow_schema(contract.columns)
    return found.select(schema.names).cast(schema)


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
    lake: Lake, contract: TableContract, repos: Sequence[str], owners: Sequence[str] | None, engine: LocalEngine
) -> str:
    """SQL for the rows of some files of the repositories, read by delta-rs, which passes over files of other owners; or
    for all rows, which the engine reads by itself, so that they need not all be in memory."""
    if owners is None:
        # Kept, because it is asked several times, and files of many repositories take longer to open than to read.
        return engine.keep(contract.name, f"FROM {relation(lake, contract, scopes=equal_scopes('repo', repos))}")[0]
    rows = lake.read(contract, where=Selection(repos=tuple(repos), paths=tuple(owners)).predicate)
    return engine.give({contract.name: rows})[contract.name]
