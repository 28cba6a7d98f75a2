"""Two writers at once, ten rounds: every row once, and the table as if one had come after the other."""

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from lakehouse_assets.contracts.quarantine import QUARANTINE
from lakehouse_assets.contracts.writes import WRITES
from lakehouse_assets.lake.ledger import Ledger
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.row_hash import content_of
from lakehouse_assets_tests.faults.conftest import FaultNamed
from lakehouse_assets_tests.support.write_once import Write, carry_out, finish, start
from lakehouse_assets_tests.support.writes import THINGS, rows_of, thing

ROUNDS = 10
Told = list[dict[str, Any]]


def in_processes(tmp_path: Path, first: list[Write], second: list[Write]) -> tuple[Told, Told]:
    """Carry out both lists at once, round by round, in a process each."""
    meeting = tmp_path / "meeting"
    meeting.mkdir()
    processes = [start(writes, name=name, meeting=meeting) for name, writes in (("one", first), ("two", second))]
    ends = [finish(process) for process in processes]
    for code, _, complaints in ends:
        assert code == 0, complaints
    return ends[0][1], ends[1][1]


def in_threads(tmp_path: Path, first: list[Write], second: list[Write]) -> tuple[Told, Told]:
    """The same in two threads of this process."""
    meeting = threading.Barrier(2)

    def run(writes: list[Write]) -> Told:
        done: Told = []
        for each in writes:
            meeting.wait(60)
            report = carry_out(each)
            done.append({"action": report.action, "version": report.version_after})
        return done

    with ThreadPoolExecutor(2) as pool:
        one, two = pool.submit(run, first), pool.submit(run, second)
        return one.result(), two.result()


AT_ONCE = pytest.mark.parametrize("at_once", [in_processes, in_threads])
AtOnce = Callable[[Path, list[Write], list[Write]], tuple[Told, Told]]


def content(rows: list[dict[str, Any]]) -> str:
    return content_of(THINGS.columns, [[row[c.name] for row in rows] for c in THINGS.columns]).version


def contents_are_what_the_ledger_says(lake: Lake, rounds: str) -> None:
    rows = rows_of(lake, THINGS)
    entries = Ledger(lake).latest([THINGS])
    for repo in {row["repo"] for row in rows}:
        held = content([row for row in rows if row["repo"] == repo])
        assert entries[("things", repo)].data_version == held, f"{rounds}: repository {repo}"


@AT_ONCE
def test_writers_of_different_repositories_both_succeed_and_no_row_is_lost_or_doubled(
    tmp_path: Path, lake: Lake, at_once: AtOnce, fault: FaultNamed
):
    tried = fault("two writers of different repositories")

    def writes(repo: str) -> list[Write]:
        return [
            Write(
                root=str(lake.root),
                rows=[thing(repo, f"{number}.py", f"f{number}", round_) for number in range(round_ + 1)],
                run_id=f"{repo}-{round_}",
                partitions=[repo],
                cursor=f"c{round_}",
            )
            for round_ in range(ROUNDS)
        ]

    at_once(tmp_path, writes("a"), writes("b"))
    rows = [thing(repo, f"{number}.py", f"f{number}", ROUNDS - 1) for repo in "ab" for number in range(ROUNDS)]
    assert rows_of(lake, THINGS) == rows
    tried.compared(rows_of(lake, THINGS), rows)
    contents_are_what_the_ledger_says(lake, "different repositories")
    entries = Ledger(lake).latest([THINGS])
    assert {entries[("things", repo)].cursor for repo in "ab"} == {f"c{ROUNDS - 1}"}
    assert lake.read(WRITES).num_rows == 2 * ROUNDS


@AT_ONCE
def test_writers_of_the_same_repository_leave_what_one_after_the_other_would(
    tmp_path: Path, lake: Lake, at_once: AtOnce, fault: FaultNamed
):
    """Each round has a lake of its own, so that both begin with a first load, which reads nothing."""
    tried = fault("two writers of one repository")
    batches = {who: [thing("a", "x.py", "both", size), thing("a", "x.py", who)] for size, who in enumerate(("p", "q"))}

    def writes(who: str) -> list[Write]:
        return [Write(root=str(lake.root / str(n)), rows=batches[who], run_id=who, cursor=who) for n in range(ROUNDS)]

    at_once(tmp_path, writes("p"), writes("q"))
    for number in range(ROUNDS):
        one = Lake(lake.root / str(number))
        assert rows_of(one, THINGS) in (batches["p"], batches["q"]), f"round {number}"
        contents_are_what_the_ledger_says(one, f"round {number}")
        last = max(one.read(WRITES).to_pylist(), key=lambda row: row["version_after"])
        assert rows_of(one, THINGS) == batches[last["run_id"]]
        assert Ledger(one).latest([THINGS])[("things", "a")].cursor == last["run_id"]
        assert one.read(WRITES).num_rows == 2
    tried.survived()


@AT_ONCE
def test_writers_of_different_owners_in_one_repository_keep_each_other_s_rows(
    tmp_path: Path, lake: Lake, at_once: AtOnce, fault: FaultNamed
):
    tried = fault("two writers of different files")

    def writes(owner: str) -> list[Write]:
        return [
            Write(root=str(lake.root), rows=[thing("a", owner, "f", n)], run_id=f"{owner}{n}", owners=[owner])
            for n in range(ROUNDS)
        ]

    at_once(tmp_path, writes("x.py"), writes("y.py"))
    rows = [thing("a", owner, "f", ROUNDS - 1) for owner in ("x.py", "y.py")]
    assert rows_of(lake, THINGS) == rows
    tried.compared(rows_of(lake, THINGS), rows)
    contents_are_what_the_ledger_says(lake, "different owners")


@AT_ONCE
def test_one_run_twice_at_once_writes_its_rows_once(tmp_path: Path, lake: Lake, at_once: AtOnce, fault: FaultNamed):
    tried = fault("one run twice at once")
    rows = [thing("a", "x.py", "f"), thing("a", "x.py", "g"), thing("a", "x.py", "bad", kind="c")]
    writes = [
        Write(root=str(lake.root / str(number)), rows=rows, run_id="same", lenient=True) for number in range(ROUNDS)
    ]
    one, two = at_once(tmp_path, writes, writes)
    for number in range(ROUNDS):
        its = Lake(lake.root / str(number))
        assert rows_of(its, THINGS) == rows[:2], f"round {number}"
        assert its.read(QUARANTINE).num_rows == 1, f"round {number}"
        assert Counter([one[number]["action"], two[number]["action"]]) == Counter(["append", "replayed"])
        assert its.read(WRITES)["asset"].to_pylist().count("things") == 2
        contents_are_what_the_ledger_says(its, f"round {number}")
    tried.survived()


def test_two_merges_in_one_spark_session_carry_their_own_notes_and_leave_no_setting(lake: Lake, spark: SparkSession):
    first = [thing(repo, "x.py", name) for repo in "ab" for name in "fg"]
    carry_out(Write(root=str(lake.root), rows=first, run_id="load", partitions=["a", "b"]))
    meeting = threading.Barrier(2)

    def merge(repo: str):
        rows = [thing(repo, "x.py", "f", 2), thing(repo, "x.py", "g")]
        meeting.wait(60)
        each = Write(
            root=str(lake.root), rows=rows, run_id=f"merge-{repo}", partitions=[repo], cursor=repo, executor="spark"
        )
        return carry_out(each, spark)

    with ThreadPoolExecutor(2) as pool:
        done = dict(zip("ab", pool.map(merge, "ab"), strict=True))

    assert rows_of(lake, THINGS) == [
        thing(repo, "x.py", name, size) for repo in "ab" for name, size in (("f", 2), ("g", 1))
    ]
    contents_are_what_the_ledger_says(lake, "two merges")
    history = {commit["version"]: commit for commit in lake.open(THINGS).history()}
    for repo, report in done.items():
        assert f'"run_id": "merge-{repo}"' in history[report.version_after]["userMetadata"]
        assert (report.rows_updated, report.rows_unchanged) == (1, 1)
        assert lake.open(THINGS).transaction_version(report.write_key) == 1
    for name in ("commitInfo.userMetadata", "write.txnAppId", "write.txnVersion"):
        assert spark.conf.get(f"spark.databricks.delta.{name}", None) is None
    assert {row["run_id"] for row in lake.read(WRITES).to_pylist()} == {"load", "merge-a", "merge-b"}


def test_the_ledger_s_index_takes_entries_from_many_writers_at_once(lake: Lake):
    repositories = [f"r{number}" for number in range(6)]
    meeting = threading.Barrier(len(repositories))

    def load(repo: str) -> None:
        meeting.wait(60)
        carry_out(Write(root=str(lake.root), rows=[thing(repo, "x.py", "f")], run_id=repo, partitions=[repo]))

    with ThreadPoolExecutor(len(repositories)) as pool:
        list(pool.map(load, repositories))
    assert [row["repo"] for row in rows_of(lake, THINGS)] == repositories
    assert {partition for _, partition in Ledger(lake).latest([THINGS])} == set(repositories)
    assert {row["run_id"] for row in lake.read(WRITES).to_pylist()} == set(repositories)
