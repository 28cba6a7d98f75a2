"""Two tables compared by key: of environments, at versions, or as they are; counts, and a few of the rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.lake.environment_reads import environment_relations
from lakehouse_assets.lake.known_tables import known_tables
from lakehouse_assets.lake.local_sql import user_sql
from lakehouse_assets.lake.model_audits import REDACTED
from lakehouse_assets.lake.model_engine import relations_sql
from lakehouse_assets.lake.model_inputs import Given, Relations, Stored, needed
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.lake.view_rows import ViewReader
from lakehouse_assets.plan.sql_text import name


@dataclass(frozen=True, kw_only=True)
class Side:
    """One of the tables: the relation it stands for, with those that it is made of, and what is known of its rows."""

    text: str
    table: str
    relations: Relations
    columns: tuple[str, ...]
    key: tuple[str, ...]
    sensitive: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class TableDiff:
    """Rows by what became of them from the first to the second, and the first few of each kind."""

    key: tuple[str, ...]
    only_first: int
    only_second: int
    changed: int
    equal: int
    columns_only_first: tuple[str, ...]
    columns_only_second: tuple[str, ...]
    changed_by_column: dict[str, int]
    samples: dict[str, list[dict[str, Any]]]


def table_diff(
    lake: Lake, first: str, second: str, *, views: ViewReader, on: Sequence[str] = (), limit: int = 5
) -> TableDiff:
    """Compare `ENVIRONMENT:NAME`, `NAME@VERSION` or `NAME` with another; `on` names the key where it is not known."""
    left, right = read_side(lake, first), read_side(lake, second)
    key = tuple(on) or left.key or right.key
    shared = [each for each in left.columns if each in right.columns]
    missing = [each for each in key if each not in shared]
    if not key or missing:
        raise BadInputError(
            subject=f"{first} and {second}",
            seen=f"both would need the column {', '.join(missing)}" if key else "it is not known what tells rows apart",
            why="rows are compared by key",
            remedy="name columns that both have with --on",
        )
    others = [each for each in shared if each not in key]
    asked = _questions(left, right, key, others, limit)
    with user_sql(lake.root) as connection:
        for prefix, side in (("a_", left), ("b_", right)):
            relations = views.settled(lake, side.relations)
            for each, what in relations.items():
                if isinstance(what, Given):
                    connection.register(f"{prefix}{each}", what.rows)
            for each, sql in relations_sql(lake, relations, prefix=prefix).items():
                connection.execute(f"CREATE TEMP VIEW {name(each, 'duckdb')} AS FROM {sql}")
        answers = {each: connection.sql(sql).to_arrow_table().to_pylist() for each, sql in asked.items()}
    (counts,), (by_column,) = answers.pop("counts"), answers.pop("by_column")
    hidden = left.sensitive | right.sensitive
    return TableDiff(
        key=key,
        only_first=counts["only_first"],
        only_second=counts["only_second"],
        changed=counts["changed"],
        equal=counts["total"] - counts["only_first"] - counts["only_second"] - counts["changed"],
        columns_only_first=tuple(each for each in left.columns if each not in shared),
        columns_only_second=tuple(each for each in right.columns if each not in shared),
        changed_by_column={each: count for each, count in by_column.items() if count and each in others},
        samples={kind: [_shown(row, hidden) for row in rows] for kind, rows in answers.items()},
    )


def _questions(left: Side, right: Side, key: Sequence[str], others: Sequence[str], limit: int) -> dict[str, str]:
    """The SQL of the counts and the samples, over both tables joined by key; `there` tells which of them has a row."""
    quoted = {each: name(each, "duckdb") for each in (*key, *others)}

    def differs(column: str) -> str:
        return f"a.{quoted[column]} IS DISTINCT FROM b.{quoted[column]}"

    def columns(side: str, names: Sequence[str], number: int = 0) -> list[str]:
        said = {each: name(f"{each} ({number})", "duckdb") if number else quoted[each] for each in names}
        return [f"{side}.{quoted[each]} AS {said[each]}" for each in names]

    sides = [
        f"(SELECT *, TRUE AS there FROM {name(prefix + side.table, 'duckdb')}) AS {alias}"
        for alias, prefix, side in (("a", "a_", left), ("b", "b_", right))
    ]
    joined = " AND ".join(f"a.{quoted[each]} IS NOT DISTINCT FROM b.{quoted[each]}" for each in key)
    both = f"{sides[0]} FULL JOIN {sides[1]} ON {joined}"
    changed = f"a.there AND b.there AND ({' OR '.join(map(differs, others)) or 'FALSE'})"
    by_column = [f"count(*) FILTER (a.there AND b.there AND {differs(each)}) AS {quoted[each]}" for each in others]
    pairs = [each for pair in zip(columns("a", others, 1), columns("b", others, 2), strict=True) for each in pair]
    end = f"ORDER BY ALL LIMIT {limit}"
    whole = (*key, *others)
    return {
        "counts": "SELECT count(*) FILTER (b.there IS NULL) AS only_first, "
        "count(*) FILTER (a.there IS NULL) AS only_second, "
        f"count(*) FILTER ({changed}) AS changed, count(*) AS total FROM {both}",
        "by_column": f"SELECT {', '.join(by_column)} FROM {both}" if others else "SELECT NULL AS nothing",
        "only_first": f"SELECT {', '.join(columns('a', whole))} FROM {both} WHERE b.there IS NULL {end}",
        "only_second": f"SELECT {', '.join(columns('b', whole))} FROM {both} WHERE a.there IS NULL {end}",
        "changed": f"SELECT {', '.join([*columns('a', key), *pairs])} FROM {both} WHERE {changed} {end}",
    }


def read_side(lake: Lake, text: str) -> Side:
    """What `ENVIRONMENT:NAME`, `NAME@VERSION` or `NAME` stands for."""
    environment, _, rest = text.rpartition(":")
    table, _, version = rest.partition("@")
    known: Relations
    if environment:
        known = environment_relations(lake, environment)
    else:
        known = {
            each: Stored(contract=contract, version=int(version) if version.isdecimal() else None)
            for each, contract in known_tables(lake).items()
            if lake.exists(contract)
        }
    if table not in known or (version and not version.isdecimal()):
        raise BadInputError(
            subject=f"table {text!r}",
            seen="there is none of that name",
            why="there is nothing to compare",
            remedy="write ENVIRONMENT:NAME, NAME@VERSION or NAME; see `lakehouse env show` and `lakehouse tables`",
        )
    what = known[table]
    assert not isinstance(what, Given)
    if isinstance(what, Stored):
        contract: TableContract = what.contract
        sensitive = frozenset(each.name for each in contract.stored_columns if each.sensitive)
        columns, key = tuple(each.name for each in contract.stored_columns), contract.key
    else:
        said = what.meaning.header
        sensitive = what.meaning.sensitive
        columns, key = tuple(what.meaning.columns), said.key
    relations = needed(known, (table,), known_tables(lake))
    return Side(text=text, table=table, relations=relations, columns=columns, key=key, sensitive=sensitive)


def _shown(row: dict[str, Any], hidden: frozenset[str]) -> dict[str, Any]:
    return {each: REDACTED if each.partition(" (")[0] in hidden else value for each, value in row.items()}
