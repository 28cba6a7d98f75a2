"""A process is killed at each named point of a write; the table is as before or as after, and a re-run completes it."""

import json
import re
import signal
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

import lakehouse_assets
from lakehouse_assets.contracts.quarantine import QUARANTINE
from lakehouse_assets.contracts.writes import WRITES
from lakehouse_assets.core.effects import EFFECT_POINTS, EffectPoint
from lakehouse_assets.lake.ledger import Ledger
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.row_hash import content_of
from lakehouse_assets.plan.write_plan import Executor
from lakehouse_assets_tests.faults.conftest import FaultNamed
from lakehouse_assets_tests.support.places import local
from lakehouse_assets_tests.support.write_once import Write, carry_out, finish, start
from lakehouse_assets_tests.support.writes import THINGS, rows_of, thing

COMMITTED: tuple[EffectPoint, ...] = (
    "write: after commit",
    "write: after ledger",
    "write: after report",
)
AROUND_THE_COMMIT: tuple[EffectPoint, ...] = ("write: before commit", "write: after commit")
OTHER = [thing("b", "x.py", "f"), thing("b", "y.py", "f")]


@dataclass(frozen=True, kw_only=True)
class Start:
    """A state to begin in, a write, and what comes of it."""

    before: list[dict[str, Any]]
    batch: list[dict[str, Any]]
    after: list[dict[str, Any]]
    counts: tuple[int, int, int]
    """Rows inserted, updated and deleted."""
    quarantined: int = 0


STARTS = {
    "first load": Start(
        before=[],
        batch=[thing("a", "x.py", "f"), thing("a", "x.py", "g")],
        after=[thing("a", "x.py", "f"), thing("a", "x.py", "g")],
        counts=(2, 0, 0),
    ),
    "merge": Start(
        before=[thing("a", "x.py", "f"), thing("a", "x.py", "g"), thing("a", "y.py", "gone")],
        batch=[thing("a", "x.py", "f"), thing("a", "x.py", "g", 2), thing("a", "z.py", "new")],
        after=[thing("a", "x.py", "f"), thing("a", "x.py", "g", 2), thing("a", "z.py", "new")],
        counts=(1, 1, 1),
    ),
    "with rows set aside": Start(
        before=[thing("a", "x.py", "f")],
        batch=[thing("a", "x.py", "f", 2), thing("a", "x.py", "bad", kind="c"), thing("a", "x.py", "worse", kind="d")],
        after=[thing("a", "x.py", "f", 2)],
        counts=(0, 1, 0),
        quarantined=2,
    ),
}


def content(rows: list[dict[str, Any]]) -> str:
    return content_of(THINGS.columns, [[row[c.name] for row in rows] for c in THINGS.columns]).version


def rows_now(lake: Lake) -> list[dict[str, Any]]:
    """The rows of repository a; those of b must never change."""
    rows = rows_of(lake, THINGS) if lake.exists(THINGS) else []
    assert [row for row in rows if row["repo"] == "b"] in ([], OTHER)
    return [row for row in rows if row["repo"] == "a"]


def kill_and_repeat(
    lake: Lake, case: Start, point: EffectPoint, executor: Executor, fault: FaultNamed, *, by_workers: bool = False
) -> None:
    tried = fault(f"kill -9 at `{point}`")
    if case.before:
        load = Write(root=str(lake.root), rows=[*case.before, *OTHER], run_id="load", partitions=["a", "b"])
        carry_out(load)
    each = Write(
        root=str(lake.root), rows=case.batch, run_id="run", cursor="c2", executor=executor, lenient=case.quarantined > 0
    )

    # Rows are set aside by a write of their own, which comes by the same points behind the staging.
    again_there = case.quarantined and point not in ("write: before staging", "write: after staging")
    kill_at = f"{point} #2" if again_there else point
    code, told, complaints = finish(start([replace(each, by_workers=by_workers)], kill_at=kill_at))
    assert code == -signal.SIGKILL, complaints
    assert not told
    assert rows_now(lake) == (case.after if point in COMMITTED else case.before)

    again = carry_out(replace(each, executor="delta-rs"))
    assert rows_now(lake) == case.after
    assert (again.action == "replayed") == (point in COMMITTED)
    assert again.data_versions == {"a": content(case.after)}

    entry = Ledger(lake).latest([THINGS])[("things", "a")]
    assert (entry.cursor, entry.run_id, entry.data_version) == ("c2", "run", content(case.after))
    assert entry.table_version == lake.open(THINGS).version()
    assert lake.read(QUARANTINE).num_rows == case.quarantined
    the_writes_tell_what_happened(lake, case, point)

    version = lake.open(THINGS).version()
    assert carry_out(replace(each, executor="delta-rs")).action == "replayed"
    assert lake.open(THINGS).version() == version
    tried.compared(rows_now(lake), case.after)


def the_writes_tell_what_happened(lake: Lake, case: Start, point: EffectPoint) -> None:
    """Every commit is accounted for once, by whoever came to tell of it."""
    rows = [row for row in lake.read(WRITES).to_pylist() if row["run_id"] == "run"]
    assert sum(row["action"] == "replayed" for row in rows) == (point in COMMITTED)
    assert len(rows) == (2 if point == "write: after report" else 1)
    for number, name in enumerate(("inserted", "updated", "deleted")):
        assert sum(row[f"rows_{name}"] for row in rows) == case.counts[number], name
    assert sum(row["rows_quarantined"] for row in rows) == case.quarantined
    assert sum(row["files_added"] for row in rows) >= 1
    assert max(row["version_after"] for row in rows) == lake.open(THINGS).version()
    assert {each["data_version"] for row in rows for each in json.loads(row["keys"])} == {content(case.after)}


@pytest.mark.parametrize("point", [point for point in EFFECT_POINTS if point.startswith("write:")])
@pytest.mark.parametrize("name", STARTS)
def test_a_kill_leaves_the_table_as_before_or_as_after_and_a_re_run_completes_it(
    lake: Lake, name: str, point: EffectPoint, fault: FaultNamed
):
    kill_and_repeat(lake, STARTS[name], point, "delta-rs", fault)


@pytest.mark.parametrize("attempt", [2, 3])
def test_a_writer_that_dies_between_its_attempts_leaves_what_the_others_wrote_and_a_re_run_completes_it(
    lake: Lake, attempt: int, fault: FaultNamed
):
    case = STARTS["merge"]
    tried = fault("kill -9 between the attempts of a write that met others")
    carry_out(Write(root=str(lake.root), rows=[*case.before, *OTHER], run_id="load", partitions=["a", "b"]))
    each = Write(root=str(lake.root), rows=case.batch, run_id="run", cursor="c2", overtaken=attempt - 1)
    code, told, complaints = finish(start([each], kill_at=f"write: before commit #{attempt}"))
    assert (code, told) == (-signal.SIGKILL, []), complaints
    theirs = [row | {"size": row["size"] + 100 * (attempt - 1)} for row in case.before]
    assert rows_now(lake) == theirs
    assert carry_out(replace(each, overtaken=0)).action == "merge"
    tried.compared(rows_now(lake), case.after)
    entry = Ledger(lake).latest([THINGS])[("things", "a")]
    assert (entry.run_id, entry.data_version) == ("run", content(case.after))


@pytest.mark.slow
@pytest.mark.parametrize("point", AROUND_THE_COMMIT)
@pytest.mark.parametrize("name", ["first load", "merge"])
def test_a_kill_in_a_write_by_spark_does_so_too(lake: Lake, name: str, point: EffectPoint, fault: FaultNamed):
    kill_and_repeat(lake, STARTS[name], point, "spark", fault)


@pytest.mark.slow
@pytest.mark.parametrize("point", AROUND_THE_COMMIT)
@pytest.mark.parametrize("name", ["first load", "merge"])
def test_a_kill_in_a_write_of_rows_that_workers_make_does_so_too(
    lake: Lake, name: str, point: EffectPoint, fault: FaultNamed
):
    kill_and_repeat(lake, STARTS[name], point, "spark", fault, by_workers=True)


def test_a_table_whose_maker_was_killed_is_made_anew(lake: Lake):
    """Engines write a log entry under another name first; a kill leaves that file, and no table."""
    log = local(lake.path(THINGS)) / "_delta_log"
    log.mkdir(parents=True)
    (log / "00000000000000000000.json#1").write_text("{")
    assert not lake.exists(THINGS)
    carry_out(Write(root=str(lake.root), rows=[thing("a", "x.py", "f")], run_id="run"))
    assert rows_of(lake, THINGS) == [thing("a", "x.py", "f")]


def test_every_named_point_is_reached_somewhere_and_every_point_that_is_reached_is_named():
    assert set(reached_points()) == set(EFFECT_POINTS)


def reached_points() -> Iterator[str]:
    package = Path(lakehouse_assets.__file__).parent
    for source in package.rglob("*.py"):
        yield from re.findall(r"""\breached\(["']([^"']+)["']\)""", source.read_text())
