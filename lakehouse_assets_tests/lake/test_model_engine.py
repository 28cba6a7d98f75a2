"""The models that come along give the same rows in DuckDB as on Spark, whatever the rows they are given."""

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.contracts.schemas import arrow_type
from lakehouse_assets.contracts.table import Column, TableContract
from lakehouse_assets.core.settings import DEFAULT_MODELS
from lakehouse_assets.lake.model_engine import EngineName, Question, answer
from lakehouse_assets.lake.model_inputs import Given, Relations, Stored
from lakehouse_assets.lake.model_tables import row_types
from lakehouse_assets.lake.rows import conform
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.models.files import files_in
from lakehouse_assets.models.meaning import Meaning
from lakehouse_assets.models.project import load_project
from lakehouse_assets_tests.support.writes import THINGS, table_of, thing, write

DEFAULT = load_project(files_in(DEFAULT_MODELS), CATALOG)
_TEXTS = {
    "kind": ["CALL", "IMPORT", "OVERRIDES", "function", "class", "If", "FunctionDef", "first_party"],
    "change": ["removed", "added", "signature_changed", "moved", "body_changed"],
    "external": [None, None, None, "os.path"],
    "via": ["own", "star"],
}


def value(column: Column, chance: random.Random) -> Any:
    if column.nullable and chance.random() < 0.2:
        return None
    match column.type:
        case "int" | "bigint":
            return chance.randrange(6)
        case "boolean":
            return chance.random() < 0.5
        case "date":
            return chance.randrange(20_000)
        case "timestamp":
            return chance.randrange(10**15)
        case _:
            return chance.choice(_TEXTS.get(column.name, ["a", "b", "_c", "é"]))


def rows(contract: TableContract, chance: random.Random) -> pa.Table:
    made = {each.name: [value(each, chance) for _ in range(60)] for each in contract.columns}
    return pa.table({each.name: pa.array(made[each.name], arrow_type(each.type)) for each in contract.columns})


def made(meaning: Meaning, relations: Relations, engine: EngineName, spark: SparkSession) -> list[str]:
    question = Question(subject=meaning.name, sql=meaning.sql, relations=relations)
    with answer(Lake(Path("/nowhere")), question, engine, lambda: spark) as found:
        table = found if isinstance(found, pa.Table) else found.toArrow()
    types = row_types(meaning, table.schema)
    columns = tuple(Column(name=name, type=kind, description="") for name, kind in types.items())
    return sorted(f"{types} {row}" for row in conform(table, columns).to_pylist())


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(DEFAULT.meanings))
def test_both_engines_give_the_same_rows_and_types(name: str, spark: SparkSession):
    meaning = DEFAULT.meanings[name]
    for seed in range(3):
        chance = random.Random(f"{name} {seed}")
        relations = {each: Given(rows=rows(CATALOG[each], chance)) for each in meaning.inputs}
        here = made(meaning, relations, "duckdb", spark)
        assert here == made(meaning, relations, "spark", spark)


@pytest.mark.slow
def test_both_engines_read_repositories_at_versions_of_their_own(lake: Lake, spark: SparkSession):
    for number, size in enumerate((1, 2)):
        rows = [thing(repo, "a.py", "x", size) for repo in ("a", "b", "c")]
        write(
            lake, THINGS, table_of(THINGS, rows), partitions=["a", "b", "c"], run_id=f"run {number}", cursor=str(size)
        )
    newest = lake.open(THINGS).version()
    stored = Stored(contract=THINGS, version=newest, apart={"a": newest - 1, "c": -1})
    question = Question(subject="things", sql="SELECT repo, size FROM things", relations={"things": stored})
    for engine in ("duckdb", "spark"):
        with answer(lake, question, engine, lambda: spark) as found:
            told: pa.Table = found if isinstance(found, pa.Table) else found.toArrow()
        assert sorted((row["repo"], row["size"]) for row in told.to_pylist()) == [("a", 1), ("b", 2)], engine
