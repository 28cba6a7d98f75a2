"""Losses that other write paths were seen to have, each as a test that must hold here."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from lakehouse_assets.contracts.table import Column, TableContract
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.scope import Equals, Scope, Window, equal_scopes
from lakehouse_assets.plan.write_plan import Executor
from lakehouse_assets_tests.support.checked_writes import checked_write, counts_of, feed_between, plain_rows
from lakehouse_assets_tests.support.model_table import Counts, ModelTable
from lakehouse_assets_tests.support.places import local
from lakehouse_assets_tests.support.shapes import SHAPES
from lakehouse_assets_tests.support.writes import THINGS, rows_of, table_of, thing, write

BOTH = pytest.mark.parametrize("executor", ["delta-rs", "spark"])
AWKWARD = (
    "it's",
    'say "so"',
    "back\\slash\\'",
    "ünï→码",
    "100% =/?#&",
    "two\nlines",
    "${spark.app.name}",
    "{batch}",
    "`",
)


def names_of(lake: Lake, contract: TableContract = THINGS) -> list[tuple[str, str]]:
    return [(row["repo"], row["name"]) for row in rows_of(lake, contract)]


@BOTH
def test_a_run_over_a_and_b_does_not_delete_c(lake: Lake, spark: SparkSession, executor: Executor):
    three = [thing(repo, "x.py", "f") for repo in "abc"]
    write(lake, THINGS, table_of(THINGS, three), partitions=["a", "b", "c"])
    two = [thing(repo, "x.py", "g") for repo in "ab"]
    for run, strategy in enumerate(("upsert", "replace_partitions")):
        write(
            lake, THINGS, table_of(THINGS, two), partitions=["a", "b"], strategy=strategy, run_id=f"{run}",
            executor=executor, spark=spark,
        )  # fmt: skip
        assert names_of(lake) == [("a", "g"), ("b", "g"), ("c", "f")]


def test_a_run_over_a_and_b_whose_batch_speaks_for_a_alone_is_refused(lake: Lake):
    from lakehouse_assets.lake.batch import Batch
    from lakehouse_assets.lake.upsert import UpsertService
    from lakehouse_assets_tests.support.writes import key, no_spark

    write(lake, THINGS, table_of(THINGS, [thing(repo, "x.py", "f") for repo in "ab"]), partitions=["a", "b"])
    batch = Batch(rows=table_of(THINGS, [thing("a", "x.py", "f")]), keys=(key("things", "a"),))
    scopes = dict(zip("ab", equal_scopes("repo", "ab"), strict=True))
    with pytest.raises(BadInputError, match=r"of partitions \['a'\], the run of \['a', 'b'\]"):
        UpsertService(lake, spark=no_spark).write(THINGS, batch, scopes, run_id="later")
    assert names_of(lake) == [("a", "f"), ("b", "f")]


@pytest.mark.parametrize("shape", SHAPES[3:], ids=lambda shape: shape.name)
def test_a_write_to_one_partition_of_any_type_leaves_the_others(lake: Lake, shape):
    """Integers, windows of dates and of moments, and two dimensions."""
    contract, model = shape.contract(), ModelTable()
    everything = [shape.row(place, "x.py", "f", 1) for place in shape.places]
    feed = not shape.feed_by_spark
    checked_write(
        lake, model, contract, everything, scopes=shape.every, strategy="upsert", run_id="0", compare_feed=feed
    )
    name = shape.run[0]
    for strategy in ("upsert", "replace_partitions"):
        done = checked_write(
            lake, model, contract, [], scopes={name: shape.every[name]}, strategy=strategy, run_id=strategy,
            compare_feed=feed,
        )  # fmt: skip
        assert len(model.rows) == len(plain_rows(local(lake.path(contract))))
    assert 0 < len(model.rows) < len(everything)
    assert done.rows_deleted == 0, "the first of the two deleted all that there was"


def test_not_matched_by_source_is_held_to_the_partition_and_to_the_owner(lake: Lake, spark: SparkSession):
    rows = [thing(repo, path, "f") for repo in "ab" for path in ("x.py", "y.py")]
    write(lake, THINGS, table_of(THINGS, rows), partitions=["a", "b"])
    empty = table_of(THINGS, [])
    done = write(lake, THINGS, empty, owners=("x.py",), run_id="owner", executor="spark", spark=spark)
    assert (done.action, done.rows_deleted) == ("merge", 1)
    assert [(row["repo"], row["path"]) for row in rows_of(lake, THINGS)] == [
        ("a", "y.py"),
        ("b", "x.py"),
        ("b", "y.py"),
    ]
    done = write(lake, THINGS, empty, run_id="partition", executor="spark", spark=spark)
    assert done.rows_deleted == 1
    assert names_of(lake) == [("b", "f"), ("b", "f")]


@pytest.mark.parametrize("on_spark", [False, True])
@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ([thing("a", None, "f")], r"path is NULL in 1 rows, such as \(repo='a', path=None, name='f'\)"),  # type: ignore[arg-type]
        ([thing("a", "x", "f"), thing("a", "x", "f", 2)], r"more than once in 1 rows, such as \(repo='a', path='x'"),
    ],
)
def test_null_and_duplicate_keys_are_refused_by_name(lake: Lake, spark: SparkSession, rows, complaint, on_spark):
    write(lake, THINGS, table_of(THINGS, [thing("a", "x.py", "f")]))
    table = table_of(THINGS, rows)
    with pytest.raises(BadInputError, match=complaint):
        write(lake, THINGS, spark.createDataFrame(table) if on_spark else table, run_id="later")
    assert names_of(lake) == [("a", "f")]


@BOTH
def test_awkward_texts_in_partitions_owners_and_keys_match_themselves_and_nothing_else(
    lake: Lake, spark: SparkSession, executor: Executor
):
    model = ModelTable()
    every: dict[str, Scope] = dict(zip(AWKWARD, equal_scopes("repo", AWKWARD), strict=True))
    first = [thing(repo, path, name) for repo in AWKWARD for path in AWKWARD for name in ("f", repo + path)]
    checked_write(
        lake,
        model,
        THINGS,
        first,
        scopes=every,
        strategy="upsert",
        run_id="0",
        executor=executor,
        spark=spark,
        feed_by=spark,
    )
    covered, owners = dict(list(every.items())[1:]), AWKWARD[:-1]
    second = [thing(repo, path, name + path, 2) for repo in covered for path in owners for name in ("g", repo)]
    done = checked_write(
        lake, model, THINGS, second, scopes=covered, strategy="upsert", owners=owners, run_id="1",
        executor=executor, spark=spark, feed_by=spark,
    )  # fmt: skip
    pairs = len(covered) * len(owners)
    assert counts_of(done) == Counts(inserted=pairs, updated=pairs, deleted=pairs)
    checked_write(
        lake, model, THINGS, second[:5], scopes={AWKWARD[1]: every[AWKWARD[1]]}, strategy="replace_partitions",
        run_id="2", executor=executor, spark=spark, feed_by=spark,
    )  # fmt: skip


PLACED = TableContract(
    name="placed",
    description="One row per thing, wherever it is.",
    columns=(
        Column(name="repo", type="string", description="Where it is."),
        Column(name="path", type="string", description="File that owns it."),
        Column(name="id", type="string", description="What it is, in all repositories."),
    ),
    key=("id",),
    owner="path",
    partition_by=("repo",),
    strategy="upsert",
)


def placed(repo: str, path: str, name: str) -> dict[str, Any]:
    return {"repo": repo, "path": path, "id": name}


@pytest.mark.parametrize("on_spark", [False, True])
@pytest.mark.parametrize("strategy", ["upsert", "append_new", "replace_partitions"])
def test_a_key_that_would_move_to_another_partition_is_refused_by_name(
    lake: Lake, spark: SparkSession, strategy, on_spark
):
    rows = [placed("a", "x.py", "1"), placed("a", "x.py", "2"), placed("b", "x.py", "3")]
    write(lake, PLACED, table_of(PLACED, rows), partitions=["a", "b"])
    moving = table_of(PLACED, [placed("b", "x.py", "1"), placed("b", "x.py", "3")])
    with pytest.raises(BadInputError, match=r"in another partition .* in 1 rows, such as \(id='1'\)"):
        write(
            lake, PLACED, spark.createDataFrame(moving) if on_spark else moving, partitions=["b"],
            strategy=strategy, run_id="later",
        )  # fmt: skip
    assert rows_of(lake, PLACED) == rows


def test_a_key_that_would_move_to_another_owner_is_refused_unless_both_are_replaced(lake: Lake):
    write(lake, PLACED, table_of(PLACED, [placed("a", "x.py", "1"), placed("a", "y.py", "2")]), partitions=["a"])
    moved = table_of(PLACED, [placed("a", "y.py", "1"), placed("a", "y.py", "2")])
    with pytest.raises(BadInputError, match=r"with another owner already in 1 rows, such as \(id='1'\)"):
        write(lake, PLACED, moved, partitions=["a"], owners=("y.py",), run_id="one owner")
    done = write(lake, PLACED, moved, partitions=["a"], owners=("x.py", "y.py"), run_id="both owners")
    assert counts_of(done) == Counts(updated=1, unchanged=1)
    assert [(row["id"], row["path"]) for row in rows_of(lake, PLACED)] == [("1", "y.py"), ("2", "y.py")]


@BOTH
def test_a_key_moves_between_partitions_that_one_run_covers(lake: Lake, spark: SparkSession, executor: Executor):
    model, scopes = ModelTable(), dict(zip("ab", equal_scopes("repo", "ab"), strict=True))
    for run_id, rows in (
        ("before", [placed("a", "x.py", "1"), placed("a", "x.py", "2"), placed("b", "x.py", "3")]),
        ("after", [placed("b", "x.py", "1"), placed("a", "x.py", "2"), placed("b", "x.py", "3")]),
    ):
        checked_write(
            lake, model, PLACED, rows, scopes=scopes, strategy="upsert", run_id=run_id, executor=executor, spark=spark
        )


@pytest.mark.parametrize("on_spark", [False, True])
def test_one_key_in_two_partitions_of_a_batch_is_a_duplicate(lake: Lake, spark: SparkSession, on_spark):
    rows = table_of(PLACED, [placed("a", "x.py", "1"), placed("b", "x.py", "1")])
    with pytest.raises(BadInputError, match=r"the key stands more than once in 1 rows, such as \(id='1'\)"):
        write(lake, PLACED, spark.createDataFrame(rows) if on_spark else rows, partitions=["a", "b"])
    assert not lake.exists(PLACED)


@pytest.mark.parametrize("on_spark", [False, True])
def test_a_row_of_an_owner_that_the_batch_does_not_name_is_refused(lake: Lake, spark: SparkSession, on_spark):
    """It would not be compared with what the table has of that owner, and so be inserted a second time."""
    write(lake, THINGS, table_of(THINGS, [thing("a", "y.py", "f")]))
    rows = table_of(THINGS, [thing("a", "y.py", "f", 2)])
    with pytest.raises(BadInputError, match=r"not of the batch's owners in 1 rows.*path='y.py'"):
        write(lake, THINGS, spark.createDataFrame(rows) if on_spark else rows, owners=("x.py",), run_id="later")
    assert len(rows_of(lake, THINGS)) == 1


def test_owners_do_not_go_with_whole_partitions_nor_with_a_table_that_has_none(lake: Lake):
    rows = table_of(THINGS, [thing("a", "x.py", "f")])
    with pytest.raises(BadInputError, match="Rows of all other owners would be deleted"):
        write(lake, THINGS, rows, owners=("x.py",), strategy="replace_partitions")
    with pytest.raises(BadInputError, match="the contract's owner is not set"):
        write(lake, replace(THINGS, owner=None), rows, owners=("x.py",))
    assert not lake.exists(THINGS)


@BOTH
def test_three_changed_rows_of_a_hundred_thousand_are_the_whole_change_feed(
    lake: Lake, spark: SparkSession, executor: Executor
):
    rows = [thing("a", f"{i % 100:02}.py", f"f{i}", i) for i in range(100_000)]
    first = write(lake, THINGS, table_of(THINGS, rows), executor="delta-rs")
    rows[7] = {**rows[7], "size": None}
    rows[50_000] = {**rows[50_000], "tags": ["t"]}
    gone = rows.pop()
    rows.append(thing("a", "new.py", "f"))
    model = ModelTable()
    done = write(lake, THINGS, table_of(THINGS, rows), run_id="2", executor=executor, spark=spark)
    assert counts_of(done) == Counts(inserted=1, updated=2, deleted=1, unchanged=99_997)
    feed = feed_between(local(lake.path(THINGS)), first.version_after)
    assert sorted((change, dict(row)["name"]) for change, row in feed.elements()) == [
        ("delete", repr(gone["name"])),
        ("insert", "'f'"),
        ("update_postimage", "'f50000'"),
        ("update_postimage", "'f7'"),
        ("update_preimage", "'f50000'"),
        ("update_preimage", "'f7'"),
    ]
    model.write(THINGS, rows, scopes=equal_scopes("repo", "a"), strategy="upsert")
    assert done.data_versions == {"a": model.data_version((Equals(column="repo", value="a"),))}


def test_windows_are_read_in_utc_wherever_the_machine_is(lake: Lake, monkeypatch: pytest.MonkeyPatch):
    import time

    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        contract = next(shape for shape in SHAPES if shape.name == "windows of moments").contract()
        start, end = datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 1, 2, tzinfo=UTC)
        row = {"at": start, "path": "x.py", "name": "f", "size": 1, "tags": None}
        scope: dict[str, Scope] = {"day": (Window(column="at", start=start, end=end),)}
        assert write(lake, contract, table_of(contract, [row]), partitions=scope).rows_inserted == 1
        with pytest.raises(BadInputError, match="outside the run's partitions in 1 rows"):
            write(lake, contract, table_of(contract, [{**row, "at": end}]), partitions=scope, run_id="late")
    finally:
        monkeypatch.undo()
        time.tzset()
    assert pa.types.is_timestamp(lake.read(contract).schema.field("at").type)
