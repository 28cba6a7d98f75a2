"""What is left to read follows from the stored key, part by part."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pyarrow as pa
import pytest

from lakehouse_assets.assets.git.work import changed_files, key_of, whole_batch, work_of
from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.core.diagnostics import collecting
from lakehouse_assets.lake.failed_partitions import FailedPartitions
from lakehouse_assets.lake.ledger import Entry, new_entry
from lakehouse_assets.plan.engine import Engine, EngineChoice
from lakehouse_assets.sources.head import Head, resolve_head
from lakehouse_assets.sources.reads import Reading, snapshots_of
from lakehouse_assets_tests.support.repos import RepoBuilder, registered

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ON_SPARK = object()
LOCAL = EngineChoice(engine="local", reason="two changed files")
READING = Reading(
    repository=registered("/nowhere"),
    git_dir=Path("/nowhere"),
    head=Head(commit_sha="c" * 40, tree_sha="d" * 40, ref="main"),
)


def entry(**parts: str) -> Entry:
    return replace(new_entry(key_of(COMMITS, READING), run_id="run"), **parts)


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        (None, "anew"),
        (entry(), "untouched"),
        (entry(cursor=""), "anew"),
        (entry(cursor="b" * 40), "onward"),
        (entry(cursor="b" * 40, code_version="x"), "anew"),
        (entry(cursor="b" * 40, settings_hash="x"), "anew"),
        (entry(cursor="b" * 40, policy_hash="x"), "anew"),
        (entry(cursor="b" * 40, input_versions='{"shallow":"x"}'), "anew"),
        (entry(code_version="x"), "anew"),
    ],
    ids=["never made", "equal", "removed", "commit", "code", "settings", "policy", "cut off elsewhere", "same commit"],
)
def test_only_another_commit_is_read_onward(stored: Entry | None, expected: str):
    work = work_of(COMMITS, [READING], {("commits", "repo"): stored} if stored else {}, "stale")
    found = {"anew": work.anew, "onward": work.onward, "untouched": work.untouched}
    assert [name for name, each in found.items() if each] == [expected]
    assert [reading.since for reading in work.onward] == (["b" * 40] if expected == "onward" else [])


def test_where_a_clone_is_cut_off_counts_for_its_history_alone():
    shallow = replace(READING, head=replace(READING.head, boundary="cut"))
    assert key_of(COMMITS, shallow).input_versions == '{"shallow":"cut"}'
    assert key_of(SNAPSHOTS, shallow) == key_of(SNAPSHOTS, READING)
    assert key_of(COMMITS, READING).input_versions == "{}"


@pytest.fixture
def reading(tmp_path: Path) -> Reading:
    repo = RepoBuilder(tmp_path / "r")
    old = repo.commit({f"{number}.py": "x" for number in range(5)})
    repo.commit({"0.py": "y", "1.py": None})
    repository = registered(repo.path)
    return Reading(repository=repository, git_dir=repo.path, head=resolve_head(repository, Path()), since=old)


def test_a_commit_that_is_gone_is_warned_of_and_read_as_a_whole(reading: Reading):
    with collecting() as told:
        onward, anew = changed_files([reading, replace(reading, since="1" * 40)], LOCAL, FailedPartitions())
    assert [each.paths for _, each in onward] == [("0.py", "1.py")]
    assert [each.since for each in anew] == ["1" * 40]
    assert [(each.level, each.subject) for each in told if each.level == "warning"] == [("warning", "repo")]
    assert "it is missing" in told[-1].message


def test_where_much_changed_all_is_read_as_a_whole(reading: Reading):
    assert changed_files([reading], replace(LOCAL, much_changed=True), FailedPartitions()) == ([], [reading])


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_a_repository_is_read_where_the_run_works(reading: Reading, engine: Engine):
    begun: list[str] = []

    def here(readings: Sequence[Reading]) -> Iterator[pa.RecordBatch]:
        begun.append("here")
        return snapshots_of(readings)

    (batch,) = whole_batch(
        SNAPSHOTS,
        [reading],
        here=here,
        on_spark=lambda _: cast("DataFrame", ON_SPARK),
        engine=replace(LOCAL, engine=engine),
        failed=FailedPartitions(),
    )
    assert (batch.rows is ON_SPARK) == (engine == "spark")
    assert begun == (["here"] if engine == "local" else [])


def test_nothing_to_read_is_no_batch():
    failed = FailedPartitions()
    assert whole_batch(SNAPSHOTS, [], here=snapshots_of, on_spark=_unread, engine=LOCAL, failed=failed) == ()


def _unread(_: Sequence[Reading]) -> "DataFrame":
    pytest.fail("read")
