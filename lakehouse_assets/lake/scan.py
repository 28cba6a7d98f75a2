"""A table as a relation in DuckDB's SQL: its data files by name, read by DuckDB's own Parquet reader.

Invariant: the files are those of one version of the log, so that a query sees one commit. Columns and filters are
pushed into the files, and those of other partitions are not opened.
"""

from collections.abc import Sequence

from lakehouse_assets.contracts.table import ColumnType, TableContract
from lakehouse_assets.lake.log_range import data_files
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.scope import Scopes, scope_predicate
from lakehouse_assets.plan.sql_text import literal, name

_TYPES: dict[ColumnType, str] = {
    "string": "VARCHAR",
    "int": "INTEGER",
    "bigint": "BIGINT",
    "double": "DOUBLE",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMPTZ",
    "array<string>": "VARCHAR[]",
    "binary": "BLOB",
}


def relation(lake: Lake, contract: TableContract, *, version: int | None = None, scopes: Scopes = ()) -> str:
    """SQL for the table's rows, to stand behind FROM; without rows if the table was not made yet.

    With `scopes` only the files of these partitions are named, so that those of others need not be there any more.
    """
    files: list[str] = []
    if lake.exists(contract):
        table = lake.present(contract)
        if version is not None and version != table.version():
            table = lake.open(contract)
            table.load_as_version(version)
        # Not delta-rs's `file_uris`: these are addresses, in which a blank of a folder's name is escaped.
        files = [str(file) for file in data_files(table, lake.path(contract), contract, scopes)]
    rows = files_relation(contract, files)
    return f"(FROM {rows} WHERE {scope_predicate(scopes, 'duckdb')})" if scopes else rows


def files_relation(contract: TableContract, files: Sequence[str], *, also: tuple[str, ...] = ()) -> str:
    """SQL for the rows of some of a table's files, to stand behind FROM; `also` names columns beyond the contract."""
    names = [*(each.name for each in contract.stored_columns), *also]
    columns = ", ".join(name(each, "duckdb") for each in names)
    nulls = ", ".join(
        f"CAST(NULL AS {_TYPES[each.type]}) AS {name(each.name, 'duckdb')}" for each in contract.stored_columns
    )
    nothing = f"SELECT {nulls} WHERE FALSE"
    if not files:
        return f"({nothing})"
    listed = ", ".join(literal(file, "duckdb") for file in files)
    options = "union_by_name = true, hive_partitioning = false"
    if contract.partition_by:
        types = ", ".join(
            f"{literal(each, 'duckdb')}: {_TYPES[contract.column(each).type]}" for each in contract.partition_by
        )
        options = f"union_by_name = true, hive_partitioning = true, hive_types = {{{types}}}"
    # Files may be from before a column: it is then NULL.
    return f"(SELECT {columns} FROM ({nothing} UNION ALL BY NAME FROM read_parquet([{listed}], {options})))"
