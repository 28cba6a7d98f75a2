"""Contents that are stored are not read again, on either engine."""

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from lakehouse_assets.contracts.blobs import BLOBS
from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.lake.missing_contents import missing_here, missing_on_spark
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.writes import write


def files(*rows: tuple[str, str, str, int | None]) -> pa.Table:
    repo, sha, kind, size = zip(*rows, strict=True) if rows else ((), (), (), ())
    return pa.table({"repo": repo, "blob_sha": sha, "kind": kind, "size": pa.array(size, pa.int64())})


FILES = files(
    ("b", "3", "file", 1),
    ("b", "1", "file", 2),
    ("a", "1", "executable", 2),
    ("a", "2", "file", 3),
    ("a", "4", "symlink", 4),
    ("a", "5", "submodule", None),
)


def store(lake: Lake, *shas: str) -> None:
    rows = [{"blob_sha": sha, "size": 1, "encoding": "utf-8", "text": "x", "reason": None} for sha in shas]
    write(lake, BLOBS, pa.Table.from_pylist(rows, schema=arrow_schema(BLOBS.columns)), partitions={"": ()}, run_id="1")


def test_each_content_of_a_file_is_missing_once_with_the_first_repository_that_has_it(lake: Lake):
    assert missing_here(lake, FILES).to_pylist() == [
        {"blob_sha": "1", "repo": "a", "size": 2},
        {"blob_sha": "2", "repo": "a", "size": 3},
        {"blob_sha": "3", "repo": "b", "size": 1},
    ]
    assert not lake.exists(BLOBS)


@pytest.mark.parametrize("stored", [(), ("1", "3", "9")])
def test_both_engines_miss_the_same(lake: Lake, spark: SparkSession, stored: tuple[str, ...]):
    if stored:
        store(lake, *stored)
    for files in (FILES, FILES.slice(0, 1), FILES.slice(4)):
        found = missing_on_spark(spark, lake, files).toArrow().sort_by("blob_sha")
        assert found.to_pylist() == missing_here(lake, files).to_pylist()


def test_what_is_stored_is_not_missing(lake: Lake):
    store(lake, "1", "3", "9")
    assert missing_here(lake, FILES)["blob_sha"].to_pylist() == ["2"]
    assert missing_here(lake, FILES.slice(0, 1)).num_rows == 0


def test_contents_are_asked_for_by_name_and_no_others_are_read(lake: Lake, monkeypatch: pytest.MonkeyPatch):
    asked: list[str] = []
    read = Lake.read

    def noted(self: Lake, contract, *, columns=None, where="TRUE") -> pa.Table:
        asked.append(where)
        return read(self, contract, columns=columns, where=where)

    monkeypatch.setattr(Lake, "read", noted)
    missing_here(lake, FILES)
    missing_here(lake, FILES.slice(4))
    assert asked == ["\"blob_sha\" IN ('1', '2', '3')"]
