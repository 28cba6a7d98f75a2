"""Writers of two machines, which no lock keeps apart, on one lake in an object store: no row is lost, none is doubled.

Each process has a home of its own, and so locks of its own: that is what two machines are to each other. They meet
before each write, so that most rounds are conflicts.
"""

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lakehouse_assets.contracts.repositories import REPOSITORIES
from lakehouse_assets.contracts.writes import WRITES
from lakehouse_assets.core.effects import EffectPoint
from lakehouse_assets.lake.ledger import Ledger
from lakehouse_assets.lake.object_path import ObjectPath
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.row_hash import content_of
from lakehouse_assets.plan.write_plan import Executor
from lakehouse_assets_tests.support.command import at_once
from lakehouse_assets_tests.support.s3 import BUCKET, S3Server, running_s3
from lakehouse_assets_tests.support.write_once import Write, carry_out, finish, start
from lakehouse_assets_tests.support.writes import THINGS, rows_of, thing

pytestmark = pytest.mark.slow

ROUNDS = 10
EXECUTORS = pytest.mark.parametrize(("executor", "rounds"), [("delta-rs", ROUNDS), ("spark", 4)])
POINTS: tuple[EffectPoint, ...] = ("write: before commit", "write: after commit")


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with running_s3(tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture
def root(s3: S3Server, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ObjectPath:
    """A lake of the test's own."""
    for name, value in s3.lake(f"writers-{abs(hash(request.node.name))}").items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("LAKEHOUSE_HOME", str(tmp_path / "own"))
    return ObjectPath(f"s3://{BUCKET}/writers-{abs(hash(request.node.name))}", tmp_path / "own")


def on_two_machines(tmp_path: Path, first: list[Write], second: list[Write]) -> None:
    meeting = tmp_path / "meeting"
    meeting.mkdir()
    processes = [
        start(writes, name=name, meeting=meeting, home=tmp_path / name)
        for name, writes in (("one", first), ("two", second))
    ]
    ends = [finish(process) for process in processes]
    assert [code for code, _, _ in ends] == [0, 0], [complaints for _, _, complaints in ends]


def contents_are_what_the_ledger_says(lake: Lake) -> None:
    rows = rows_of(lake, THINGS)
    entries = Ledger(lake).latest([THINGS])
    for repo in {row["repo"] for row in rows}:
        held = [row for row in rows if row["repo"] == repo]
        content = content_of(THINGS.columns, [[row[each.name] for row in held] for each in THINGS.columns])
        assert entries[("things", repo)].data_version == content.version, repo


@EXECUTORS
def test_first_loads_of_one_repository_at_once_leave_the_rows_of_one(
    tmp_path: Path, root: ObjectPath, executor: Executor, rounds: int
):
    batches = {who: [thing("a", "x.py", "both", size), thing("a", "x.py", who)] for size, who in enumerate(("p", "q"))}

    def writes(who: str) -> list[Write]:
        return [
            Write(root=str(root / str(number)), rows=batches[who], run_id=who, cursor=who, executor=executor)
            for number in range(rounds)
        ]

    on_two_machines(tmp_path, writes("p"), writes("q"))
    for number in range(rounds):
        lake = Lake(root / str(number))
        assert rows_of(lake, THINGS) in (batches["p"], batches["q"]), f"round {number}"
        contents_are_what_the_ledger_says(lake)


@EXECUTORS
def test_writers_of_different_repositories_keep_each_other_s_rows(
    tmp_path: Path, root: ObjectPath, executor: Executor, rounds: int
):
    def writes(repo: str) -> list[Write]:
        return [
            Write(
                root=str(root),
                rows=[thing(repo, f"{number}.py", f"f{number}", round_) for number in range(round_ + 1)],
                run_id=f"{repo}-{round_}",
                partitions=[repo],
                cursor=f"c{round_}",
                executor=executor,
            )
            for round_ in range(rounds)
        ]

    on_two_machines(tmp_path, writes("a"), writes("b"))
    lake = Lake(root)
    assert rows_of(lake, THINGS) == [
        thing(repo, f"{number}.py", f"f{number}", rounds - 1) for repo in "ab" for number in range(rounds)
    ]
    contents_are_what_the_ledger_says(lake)
    assert {Ledger(lake).latest([THINGS])[("things", repo)].cursor for repo in "ab"} == {f"c{rounds - 1}"}
    assert len({row["write_key"] for row in lake.read(WRITES).to_pylist()}) == 2 * rounds


@EXECUTORS
def test_writers_of_different_owners_in_one_repository_keep_each_other_s_rows(
    tmp_path: Path, root: ObjectPath, executor: Executor, rounds: int
):
    def writes(owner: str) -> list[Write]:
        return [
            Write(
                root=str(root),
                rows=[thing("a", owner, "f", number)],
                run_id=f"{owner}{number}",
                owners=[owner],
                executor=executor,
            )
            for number in range(rounds)
        ]

    on_two_machines(tmp_path, writes("x.py"), writes("y.py"))
    assert rows_of(Lake(root), THINGS) == [thing("a", owner, "f", rounds - 1) for owner in ("x.py", "y.py")]
    contents_are_what_the_ledger_says(Lake(root))


def test_spark_s_rows_of_a_new_owner_leave_those_of_others(tmp_path: Path, root: ObjectPath):
    held = [thing("a", owner, "f") for owner in ("m.py", "n.py")]
    new = [thing("a", owner, "f") for owner in ("b.py", "y.py")]
    writes = [Write(root=str(root), rows=held, run_id="load", executor="spark")]
    writes += [
        Write(root=str(root), rows=[each], run_id=each["path"], owners=[each["path"]], executor="spark") for each in new
    ]
    code, told, complaints = finish(start(writes, home=tmp_path / "one"))
    assert code == 0, complaints
    assert [each["action"] for each in told] == ["append"] * 3
    assert rows_of(Lake(root), THINGS) == [new[0], *held, new[1]]
    contents_are_what_the_ledger_says(Lake(root))


@pytest.mark.parametrize("point", POINTS)
def test_a_killed_writer_leaves_the_table_as_before_or_as_after(tmp_path: Path, root: ObjectPath, point: EffectPoint):
    before = [thing("a", "x.py", "f"), thing("a", "y.py", "gone")]
    after = [thing("a", "x.py", "f", 2), thing("a", "z.py", "new")]
    carry_out(Write(root=str(root), rows=before, run_id="load"))
    each = Write(root=str(root), rows=after, run_id="run", cursor="c2")
    code, _, complaints = finish(start([each], kill_at=point, home=tmp_path / "killed"))
    assert code == -signal.SIGKILL, complaints
    committed = point == "write: after commit"
    assert rows_of(Lake(root), THINGS) == (after if committed else before)
    again = carry_out(each)
    assert (again.action == "replayed") == committed
    assert rows_of(Lake(root), THINGS) == after
    contents_are_what_the_ledger_says(Lake(root))


def test_a_name_is_registered_once_however_many_machines_register_it(root: ObjectPath, tmp_path: Path):
    source = tmp_path / "source"
    source.mkdir()
    (source / "a.py").write_text("x = 1\n")
    environs: list[dict[str, Any]] = [{"LAKEHOUSE_HOME": str(tmp_path / f"home{number}")} for number in range(4)]
    done = at_once([(("repo", "add", "shop", str(source)), environ) for environ in environs])
    assert [each.returncode for each in done] == [0, 0, 0, 0], [each.stderr for each in done]
    assert [row["repo"] for row in Lake(root).rows(REPOSITORIES)] == ["shop"]
