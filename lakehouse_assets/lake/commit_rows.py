"""Some of the rows that one commit changed, from the files that its log entry names.

Cost: the commit's own files, of which DuckDB keeps the first few rows; whatever the size of the table.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote

import duckdb

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.commit_log import actions_of
from lakehouse_assets.lake.local_sql import local_sql
from lakehouse_assets.lake.object_path import LakePath
from lakehouse_assets.lake.scan import files_relation
from lakehouse_assets.lake.shown_rows import as_pairs, as_rows, in_key_order, samples_of, shown_columns, shown_pairs
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.sql_text import column
from lakehouse_assets.stories.records import Samples

SHOWN = 5
"""Rows of each kind that a sample has."""


def commit_samples(lake: Lake, contract: TableContract, version: int, *, limit: int = SHOWN) -> Samples:
    """Rows that the commit added, removed and changed; none, with the reason, where its files are gone."""
    entry = lake.path(contract) / "_delta_log" / f"{version:020}.json"
    if not entry.exists():
        return samples_of(contract, note=f"the log no longer has version {version}")
    actions = actions_of(entry.read_bytes())
    feed = _files(lake.path(contract), [action["cdc"] for action in actions if "cdc" in action])
    came = _files(lake.path(contract), _data(actions, "add"))
    gone = _files(lake.path(contract), _data(actions, "remove"))
    wanted = feed or [*came, *gone]
    if not all(file.exists() for file in wanted):
        return samples_of(contract, note=f"the files of version {version} were vacuumed")
    with local_sql() as connection:
        if feed:
            return _from_feed(connection, contract, feed, limit)
        return samples_of(
            contract,
            added=_first(connection, contract, came, limit),
            removed=_first(connection, contract, gone, limit),
        )


def _data(actions: Sequence[Mapping[str, Any]], name: str) -> list[Mapping[str, Any]]:
    return [action[name] for action in actions if name in action and action[name]["dataChange"]]


def _files(folder: LakePath, told: Sequence[Mapping[str, Any]]) -> list[LakePath]:
    return [folder / unquote(action["path"]) for action in told]


def _first(
    connection: duckdb.DuckDBPyConnection, contract: TableContract, files: Sequence[LakePath], limit: int
) -> tuple[tuple[str | None, ...], ...]:
    if not files:
        return ()
    source = files_relation(contract, [str(file) for file in files])
    order = in_key_order(contract, "r")
    return as_rows(connection.execute(f"SELECT {shown_columns(contract)} FROM {source} AS r {order} LIMIT {limit}"))


def _from_feed(
    connection: duckdb.DuckDBPyConnection, contract: TableContract, files: Sequence[LakePath], limit: int
) -> Samples:
    source = files_relation(contract, [str(file) for file in files], also=("_change_type",))
    same = " AND ".join(f"{column(name, 'duckdb', of='b')} = {column(name, 'duckdb', of='a')}" for name in contract.key)

    def rows(change: str) -> tuple[tuple[str | None, ...], ...]:
        query = f"SELECT {shown_columns(contract)} FROM {source} AS r WHERE r._change_type = '{change}'"
        return as_rows(connection.execute(f"{query} {in_key_order(contract, 'r')} LIMIT {limit}"))

    pairs = (
        f"SELECT {shown_pairs(contract)} FROM {source} AS b JOIN {source} AS a ON {same} "
        f"WHERE b._change_type = 'update_preimage' AND a._change_type = 'update_postimage'"
    )
    changed = connection.execute(f"{pairs} {in_key_order(contract, 'a')} LIMIT {limit}")
    return samples_of(contract, changed=as_pairs(changed), added=rows("insert"), removed=rows("delete"))
