"""Every way to partition × every strategy × every state of the table, against the model."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import pytest
from pyspark.sql import SparkSession

from lakehouse_assets.contracts.table import Column, Strategy, TableContract
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.write_plan import Executor
from lakehouse_assets_tests.support.checked_writes import checked_write, plain_rows
from lakehouse_assets_tests.support.model_table import ModelTable, in_scopes
from lakehouse_assets_tests.support.places import local
from lakehouse_assets_tests.support.shapes import SHAPES, Shape
from lakehouse_assets_tests.support.writes import table_of, write

State = Literal["no table", "an empty table", "the same schema", "a new column", "a removed column"]
STATES: tuple[State, ...] = ("no table", "an empty table", "the same schema", "a new column", "a removed column")


@dataclass(frozen=True, kw_only=True)
class Way:
    """A strategy, and what the batch is complete for."""

    name: str
    strategy: Strategy
    owners: tuple[str, ...] | None = None


WAYS = (
    Way(name="upsert of whole partitions", strategy="upsert"),
    Way(name="upsert of owners", strategy="upsert", owners=("x.py", "new.py")),
    Way(name="upsert of keys", strategy="upsert", owners=()),
    Way(name="replacement", strategy="replace_partitions"),
    Way(name="append of new keys", strategy="append_new"),
    Way(name="deletion", strategy="delete_matching"),
)
NOTE = Column(name="note", type="string", nullable=True, description="New in the contract.")


def before(shape: Shape) -> list[dict[str, Any]]:
    return [
        row
        for place in shape.places
        for row in (
            shape.row(place, "x.py", "same", 1, tags=["t"]),
            shape.row(place, "x.py", "changes", 1),
            shape.row(place, "x.py", "goes", None),
            shape.row(place, "y.py", "other", 4, tags=[]),
        )
    ]


def batch(shape: Shape, state: State) -> list[dict[str, Any]]:
    """One row as it was, one changed, one new, one of a new owner; two of the old ones are missing."""
    more = {"note": "n"} if state == "a new column" else {}
    places = [
        place
        for place in shape.places
        if in_scopes(dict(zip(shape.partition, place, strict=True)), shape.scopes.values())
    ]
    return [
        row
        for place in places
        for row in (
            shape.row(place, "x.py", "same", 1, tags=["t"]),
            shape.row(place, "x.py", "changes", None, **more),
            shape.row(place, "x.py", "comes", 5, tags=["t", ""]),
            shape.row(place, "new.py", "comes", 6, **more),
        )
    ]


def contract_in(shape: Shape, state: State) -> TableContract:
    contract = shape.contract()
    if state == "a new column":
        return replace(contract, columns=(*contract.columns, NOTE))
    if state == "a removed column":
        return replace(contract, columns=tuple(each for each in contract.columns if each.name != "size"))
    return contract


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Shape], Path]:
    """The lake with the table as it was before, made once for each shape."""
    made: dict[str, Path] = {}

    def lake_of(shape: Shape) -> Path:
        if shape.name not in made:
            made[shape.name] = tmp_path_factory.mktemp("filled") / "lake"
            rows = table_of(shape.contract(), before(shape))
            write(Lake(made[shape.name]), shape.contract(), rows, partitions=shape.every, run_id="before")
        return made[shape.name]

    return lake_of


def check(
    lake: Lake,
    filled: Callable[[Shape], Path],
    shape: Shape,
    way: Way,
    state: State,
    executor: Executor = "delta-rs",
    spark: SparkSession | None = None,
    *,
    again: bool = False,
    by_workers: bool = False,
) -> None:
    model = ModelTable()
    if state == "an empty table":
        lake.ensure(shape.contract())
    elif state != "no table":
        shutil.copytree(filled(shape), local(lake.root))
        model.write(shape.contract(), before(shape), scopes=shape.every.values(), strategy="upsert")
    contract = contract_in(shape, state)
    rows = [{name: row.get(name) for name in contract.column_names} for row in batch(shape, state)]
    for run_id in ("first", "again") if again else ("first",):
        checked_write(
            lake, model, contract, rows, scopes=shape.scopes, strategy=way.strategy, owners=way.owners, run_id=run_id,
            executor=executor, spark=spark, feed_by=spark if shape.feed_by_spark else None,
            compare_feed=spark is not None or not shape.feed_by_spark, by_workers=by_workers,
        )  # fmt: skip


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_delta_rs_leaves_the_table_as_the_model_says(
    lake: Lake, filled: Callable[[Shape], Path], shape: Shape, way: Way, state: State
):
    check(lake, filled, shape, way, state, again=state == "the same schema")


SPARK_CASES: tuple[tuple[str, str, State], ...] = (
    ("many partitions", "upsert of whole partitions", "a removed column"),
    ("a range of partitions", "replacement", "a new column"),
    ("an integer column", "upsert of owners", "the same schema"),
    ("windows of dates", "append of new keys", "a new column"),
    ("windows of moments", "upsert of whole partitions", "the same schema"),
    ("two dimensions", "upsert of keys", "a new column"),
)


@pytest.mark.parametrize(("shape_name", "way_name", "state"), SPARK_CASES)
def test_spark_leaves_the_table_as_the_model_says(
    lake: Lake, spark: SparkSession, filled: Callable[[Shape], Path], shape_name: str, way_name: str, state: State
):
    shape = next(shape for shape in SHAPES if shape.name == shape_name)
    way = next(way for way in WAYS if way.name == way_name)
    check(lake, filled, shape, way, state, executor="spark", spark=spark)


WORKER_CASES: tuple[tuple[str, str, State], ...] = (
    ("many partitions", "upsert of whole partitions", "no table"),
    ("many partitions", "upsert of whole partitions", "the same schema"),
    ("a range of partitions", "replacement", "a new column"),
    ("an integer column", "upsert of owners", "a removed column"),
    ("windows of dates", "append of new keys", "the same schema"),
    ("windows of moments", "upsert of whole partitions", "a new column"),
    ("two dimensions", "upsert of keys", "the same schema"),
    ("two dimensions", "deletion", "the same schema"),
)


@pytest.mark.parametrize(("shape_name", "way_name", "state"), WORKER_CASES)
def test_workers_leave_the_table_as_the_model_says(
    lake: Lake,
    spark: SparkSession,
    filled: Callable[[Shape], Path],
    shape_name: str,
    way_name: str,
    state: State,
):
    shape = next(shape for shape in SHAPES if shape.name == shape_name)
    way = next(way for way in WAYS if way.name == way_name)
    check(lake, filled, shape, way, state, spark=spark, by_workers=True)


@pytest.mark.parametrize(
    ("shape", "way"),
    [*((shape, WAYS[0]) for shape in SHAPES), *((SHAPES[-1], way) for way in WAYS[1:])],
    ids=lambda each: each.name,
)
def test_a_column_of_another_type_is_refused_and_the_table_stays(
    lake: Lake, filled: Callable[[Shape], Path], shape: Shape, way: Way
):
    shutil.copytree(filled(shape), local(lake.root))
    version, held = lake.open(shape.contract()).version(), plain_rows(local(lake.path(shape.contract())))
    changed = tuple(replace(each, type="string") if each.name == "size" else each for each in shape.contract().columns)
    contract = replace(shape.contract(), columns=changed)
    rows = [{**row, "size": "large"} for row in batch(shape, "the same schema")]
    with pytest.raises(BadInputError, match="size is bigint in the table instead of string"):
        write(
            lake, contract, table_of(contract, rows), partitions=shape.scopes, strategy=way.strategy,
            owners=way.owners, run_id="later",
        )  # fmt: skip
    assert lake.open(contract).version() == version
    assert plain_rows(local(lake.path(contract))) == held
