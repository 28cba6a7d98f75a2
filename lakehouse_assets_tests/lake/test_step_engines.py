"""Every step that helps to make a table gives the same rows in this process and on Spark."""

from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from lakehouse_assets.contracts.links import LINKS
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.impact import impact_by
from lakehouse_assets.lake.local_engine import local_engine
from lakehouse_assets.lake.spark_engine import spark_engine
from lakehouse_assets.lake.step_engine import StepEngine
from lakehouse_assets.lake.steps import STEPS
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.relational_step import Made, Relation, RelationalStep
from lakehouse_assets_tests.support.worlds import World, publish
from lakehouse_assets_tests.support.writes import table_of, write

ROWS = 120
TEXTS = ("a", "b", "Ä\u2028", "", None)
WHEN = datetime(2024, 12, 31, 23, 59, 59, 999999, UTC)
SPECIAL: dict[str, tuple[Any, ...]] = {
    "kind": ("file", "CALL", "IMPORT", "INHERITS", "OVERRIDES", "REF", "function", "class"),
    "change": ("added", "removed", "signature_changed", "body_changed", "moved", "deleted", "modified", "renamed"),
    "distance": (0, 1, 2),
    "dst_n": (0, 0, 1),
    "repo": ("a", "b"),
    "dst_repo": ("a", "b", "b"),
    "external": (*[None] * 6, "requests"),
}
"""Values that queries look for, by column."""


def value(name: str, kind: str, row: int) -> Any:
    if name in SPECIAL:
        return SPECIAL[name][row % len(SPECIAL[name])]
    match kind:
        case "string":
            return TEXTS[(row + len(name)) % len(TEXTS)]
        case "int" | "bigint":
            return None if row % 5 == 4 else row % 3
        case "boolean":
            return (True, False, None)[row % 3]
        case "date":
            return date(2024, 1 + row % 3, 1)
        case "timestamp":
            return None if row % 7 == 6 else WHEN.replace(month=1 + row % 12, day=28)
        case "array<string>":
            return [["a"], ["b", "a"], []][row % 3]
        case "double":
            return row / 4
        case _:
            return None


def rows_of(relation: Relation) -> pa.Table:
    """Some rows of what a step reads; of a step those that it gives for some rows of its own."""
    if isinstance(relation, TableContract):
        columns = relation.columns
        made = [{each.name: value(each.name, each.type, row) for each in columns} for row in range(ROWS)]
        required = {*relation.key, *relation.partition_by}
        held = [row for row in made if all(row[name] is not None for name in required)]
        return table_of(relation, held)
    if isinstance(relation, Made):
        numbers = {"def_id": "bigint", "line": "int", "similarity": "int"}
        columns = {name: numbers.get(name, "string") for name in relation.sources}
        types: Mapping[str, pa.DataType] = {"bigint": pa.int64(), "int": pa.int32(), "string": pa.string()}
        return pa.table(
            {
                name: pa.array([value(name, kind, row) for row in range(ROWS)], types[kind])
                for name, kind in columns.items()
            }
        )
    with local_engine() as engine:
        first = relation[0] if isinstance(relation, tuple) else relation
        return engine.ask_arrow(first.text(given(engine, first)), **values_of(first))


def given(engine: StepEngine, step: RelationalStep) -> dict[str, str]:
    return engine.give({name: rows_of(relation) for name, relation in step.inputs.items()})


def values_of(step: RelationalStep) -> dict[str, str]:
    """With what an SQL text has to quote."""
    names = ("from_commit", "to_commit", "repo")
    return {name: f"{name} \\ 'quoted' \u2028" for name in names if f"${name}" in step.sql}


def rows_by(engine: StepEngine, step: RelationalStep) -> list[str]:
    return sorted(map(repr, engine.ask(step.text(given(engine, step)), **values_of(step))))


@pytest.mark.parametrize("name", [step.name for step in STEPS.values() if step.assets])
def test_a_step_gives_the_same_rows_on_both_engines(name: str, spark: SparkSession):
    step = STEPS[name]
    with local_engine() as local, spark_engine(spark) as remote:
        here = rows_by(local, step)
        assert here == rows_by(remote, step)
    assert here or name in WITHOUT_ROWS


WITHOUT_ROWS = frozenset({"callers_next", "importers_1", "importers_next", "impacted_callers", "impacted_importers"})
"""These rows lead to nothing that is not reached already; `change/test_impact.py` follows ways on both engines."""


def test_impact_is_the_same_on_both_engines(lake: Lake, spark: SparkSession):
    """With a graph before the update, and a table that was written to since the last publication."""
    before = (
        World().define("a.py", "a.py:f", "b.py", "b.py:g", "c.py:h").use("b.py:g", "a.py:f").use("c.py:h", "b.py:g")
    )
    publish(lake, before.imports_from("d.py", "a.py:f", "f"), "c1")
    after = World().define("a.py", "b.py", "b.py:g", "c.py:h").use("c.py:h", "b.py:g").change("a.py:f", "removed")
    publish(lake, after, "c2")
    tables = after.tables()
    write(lake, LINKS, tables[LINKS.name].slice(0, 0), partitions=("r",), run_id="not published")
    found: list[list[list[str]]] = []
    with local_engine() as local, spark_engine(spark) as remote:
        for engine in (local, remote):
            made = impact_by(engine, lake, "r", tables["diffs"], tables["file_changes"], from_commit="c1")
            assert made.notes == ()
            tables_made: list[Any] = [made.callers, made.importers, made.files]
            held = [each if isinstance(each, pa.Table) else each.toArrow() for each in tables_made]
            found.append([sorted(map(repr, each.to_pylist())) for each in held])
    assert found[0] == found[1]
    assert [len(each) for each in found[0]] == [2, 1, 4]
