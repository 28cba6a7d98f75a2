"""Queries of many shapes over two small tables, and their rows: for what has to hold whatever a query looks like.

A query is a text with holes, each a place where a number stands; filled with other numbers it is the same query with
one thing changed. All give the columns `repo`, `path`, `a` and `b`, and leave no row to chance.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import pyarrow as pa
from hypothesis import strategies as st

from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.local_sql import local_sql
from lakehouse_assets.models.meaning import Meaning
from lakehouse_assets.models.query import runnable
from lakehouse_assets_tests.support.models import FILES

HOLE = "⟨⟩"
NOTES = TableContract(
    name="notes",
    description="One row per note; not partitioned.",
    columns=tuple(column for column in FILES.columns if column.name in ("repo", "path", "size")),
    key=("repo", "path"),
    strategy="upsert",
)
READ = {FILES.name: FILES, NOTES.name: NOTES}

_NUMBERS = [f"{{0}} + {HOLE}", "{0}", f"CASE WHEN {{1}} > {HOLE} THEN {{0}} ELSE 0 END", "COALESCE({0}, {1}, 0)"]
_ROWS = [
    *((repo, path, size, lines) for repo, path in (("x", "p"), ("x", "q"), ("y", "p")) for size, lines in ((1, 2),)),
    *(("x", "r", 2, 1), ("y", "q", None, 3), ("y", "s", 3, None), ("z", "p", 2, 2), ("z", "t", 1, 1)),
]


def _leaf(table: str) -> st.SearchStrategy[str]:
    one, other = ("size", "lines") if table == "files" else ("size", "size")
    number = st.sampled_from(_NUMBERS).map(lambda text: text.format(f"t.{one}", f"t.{other}"))
    return st.builds(
        lambda a, b, where: f"SELECT t.repo, t.path, {a} AS a, {b} AS b FROM {table} AS t{where}",
        number,
        number.map(lambda text: text.replace(one, "#").replace(other, one).replace("#", other)),
        st.sampled_from(["", f" WHERE t.{one} > {HOLE}", f" WHERE t.{one} > {HOLE} OR t.{other} IS NULL"]),
    )


_ON = ["t.path = u.path", "t.repo = u.repo", "t.repo = u.repo AND t.path = u.path", f"t.repo = u.repo AND t.a > {HOLE}"]
_ALONE = [
    f"SELECT t.repo, t.path, t.a + {HOLE} AS a, t.b AS b FROM ({{0}}) AS t WHERE t.b > {HOLE}",
    "SELECT * FROM ({0}) AS t",
    f"SELECT DISTINCT t.repo, t.path, t.a, t.b + {HOLE} AS b FROM ({{0}}) AS t",
    "SELECT t.repo, t.path, 0 AS a, t.b FROM (SELECT DISTINCT repo, path, a, b FROM ({0}) AS v) AS t",
    f"SELECT t.repo, MAX(t.path) AS path, COUNT(*) AS a, MAX(t.b) + {HOLE} AS b FROM ({{0}}) AS t GROUP BY t.repo",
    f"SELECT MIN(t.repo) AS repo, t.path, SUM(t.a) AS a, {HOLE} AS b FROM ({{0}}) AS t GROUP BY t.path",
    f"SELECT repo, path, a, MAX(b) AS b FROM ({{0}}) AS t GROUP BY ALL HAVING MAX(b) > {HOLE}",
    f"SELECT MAX(repo) AS repo, MIN(path) AS path, COUNT(*) AS a, MAX(b) + {HOLE} AS b FROM ({{0}}) AS t",
    "SELECT repo, path, ROW_NUMBER() OVER (PARTITION BY repo ORDER BY path, a, b) AS a, b FROM ({0}) AS t",
    f"SELECT repo, path, COUNT(*) OVER (PARTITION BY a + {HOLE}) AS a, b FROM ({{0}}) AS t",
    f"SELECT repo, path, a, b FROM ({{0}}) AS t QUALIFY RANK() OVER (PARTITION BY repo ORDER BY a + {HOLE} * b) = 1",
    f"SELECT * FROM ({{0}}) AS t ORDER BY repo, path, a + {HOLE}, b LIMIT 4",
    "SELECT * FROM ({0}) AS t ORDER BY a, b, path, repo OFFSET 2",
    "SELECT repo, path, (SELECT MAX(u.a) FROM ({0}) AS u WHERE u.repo = t.repo) AS a, size AS b FROM files AS t",
    "WITH w AS ({0}) SELECT w.repo, w.path, w.a, v.b FROM w JOIN w AS v ON v.path = w.path AND v.repo = w.repo",
    "WITH files AS ({0}) SELECT files.repo, files.path, files.a, files.b FROM files WHERE files.a > 0",
]
_TWO = [
    *(f"SELECT t.repo, t.path, t.a, u.b FROM ({{0}}) AS t {{2}} JOIN ({{1}}) AS u ON {on}" for on in _ON),
    f"SELECT u.repo, t.path, t.a, u.b FROM ({{0}}) AS t, ({{1}}) AS u WHERE t.repo = u.repo AND u.a > {HOLE}",
    *(f"SELECT t.* FROM ({{0}}) AS t WHERE EXISTS (SELECT 1 FROM ({{1}}) AS u WHERE {on} AND u.b > t.a)" for on in _ON),
    "SELECT t.* FROM ({0}) AS t WHERE NOT t.path IN (SELECT u.path FROM ({1}) AS u WHERE u.repo = t.repo)",
    "SELECT t.* FROM ({0}) AS t WHERE t.a IN (SELECT u.b FROM ({1}) AS u)",
    *("({0}) UNION ALL ({1})", "({0}) UNION ({1})", "({0}) EXCEPT ({1})", "({0}) INTERSECT ({1})"),
]


def _reading(table: str) -> st.SearchStrategy[str]:
    """Queries that read some of the columns that all queries give."""
    blanks = {"repo": "'-'", "path": "'-'", "a": "0", "b": "0"}
    choice = st.tuples(*(st.sampled_from([f"t.{name}", blank]) for name, blank in blanks.items()))
    return choice.map(lambda reads: f"SELECT {_named(reads)} FROM {table} AS t")


def _named(values: Sequence[str]) -> str:
    return ", ".join(f"{value} AS {name}" for value, name in zip(values, ("repo", "path", "a", "b"), strict=True))


def queries(over: str | None = None) -> st.SearchStrategy[str]:
    """Texts with holes: over the two tables, or over another query's rows, of which they may leave columns unread."""
    sides = st.sampled_from(["", "LEFT", "RIGHT", "FULL"])
    return st.recursive(
        _reading(over) if over else _leaf("files") | _leaf("notes"),
        lambda inner: (
            st.builds(lambda shape, one: shape.format(one), st.sampled_from(_ALONE), inner)
            | st.builds(
                lambda shape, one, two, side: shape.format(one, two, side), st.sampled_from(_TWO), inner, inner, sides
            )
        ),
        max_leaves=4,
    )


def filled(text: str, changed: int | None = None) -> str:
    """The text with 1 in every hole, and 2 in the one of that number, counted round."""
    parts = text.split(HOLE)
    holes = len(parts) - 1
    numbers = ["2" if changed is not None and i == changed % max(holes, 1) else "1" for i in range(holes)]
    return "".join(part + number for part, number in zip(parts, [*numbers, ""], strict=True))


def rows_of(
    meanings: Mapping[str, Meaning], name: str, repos: Sequence[str] | None = None
) -> Counter[tuple[object, ...]]:
    """What a model gives over the rows of these repositories in `files`, and over all notes; its columns by name."""
    files = [(*row, None, None) for row in _ROWS if repos is None or row[0] in repos]
    with local_sql() as connection:
        connection.register("files", _table(FILES, files))
        connection.register("notes", _table(NOTES, [row[:3] for row in _ROWS[2:]]))
        for each, meaning in meanings.items():
            known = {table: table for table in (*READ, *meanings)}
            connection.execute(f"CREATE TEMP VIEW {each} AS {runnable(meaning.sql, known, dialect='duckdb')}")
        columns = ", ".join(sorted(meanings[name].columns))
        return Counter(connection.execute(f"SELECT {columns} FROM {name}").fetchall())


def _table(contract: TableContract, rows: Sequence[tuple[object, ...]]) -> pa.Table:
    schema = arrow_schema(contract.columns)
    return pa.table({each.name: [row[i] for row in rows] for i, each in enumerate(schema)}, schema=schema)
