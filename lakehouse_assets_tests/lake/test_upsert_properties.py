"""Random batches, one after the other: the model, delta-rs and Spark have to agree on everything they tell."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from lakehouse_assets.contracts.table import REPO, Column, ColumnType, Strategy, TableContract
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.row_hash import row_hash_sql, row_hashes
from lakehouse_assets.plan.scope import Scope, equal_scopes
from lakehouse_assets_tests.support.checked_writes import checked_write, counts_of, feed_between
from lakehouse_assets_tests.support.model_table import ModelTable
from lakehouse_assets_tests.support.places import local
from lakehouse_assets_tests.support.writes import table_of

pytestmark = pytest.mark.begins

_KINDS: tuple[ColumnType, ...] = (
    "bigint",
    "int",
    "double",
    "boolean",
    "date",
    "timestamp",
    "string",
    "array<string>",
    "binary",
)
VALUES: dict[ColumnType, tuple[Any, ...]] = {
    "bigint": (None, 0, -1, 2**63 - 1, -(2**63)),
    "int": (None, 0, 7, -(2**31)),
    "double": (None, 0.0, -0.0, math.nan, -1.5, math.inf, 5e-324),
    "boolean": (None, True, False),
    "date": (None, date(1, 1, 1), date(1969, 12, 31), date(2024, 2, 29), date(9999, 12, 31)),
    "timestamp": (
        None,
        datetime(1, 1, 1, tzinfo=UTC),
        datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
        datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    ),
    "string": (None, "", "a", "it's", "ünï→码😀", "x" * 70, "nul\0l"),
    "array<string>": (None, [], [""], [None], ["a", None], [None, "a"], ["ab", "c"], ["a", "bc"]),
    "binary": (None, b"", b"a", b"\0", b"\xff\0\xfe", b"x" * 70),
}

WIDE = TableContract(
    name="wide",
    description="One row per thing, with a column of each type.",
    columns=(
        REPO,
        Column(name="path", type="string", description="File that owns it."),
        Column(name="name", type="string", description="Its name."),
        *(
            Column(name=f"of_{kind.partition('<')[0]}", type=kind, nullable=True, description="A value.")
            for kind in _KINDS
        ),
    ),
    key=("repo", "path", "name"),
    owner="path",
    partition_by=("repo",),
    strategy="upsert",
)
REPOS, PATHS = ("a", "b", "c"), ("x.py", "y's.py", "z.py")


@dataclass(frozen=True, kw_only=True)
class Step:
    strategy: Strategy
    repos: tuple[str, ...]
    owners: tuple[str, ...] | None
    rows: tuple[dict[str, Any], ...]

    @property
    def scopes(self) -> dict[str, Scope]:
        return dict(zip(self.repos, equal_scopes("repo", self.repos), strict=True))


@st.composite
def steps(draw: st.DrawFn) -> Step:
    strategy: Strategy = draw(
        st.sampled_from(("upsert", "upsert", "replace_partitions", "append_new", "delete_matching"))
    )
    repos = draw(st.lists(st.sampled_from(REPOS), min_size=1, max_size=3, unique=True))
    owners = None
    if strategy != "replace_partitions":
        some = st.lists(st.sampled_from(PATHS), max_size=2, unique=True).map(lambda names: tuple(sorted(names)))
        owners = draw(st.none() | some)
    places = st.tuples(st.sampled_from(repos), st.sampled_from(owners or PATHS), st.sampled_from(("f", "g", "")))
    keys = draw(st.lists(places, max_size=8, unique=True))
    kinds = [(each.name, VALUES[each.type]) for each in WIDE.columns if each.nullable]
    rows = []
    for repo, path, name in keys:
        # Most values are NULL, so that rows are equal to what is there often enough.
        chosen = draw(st.sampled_from(kinds))
        values = {column: None for column, _ in kinds} | {chosen[0]: draw(st.sampled_from(chosen[1]))}
        rows.append({"repo": repo, "path": path, "name": name, **values})
    return Step(strategy=strategy, repos=tuple(repos), owners=owners, rows=tuple(rows))


@settings(max_examples=40, deadline=None)
@given(sequence=st.lists(steps(), min_size=1, max_size=4))
def test_random_batches_by_delta_rs_leave_what_the_model_says(
    tmp_path_factory: pytest.TempPathFactory, sequence: Sequence[Step]
):
    lake, model = Lake(tmp_path_factory.mktemp("lake")), ModelTable()
    for run, step in enumerate(sequence):
        checked_write(
            lake, model, WIDE, step.rows, scopes=step.scopes, strategy=step.strategy, owners=step.owners,
            run_id=f"run-{run}",
        )  # fmt: skip


@pytest.mark.slow
@settings(
    max_examples=3,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(sequence=st.lists(steps().filter(lambda step: len(step.rows) > 2), min_size=3, max_size=3))
def test_random_batches_by_workers_leave_what_the_model_says(
    tmp_path_factory: pytest.TempPathFactory, spark: SparkSession, sequence: Sequence[Step]
):
    lake, model = Lake(tmp_path_factory.mktemp("lake")), ModelTable()
    first = Step(strategy="upsert", repos=REPOS, owners=None, rows=tuple(_plain_rows()))
    for run, step in enumerate((first, *sequence)):
        checked_write(
            lake, model, WIDE, step.rows, scopes=step.scopes, strategy=step.strategy, owners=step.owners,
            run_id=f"run-{run}", spark=spark, by_workers=True,
        )  # fmt: skip


def _plain_rows() -> list[dict[str, Any]]:
    nothing = {each.name: None for each in WIDE.columns if each.nullable}
    return [{"repo": repo, "path": path, "name": "f", **nothing} for repo in REPOS for path in PATHS]


@settings(
    max_examples=4,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],  # shrinking by Spark takes longer than reading the sequence
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(sequence=st.lists(steps().filter(lambda step: len(step.rows) > 2), min_size=3, max_size=3))
def test_both_executors_write_the_same_rows_and_tell_the_same_of_them(
    tmp_path_factory: pytest.TempPathFactory, spark: SparkSession, sequence: Sequence[Step]
):
    lakes = {"delta-rs": Lake(tmp_path_factory.mktemp("lake")), "spark": Lake(tmp_path_factory.mktemp("lake"))}
    models = {executor: ModelTable() for executor in lakes}
    for run, step in enumerate(sequence):
        told: dict[str, Any] = {}
        for executor, lake in lakes.items():
            before = lake.open(WIDE).version() if lake.exists(WIDE) else -1
            done = checked_write(
                lake, models[executor], WIDE, step.rows, scopes=step.scopes, strategy=step.strategy,
                owners=step.owners, run_id=f"run-{run}", executor=executor, spark=spark,  # pyright: ignore[reportArgumentType]
            )  # fmt: skip
            feed = feed_between(local(lake.path(WIDE)), before)
            told[executor] = (counts_of(done), done.action, done.data_versions, feed)
        assert told["spark"] == told["delta-rs"]


def test_spark_and_python_hash_rows_of_all_types_alike(spark: SparkSession):
    chance = random.Random(4)
    columns = [each for each in WIDE.columns if each.nullable]
    rows = [{each.name: chance.choice(VALUES[each.type]) for each in columns} for _ in range(1_500)]
    rows += [
        {each.name: value if each is only else None for each in columns}
        for only in columns
        for value in VALUES[only.type]
    ]
    frame = spark.createDataFrame(table_of(WIDE, rows).select([each.name for each in columns]))
    by_spark = [row[0] % (1 << 64) for row in frame.selectExpr(row_hash_sql(columns)).collect()]
    assert by_spark == list(row_hashes(columns, [[row[each.name] for row in rows] for each in columns]))


def test_rows_that_differ_have_different_hashes():
    """Every value of every column, alone in its row; -0.0 is 0.0."""
    columns = [each for each in WIDE.columns if each.nullable]
    rows = [(each.name, value) for each in columns for value in VALUES[each.type][1:] if repr(value) != "-0.0"]
    hashes = list(row_hashes(columns, [[v if name == each.name else None for name, v in rows] for each in columns]))
    assert len(set(hashes)) == len(rows)


def test_the_order_of_columns_does_not_matter_to_a_hash():
    columns = [each for each in WIDE.columns if each.nullable]
    values = [[VALUES[each.type][-1]] for each in columns]
    assert list(row_hashes(columns, values)) == list(row_hashes(columns[::-1], values[::-1]))
    assert row_hash_sql(columns) == row_hash_sql(columns[::-1])
