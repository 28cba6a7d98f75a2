"""What a stream brings into a table, over restarts."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from lakehouse_assets.contracts.quarantine import QUARANTINE
from lakehouse_assets.contracts.table import Column, TableContract
from lakehouse_assets.contracts.writes import WRITES
from lakehouse_assets.core.errors import LakehouseError
from lakehouse_assets.lake.stream_files import UNREAD, FileSource
from lakehouse_assets.lake.streams import Stream, TableSource, run_stream
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.writes import THINGS, rows_of, table_of, thing, write

READINGS = TableContract(
    name="readings",
    description="One row per reading.",
    columns=(
        Column(name="id", type="bigint", description="Number of the reading."),
        Column(name="value", type="double", nullable=True, description="What was read."),
        Column(name="at", type="bigint", nullable=True, description="When."),
    ),
    key=("id",),
    strategy="upsert",
)
COPY = TableContract(
    name="copy", description="The same things.", columns=THINGS.columns, key=THINGS.key, strategy="upsert"
)


def arrive(folder: Path, name: str, *rows: dict[str, Any]) -> None:
    """A file turns up whole, as files should."""
    folder.mkdir(exist_ok=True)
    waiting = folder.with_name(f"{name}.waiting")
    waiting.write_text("".join(json.dumps(row) + "\n" for row in rows))
    waiting.rename(folder / name)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "in"


@pytest.fixture
def readings(folder: Path) -> Stream:
    return Stream(source=FileSource(path=str(folder), format="json"), contract=READINGS)


def test_files_are_taken_once_however_often_the_stream_runs(
    spark: SparkSession, lake: Lake, folder: Path, readings: Stream, tmp_path: Path
):
    arrive(folder, "1.json", {"id": 1, "value": 1.5}, {"id": 2, "value": None})
    first = run_stream(spark, lake, readings, tmp_path / "checkpoint")
    assert (first.batches, first.inserted) == (1, 2)
    assert run_stream(spark, lake, readings, tmp_path / "checkpoint").batches == 0
    arrive(folder, "2.json", {"id": 2, "value": 7.0}, {"id": 3, "value": 3.0})
    second = run_stream(spark, lake, readings, tmp_path / "checkpoint")
    assert (second.inserted, second.updated) == (1, 1)
    assert [(row["id"], row["value"]) for row in rows_of(lake, READINGS)] == [(1, 1.5), (2, 7.0), (3, 3.0)]


def test_a_batch_that_was_written_before_its_checkpoint_heard_of_it_is_not_written_twice(
    spark: SparkSession, lake: Lake, folder: Path, readings: Stream, tmp_path: Path
):
    arrive(folder, "1.json", {"id": 1, "value": 1.5})
    run_stream(spark, lake, readings, tmp_path / "checkpoint")
    version = lake.open(READINGS).version()
    # As a kill leaves it between the write and the note of the batch's end.
    for note in (tmp_path / "checkpoint" / "commits").iterdir():
        note.unlink()
    again = run_stream(spark, lake, readings, tmp_path / "checkpoint")
    assert again.batches == 1
    assert lake.open(READINGS).version() == version
    assert len(rows_of(lake, READINGS)) == 1


@pytest.mark.slow
def test_a_lost_checkpoint_starts_over_and_changes_nothing_that_is_equal(
    spark: SparkSession, lake: Lake, folder: Path, readings: Stream, tmp_path: Path
):
    arrive(folder, "1.json", {"id": 1, "value": 1.5})
    run_stream(spark, lake, readings, tmp_path / "checkpoint")
    again = run_stream(spark, lake, readings, tmp_path / "another")
    assert (again.rows, again.inserted, again.updated) == (1, 0, 0)


def test_the_newest_of_several_rows_of_a_key_counts(
    spark: SparkSession, lake: Lake, folder: Path, readings: Stream, tmp_path: Path
):
    arrive(folder, "1.json", {"id": 1, "value": 1.0, "at": 2}, {"id": 1, "value": 2.0, "at": 1})
    with pytest.raises(LakehouseError, match="key"):
        run_stream(spark, lake, readings, tmp_path / "refused")
    ordered = Stream(source=readings.source, contract=READINGS, newest_by="at")
    run_stream(spark, lake, ordered, tmp_path / "checkpoint")
    assert [row["value"] for row in rows_of(lake, READINGS)] == [1.0]


def test_a_row_that_is_older_than_the_table_s_does_not_overwrite_it_however_late_its_file_comes(
    spark: SparkSession, lake: Lake, folder: Path, readings: Stream, tmp_path: Path
):
    ordered = replace(readings, newest_by="at")
    files = [
        [{"id": 1, "value": 5.0, "at": 5}, {"id": 2, "value": 1.0, "at": None}],
        [{"id": 1, "value": 3.0, "at": 3}, {"id": 2, "value": 2.0, "at": 2}, {"id": 3, "value": 9.0, "at": 9}],
        [{"id": 1, "value": 0.0, "at": None}, {"id": 2, "value": 2.5, "at": 2}, {"id": 3, "value": 8.0, "at": 8}],
        [{"id": 1, "value": 6.0, "at": 6}],
    ]
    expected: dict[int, tuple[int, float]] = {}
    for number, rows in enumerate(files):
        arrive(folder, f"{number}.json", *rows)
        run_stream(spark, lake, ordered, tmp_path / "checkpoint")
        for row in rows:
            moment = -1 if row["at"] is None else row["at"]
            if moment >= expected.get(row["id"], (-2, 0.0))[0]:
                expected[row["id"]] = (moment, row["value"])
        assert {row["id"]: row["value"] for row in rows_of(lake, READINGS)} == {
            key: value for key, (_, value) in expected.items()
        }
    # All files at once, as after a lost checkpoint, leave the same rows.
    assert run_stream(spark, lake, ordered, tmp_path / "another").updated == 0
    arrive(folder, "tie.json", {"id": 4, "value": 1.0, "at": 1}, {"id": 4, "value": 2.0, "at": 1})
    with pytest.raises(LakehouseError, match="key"):
        run_stream(spark, lake, ordered, tmp_path / "checkpoint")


@pytest.mark.parametrize("kind", ["json", "csv"])
def test_a_line_that_does_not_fit_its_columns_is_refused_or_set_aside_with_its_text(
    kind: Any, spark: SparkSession, lake: Lake, folder: Path, tmp_path: Path
):
    lines = {
        "json": [
            '{"id": 1, "value": 1.5, "at": 1}',
            '{"id": 2, "value": "warm", "at": 2}',
            '{"id": 3, "value": 2.5, "at": 12345678901234567890123}',
            '{"id": 4, "value": 3.5, "at": 4.75}',
            '{"id": 5, "value": ',
            '{"id": 6, "value": null}',
        ],
        "csv": ["1,1.5,1", "2,warm,2", "3,2.5,12345678901234567890123", "4,3.5,4.75", "5", "6,,"],
    }[kind]
    folder.mkdir()
    (folder / f"1.{kind}").write_text("\n".join(lines) + "\n")
    stream = Stream(source=FileSource(path=str(folder), format=kind), contract=READINGS)
    with pytest.raises(LakehouseError, match="4 rows") as refused:
        run_stream(spark, lake, stream, tmp_path / "refused")
    assert lines[1] in str(refused.value)
    assert f"1.{kind}" in str(refused.value)
    assert not lake.exists(READINGS)
    lenient = replace(READINGS, violations="quarantine")
    done = run_stream(spark, lake, replace(stream, contract=lenient), tmp_path / "checkpoint")
    assert (done.inserted, done.quarantined) == (2, 4)
    assert [(row["id"], row["value"], row["at"]) for row in rows_of(lake, READINGS)] == [(1, 1.5, 1), (6, None, None)]
    aside = lake.rows(QUARANTINE)
    assert {row["rule"] for row in aside} == {UNREAD}
    assert sorted(json.loads(row["row_json"])["line"] for row in aside) == sorted(lines[1:5])


def test_a_csv_whose_header_is_another_is_refused(spark: SparkSession, lake: Lake, folder: Path, tmp_path: Path):
    folder.mkdir()
    (folder / "1.csv").write_text("id,at,value\n1,2,3\n")
    source = FileSource(path=str(folder), format="csv", options={"header": "true"})
    with pytest.raises(LakehouseError, match=r"1\.csv"):
        run_stream(spark, lake, Stream(source=source, contract=READINGS), tmp_path / "checkpoint")
    (folder / "1.csv").write_text("id,value,at\n1,3,2\n")
    run_stream(spark, lake, Stream(source=source, contract=READINGS), tmp_path / "checkpoint")
    assert [(row["id"], row["value"], row["at"]) for row in rows_of(lake, READINGS)] == [(1, 3.0, 2)]


def test_the_text_of_a_bad_line_with_sensitive_columns_is_in_no_message_and_no_table(
    spark: SparkSession, lake: Lake, folder: Path, tmp_path: Path
):
    columns = tuple(replace(each, sensitive=each.name == "value") for each in READINGS.columns)
    contract = replace(READINGS, columns=columns)
    folder.mkdir()
    (folder / "1.json").write_text('{"id": 1, "value": "planted"}\n')
    source = FileSource(path=str(folder), format="json")
    with pytest.raises(LakehouseError, match=r"1\.json") as refused:
        run_stream(spark, lake, Stream(source=source, contract=contract), tmp_path / "refused")
    assert "planted" not in str(refused.value)
    lenient = replace(contract, violations="quarantine")
    assert run_stream(spark, lake, Stream(source=source, contract=lenient), tmp_path / "checkpoint").quarantined == 1
    assert "planted" not in str(lake.rows(QUARANTINE))


def test_a_stream_of_a_table_follows_its_changes_deletes_too(spark: SparkSession, lake: Lake, tmp_path: Path):
    stream = Stream(source=TableSource(path=lake.path(THINGS)), contract=COPY)
    write(lake, THINGS, table_of(THINGS, [thing("a", "x", "1"), thing("a", "y", "2", tags=["t"])]))
    assert run_stream(spark, lake, stream, tmp_path / "checkpoint").inserted == 2
    write(lake, THINGS, table_of(THINGS, [thing("a", "x", "1", 5)]), owners=("x",), run_id="2", cursor="c2")
    write(lake, THINGS, table_of(THINGS, [thing("a", "x", "1", 9)]), owners=("x", "y"), run_id="3", cursor="c3")
    write(lake, THINGS, table_of(THINGS, [thing("b", "z", "3")]), partitions=["b"], run_id="4")
    done = run_stream(spark, lake, stream, tmp_path / "checkpoint")
    assert (done.inserted, done.updated, done.deleted) == (1, 1, 1)
    assert rows_of(lake, COPY) == rows_of(lake, THINGS)
    assert run_stream(spark, lake, stream, tmp_path / "checkpoint").batches == 0


def test_a_write_that_is_refused_stops_the_stream_with_its_own_words_until_the_rows_are_mended(
    spark: SparkSession, lake: Lake, folder: Path, readings: Stream, tmp_path: Path
):
    arrive(folder, "1.json", {"id": None, "value": 1.0})
    arrive(folder, "2.json", {"id": 2, "value": 2.0})
    for _ in range(2):  # what was refused comes again first
        with pytest.raises(LakehouseError, match="id is NULL in 1 rows"):
            run_stream(spark, lake, readings, tmp_path / "checkpoint")
        assert not lake.exists(READINGS)
    arrive(folder, "1.json", {"id": 1, "value": 1.0})
    assert run_stream(spark, lake, readings, tmp_path / "checkpoint").inserted == 2


@pytest.mark.slow
def test_a_stream_that_runs_for_a_while_takes_what_comes_meanwhile(
    spark: SparkSession, lake: Lake, folder: Path, readings: Stream, tmp_path: Path
):
    arrive(folder, "1.json", {"id": 1, "value": 1.0})
    done = run_stream(spark, lake, readings, tmp_path / "checkpoint", seconds=3)
    assert done.inserted == 1
    assert lake.rows(WRITES)[0]["asset"] == "readings"
