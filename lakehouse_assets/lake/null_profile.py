"""How many values are NULL, in the columns that may be, before a run's writes to a table and after them."""

from collections.abc import Sequence

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.local_sql import local_sql
from lakehouse_assets.lake.published import is_readable
from lakehouse_assets.lake.scan import relation
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.sql_text import column, in_list
from lakehouse_assets.stories.records import Nulls, Write


def null_profile(lake: Lake, contract: TableContract, writes: Sequence[Write]) -> tuple[Nulls, ...]:
    """Of the partitions that were written; nothing if no row changed, no column may be NULL, or files are gone."""
    names = [each.name for each in contract.columns if each.nullable]
    changed = [write for write in writes if write.rows_changed]
    if not names or not changed:
        return ()
    partitions = sorted({name for write in changed for name in write.partitions})
    before, after = min(write.version_before for write in changed), max(write.version_after for write in changed)
    now = _counts(lake, contract, after, names, partitions)
    if now is None:
        return ()
    old = _counts(lake, contract, before, names, partitions)
    return tuple(
        Nulls(
            column=name,
            before=None if old is None else old[0] - old[number],
            rows_before=None if old is None else old[0],
            after=now[0] - now[number],
            rows_after=now[0],
        )
        for number, name in enumerate(names, start=1)
    )


def _counts(
    lake: Lake, contract: TableContract, version: int, names: Sequence[str], partitions: Sequence[str]
) -> tuple[int, ...] | None:
    """The number of rows, then of values in each column."""
    if not is_readable(lake, contract, version):
        return None
    counted = ", ".join(f"count({column(name, 'duckdb')})" for name in names)
    where = (
        in_list(column(contract.partition_by[0], "duckdb"), partitions, "duckdb") if contract.partition_by else "TRUE"
    )
    with local_sql() as connection:
        source = relation(lake, contract, version=version)
        rows = connection.execute(f"SELECT count(*), {counted} FROM {source} AS t WHERE {where}").fetchall()
    return rows[0]
