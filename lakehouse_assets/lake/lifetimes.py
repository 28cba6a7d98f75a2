"""Lives of definitions and relationships as rows, for the files that changed.

Cost: the rows of these files, in the table of lives and in the one that it follows; for new relationships the names of
the definitions around them.
"""

from collections.abc import Sequence

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
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.sql_text import in_list, literal

_STEPS = {
    DEFINITION_LIFETIMES.name: (PRESENT_DEFINITIONS, (DEFINITIONS,), definition_lifetimes_sql),
    EDGE_LIFETIMES.name: (PRESENT_EDGES, (LINKS, DEFINITIONS), edge_lifetimes_sql),
}


def lifetimes(
    lake: Lake,
    contract: TableContract,
    repo: str,
    owners: Sequence[str] | None,
    *,
    commit: str,
    previous: str | None,
) -> pa.Table:
    """All lives of what is or was in these files, or in all, as they are at `commit`."""
    present, inputs, sql = _STEPS[contract.name]
    with local_engine() as engine:
        names = {each.name: relation(lake, each) for each in inputs}
        followed = inputs[0].name
        names[followed] = _rows_of(engine, lake, inputs[0], repo, owners)
        stored = _rows_of(engine, lake, contract, repo, owners)
        here, _ = engine.keep("present", present.format_map(names))
        query = sql(
            stored=stored,
            present=here,
            commit=literal(commit, "duckdb"),
            previous="NULL" if previous is None else literal(previous, "duckdb"),
        )
        found = engine.ask_arrow(query)
    schema = arrow_schema(contract.columns)
    return found.select(schema.names).cast(schema)


def previous_commit(lake: Lake, repo: str, commit: str) -> str | None:
    """The commit that the repository's graph was at before this one; None if it was at no other."""
    where = f"repo = {literal(repo, 'datafusion')} AND commit_sha <> {literal(commit, 'datafusion')}"
    rows = lake.read(GRAPH_VERSIONS, columns=["commit_sha", "published_at"], where=where)
    if not rows.num_rows:
        return None
    return rows.sort_by("published_at")["commit_sha"].to_pylist()[-1]


def _rows_of(engine: LocalEngine, lake: Lake, contract: TableContract, repo: str, owners: Sequence[str] | None) -> str:
    """The rows of some files of the repository, by delta-rs, which passes over files of other owners."""
    where = f"repo = {literal(repo, 'datafusion')}"
    if owners is not None:
        where += f" AND {in_list('path', owners, 'datafusion')}" if owners else " AND FALSE"
    return engine.give({contract.name: lake.read(contract, where=where)})[contract.name]
