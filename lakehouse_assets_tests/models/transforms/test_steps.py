"""Each transform on Spark, and what is refused before Spark is asked."""

import hashlib
from pathlib import Path

import pytest
import yaml
from pyspark.sql import SparkSession

from lakehouse_assets.contracts.table import Column, TableContract
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.models.project import load_project
from lakehouse_assets.models.transforms.base import Relation
from lakehouse_assets.models.transforms.docs import kinds, name_of, page
from lakehouse_assets.models.transforms.steps import STEPS, compile_steps, read_steps, relations_of
from lakehouse_assets_tests.models.transforms.cases import CASES, Case

SUBJECT = "model m"


def compiled(*steps: str, columns: str = "a b c", tables: dict[str, list[str]] | None = None) -> str:
    read = read_steps([yaml.safe_load(step) for step in steps], subject=SUBJECT)
    return compile_steps(Relation(name="t", columns=tuple(columns.split())), read, tables or {}, subject=SUBJECT).sql


def contract(name: str, schema: str) -> TableContract:
    columns = [each.strip().split(" ", 1) for each in schema.split(",")]
    return TableContract(
        name=name,
        description="Rows of a case.",
        columns=tuple(
            Column(name=each, type=kind, description="", nullable=place > 0)  # pyright: ignore[reportArgumentType]
            for place, (each, kind) in enumerate(columns)
        ),
        key=(columns[0][0],),
        strategy="upsert",
    )


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.step[:60])
def test_a_model_of_one_step_gives_these_rows_on_spark(case: Case, spark: SparkSession):
    tables = {**case.tables, "given": (case.schema, case.given)}
    text = yaml.safe_dump(
        {"materialization": "view", "from": "given", "steps": [yaml.safe_load(case.step)]}, sort_keys=False
    )
    contracts = {name: contract(name, schema) for name, (schema, _) in tables.items()}
    model = load_project({Path("m.model.yaml"): text}, contracts).meanings["m"]
    assert set(model.inputs) == set(tables)
    for name, (schema, rows) in tables.items():
        spark.createDataFrame(rows, schema).createOrReplaceTempView(name)
    try:
        found = spark.sql(model.sql)
        assert found.columns == list(model.columns)
        rows = [tuple(row.values()) for row in found.toArrow().to_pylist()]
    finally:
        for name in tables:
            spark.catalog.dropTempView(name)
    assert sorted(rows, key=repr) == sorted(_expected(case), key=repr)


def _expected(case: Case) -> list[tuple[object, ...]]:
    if "surrogate_key" not in case.step:
        return case.expected
    return [(a, b, hashlib.sha256(f"{len(a)}:{a},{len(b)}:{b}".encode()).hexdigest()) for a, b in case.given]


def test_every_transform_has_a_case():
    tried = {yaml.safe_load(case.step)["do"] for case in CASES}
    assert tried == {name_of(kind) for kind in kinds()}
    assert len(tried) >= 25


def test_a_rule_that_fails_the_run_names_itself(spark: SparkSession):
    spark.createDataFrame([(-1,)], "a int").createOrReplaceTempView("bad_rows")
    read = read_steps([{"do": "validate", "rules": {"positive": "a > 0"}}], subject=SUBJECT)
    query = compile_steps(Relation(name="bad_rows", columns=("a",)), read, {}, subject=SUBJECT)
    with pytest.raises(Exception, match="a row breaks the rule positive: a > 0"):
        spark.sql(query.sql).toArrow()
    spark.catalog.dropTempView("bad_rows")


def test_steps_follow_one_another():
    sql = compiled("{do: rename, columns: {a: x}}", "{do: filter, where: x > 1}", "{do: select, columns: [x]}")
    assert [line.split(" AS")[0] for line in sql.split("WITH ")[1].split("), ")] == ["step_1", "step_2", "step_3"]
    assert sql.endswith("SELECT `x` FROM `step_3`")


def test_no_steps_give_the_rows_as_they_are():
    assert compiled() == "SELECT `a`, `b`, `c` FROM `t`"


@pytest.mark.parametrize(
    ("step", "told"),
    [
        ("{do: renam, columns: {}}", "step 1"),
        ("{do: select, columns: []}", r"step 1 \(select.columns\)"),
        ("{do: select, columns: [a], more: 1}", "no such field"),
        ("{do: select, columns: [aa]}", "did you mean 'a'"),
        ("{do: rename, columns: {a: b}}", "two columns would be called 'b'"),
        ("{do: drop, columns: [a, b, c]}", "no column would be left"),
        ("{do: filter, where: 'a >'}", "no expression of Spark SQL"),
        ("{do: filter, where: 'a > 1 FROM secrets'}", "more than one expression"),
        ("{do: derive, columns: {x: 'a, b'}}", "more than one expression"),
        ("{do: derive, columns: {x: 'a; DROP TABLE t'}}", "more than one expression"),
        ("{do: derive, columns: {x: a AS y}}", "the expression alone"),
        ("{do: join, table: nobody, match: [a], columns: [x]}", "no table or model 'nobody'"),
        ("{do: join, table: known, match: [a], columns: [b]}", "a column 'b' already"),
        ("{do: extract, column: a, pattern: '(x)'}", "every group has to be named"),
        ("{do: bucket, column: a, edges: [2, 1], into: x}", "have to grow"),
    ],
)
def test_what_a_step_cannot_have_is_refused_before_anything_runs(step: str, told: str):
    with pytest.raises(BadInputError, match=told) as refused:
        compiled(step, tables={"known": ["a", "b"]})
    assert refused.value.subject == SUBJECT


def test_hostile_names_and_values_stay_names_and_values(spark: SparkSession):
    spark.createDataFrame([("x", 1)], "k string, `we``ird; --` int").createOrReplaceTempView("hostile")
    source = Relation(name="hostile", columns=("k", "we`ird; --"))
    steps = [
        {"do": "fill", "columns": {"k": "'); DROP TABLE t; --"}},
        {"do": "rename", "columns": {"we`ird; --": "a`b"}},
        {"do": "replace", "column": "k", "values": {"x": "back\\slash'quote"}},
    ]
    query = compile_steps(source, read_steps(steps, subject=SUBJECT), {}, subject=SUBJECT)
    assert spark.sql(query.sql).toArrow().to_pylist() == [{"k": "back\\slash'quote", "a`b": 1}]
    spark.catalog.dropTempView("hostile")


def test_steps_tell_what_else_they_read():
    steps = [{"do": "union", "tables": ["x", "y"]}, {"do": "exists", "table": "x", "match": ["a"]}]
    assert relations_of(read_steps(steps, subject=SUBJECT)) == ("x", "y")


@pytest.mark.parametrize("kind", kinds(), ids=name_of)
def test_the_example_of_each_transform_is_one(kind: type):
    (step,) = read_steps([yaml.safe_load(kind.example)], subject=SUBJECT)
    assert isinstance(step, kind)


def test_the_page_of_transforms_is_up_to_date():
    assert (Path(__file__).parents[3] / "docs" / "transforms.md").read_text() == page(), "run `make docs`"


def test_editors_get_a_schema_with_every_transform():
    names = {each["properties"]["do"]["const"] for each in STEPS.json_schema()["$defs"].values()}
    assert names == {name_of(kind) for kind in kinds()}
