"""Two lakes compared, row by row: is what grew by updates what a clean build gives?

Rows are counted by their hashes first, and only those whose counts differ are compared themselves: of millions of rows
that are all equal the hashes fit into memory where the rows do not, and comparing takes a tenth of the time.
"""

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from lakehouse_assets.contracts.definition_lifetimes import LIFE, SPAN
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.local_sql import local_sql
from lakehouse_assets.lake.scan import relation
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.sql_text import literal, name

_EXAMPLES = 5


@dataclass(frozen=True, kw_only=True)
class Difference:
    """How a repository's rows of a table differ: rows that only one of the lakes has, and the first of them."""

    table: str
    rows: int
    surplus: int
    """Rows that a clean build does not have."""
    lacking: int
    """Rows that only a clean build has."""
    owners: tuple[str, ...]
    """The first owners with a difference."""
    examples: tuple[dict[str, Any], ...]

    @property
    def is_there(self) -> bool:
        return bool(self.surplus or self.lacking)


def compare(
    grown: Lake,
    clean: Lake,
    contract: TableContract,
    repo: str,
    *,
    version: int | None = None,
) -> Difference:
    """The differences of one repository's rows, of those that grew at a version of the table; None for the present one.

    Of a table of lives the open ones are compared, but for when they began, which a clean build cannot know.
    """
    told = of_the_head(contract)
    columns = ", ".join(name(each, "duckdb") for each in told)
    where = f"repo = {literal(repo, 'duckdb')}" + ("" if told == contract.column_names else " AND removed_in IS NULL")
    with local_sql() as connection:
        return _difference(
            connection,
            contract,
            f"SELECT {columns} FROM {relation(grown, contract, version=version)} WHERE {where}",
            f"SELECT {columns} FROM {relation(clean, contract)} WHERE {where}",
        )


def of_the_head(contract: TableContract) -> tuple[str, ...]:
    """The columns that tell of the repository as it is, and not of how it came there."""
    history = {each.name for each in (*LIFE, *SPAN)}
    return tuple(each for each in contract.column_names if each not in history)


def compare_rows(contract: TableContract, held: pa.Table, clean: pa.Table) -> Difference:
    """The differences of some rows that the lake holds from what was made clean of the same files."""
    with local_sql() as connection:
        connection.register("held_rows", held)
        connection.register("clean_rows", clean.select(held.column_names))
        return _difference(connection, contract, "SELECT * FROM held_rows", "SELECT * FROM clean_rows")


def _difference(connection: Any, contract: TableContract, left: str, right: str) -> Difference:
    def rows(query: str) -> list[dict[str, Any]]:
        return connection.sql(query).to_arrow_table().to_pylist()

    def only(one: str, other: str) -> str:
        return f"({one}) EXCEPT ALL ({other})"

    def suspect(query: str) -> str:
        return f"SELECT * FROM ({query}) AS compared WHERE hash(compared) IN (FROM suspects)"

    count = rows(f"SELECT count(*) AS n FROM ({left})")[0]["n"]
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE suspects AS SELECT row FROM (SELECT hash(compared) AS row, 1 AS n "
        f"FROM ({left}) AS compared UNION ALL SELECT hash(compared), -1 FROM ({right}) AS compared) "
        f"GROUP BY row HAVING sum(n) <> 0"
    )
    surplus, lacking = only(suspect(left), suspect(right)), only(suspect(right), suspect(left))
    found = [rows(f"SELECT count(*) AS n FROM ({query})")[0]["n"] for query in (surplus, lacking)]
    examples: list[dict[str, Any]] = []
    owners: list[str] = []
    if any(found):
        examples = [
            {"only in": place, **row}
            for place, query in (("the lake", surplus), ("a clean build", lacking))
            for row in rows(f"SELECT * FROM ({query}) ORDER BY ALL LIMIT {_EXAMPLES}")
        ]
        if contract.owner:
            both = f"({surplus}) UNION ALL ({lacking})"
            listed = rows(f"SELECT DISTINCT {contract.owner} AS owner FROM ({both}) ORDER BY 1 LIMIT {_EXAMPLES}")
            owners = [row["owner"] for row in listed]
    return Difference(
        table=contract.name,
        rows=count,
        surplus=found[0],
        lacking=found[1],
        owners=tuple(owners),
        examples=tuple(examples),
    )
