"""What differs between two versions of a table: rows added, removed and changed by key, counted, with samples.

Only files that one of the versions has and the other has not are read: the rows of the others are the same.
"""

from collections.abc import Sequence

import duckdb

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.errors import BadInputError, LakeStateError
from lakehouse_assets.lake.commit_rows import SHOWN
from lakehouse_assets.lake.local_sql import local_sql
from lakehouse_assets.lake.log_range import data_files
from lakehouse_assets.lake.published import is_readable
from lakehouse_assets.lake.scan import files_relation
from lakehouse_assets.lake.shown_rows import as_pairs, as_rows, in_key_order, samples_of, shown_columns, shown_pairs
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.sql_text import column, in_list, null_safe_equal
from lakehouse_assets.stories.records import RowDiff


def version_diff(
    lake: Lake,
    contract: TableContract,
    before: int,
    after: int,
    *,
    partitions: Sequence[str] | None = None,
    limit: int = SHOWN,
) -> RowDiff:
    """Of the named partitions, or of all rows."""
    for version in (before, after):
        _check(lake, contract, version)
    old, new = (_files(lake, contract, version) for version in (before, after))
    sources = {"b": files_relation(contract, sorted(old - new)), "a": files_relation(contract, sorted(new - old))}
    if partitions is not None and contract.partition_by:
        where = in_list(column(contract.partition_by[0], "duckdb"), partitions, "duckdb")
        sources = {name: f"(SELECT * FROM {source} AS every_row WHERE {where})" for name, source in sources.items()}
    with local_sql() as connection:
        for name, source in sources.items():
            connection.execute(f"CREATE OR REPLACE TEMP TABLE compared_{name} AS SELECT * FROM {source} AS rows_of")
        return _compared(connection, contract, before, after, limit)


def _compared(
    connection: duckdb.DuckDBPyConnection, contract: TableContract, before: int, after: int, limit: int
) -> RowDiff:
    same = " AND ".join(f"{column(name, 'duckdb', of='b')} = {column(name, 'duckdb', of='a')}" for name in contract.key)
    equal = " AND ".join(
        null_safe_equal(column(each.name, "duckdb", of="b"), column(each.name, "duckdb", of="a"), "duckdb")
        for each in contract.columns
    )
    changed = f"FROM compared_b AS b JOIN compared_a AS a ON {same} WHERE NOT ({equal})"
    on = same.replace("b.", "r.")
    added = f"FROM compared_a AS r ANTI JOIN compared_b AS a ON {on}"
    removed = f"FROM compared_b AS r ANTI JOIN compared_a AS a ON {on}"

    def number(source: str) -> int:
        ((rows,),) = connection.execute(f"SELECT count(*) {source}").fetchall()
        return rows

    def first(source: str) -> tuple[tuple[str | None, ...], ...]:
        order = in_key_order(contract, "r")
        return as_rows(connection.execute(f"SELECT {shown_columns(contract)} {source} {order} LIMIT {limit}"))

    pairs = connection.execute(f"SELECT {shown_pairs(contract)} {changed} {in_key_order(contract, 'a')} LIMIT {limit}")
    samples = samples_of(contract, changed=as_pairs(pairs), added=first(added), removed=first(removed))
    return RowDiff(
        table=contract.name,
        before=before,
        after=after,
        added=number(added),
        removed=number(removed),
        changed=number(changed),
        samples=samples,
    )


def _files(lake: Lake, contract: TableContract, version: int) -> set[str]:
    table = lake.open(contract)
    table.load_as_version(version)
    return {str(file) for file in data_files(table, lake.path(contract), contract, ())}


def _check(lake: Lake, contract: TableContract, version: int) -> None:
    newest = lake.open(contract).version() if lake.exists(contract) else None
    if newest is None or version > newest:
        raise BadInputError(
            subject=f"version {version} of {contract.name}",
            seen="the table has not been made yet" if newest is None else f"the newest is {newest}",
            why="there is nothing to compare",
            remedy="see `lakehouse tables` for the versions",
        )
    if not is_readable(lake, contract, version):
        raise LakeStateError(
            subject=f"version {version} of {contract.name}",
            seen="its log entries or its files were removed",
            why="its rows are not known any more",
            remedy="compare later versions; the log says which are there",
        )
