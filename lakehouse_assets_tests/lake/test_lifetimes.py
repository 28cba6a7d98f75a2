"""Lives of definitions and edges, commit by commit, against a model that sees every state."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from lakehouse_assets.contracts.definition_lifetimes import DEFINITION_LIFETIMES
from lakehouse_assets.contracts.definitions import DEFINITIONS
from lakehouse_assets.contracts.edge_lifetimes import EDGE_LIFETIMES
from lakehouse_assets.contracts.links import LINKS
from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.lifetimes import Moment, lifetimes
from lakehouse_assets.lake.local_engine import local_engine
from lakehouse_assets.lake.spark_engine import spark_engine
from lakehouse_assets.lake.step_engine import StepEngine
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.worlds import World, ident
from lakehouse_assets_tests.support.writes import write


def bring_to(lake: Lake, world: World, commit: str, previous: str | None, files: Iterable[str] | None) -> list[Any]:
    """Write the world, then the lives of what the files have; gives the reports of the two tables of lives."""
    tables = world.tables()
    run = f"{commit} after {previous}"
    for contract in (DEFINITIONS, LINKS):
        write(lake, contract, tables[contract.name], partitions=("r",), run_id=run)
    owners = None if files is None else tuple(files)
    return [
        write(lake, each, rows_for(lake, each, owners, commit, previous), partitions=("r",), owners=owners, run_id=run)
        for each in (DEFINITION_LIFETIMES, EDGE_LIFETIMES)
    ]


def rows_for(
    lake: Lake, contract: TableContract, owners: tuple[str, ...] | None, commit: str, previous: str | None
) -> pa.Table:
    with local_engine() as engine:
        return made_by(engine, lake, contract, [Moment(repo="r", commit=commit, previous=previous)], owners)


def made_by(
    engine: StepEngine,
    lake: Lake,
    contract: TableContract,
    moments: list[Moment],
    owners: tuple[str, ...] | None = None,
) -> pa.Table:
    rows: Any = lifetimes(engine, lake, contract, moments, owners)
    found = rows if isinstance(rows, pa.Table) else rows.toArrow().cast(arrow_schema(contract.columns))
    return found.sort_by([(name, "ascending") for name in contract.key])


NAMES = {ident(f"a.py:{name}()."): name for name in ("f", "g")}


def ends(row: dict[str, Any]) -> str:
    return f"{NAMES[row['src_def']]}>{NAMES[row['dst_def']]}"


def lives(lake: Lake, contract: TableContract, *names: str) -> list[tuple[Any, ...]]:
    rows = lake.read(contract).to_pylist()
    if contract is EDGE_LIFETIMES:
        rows = [row | {"ends": ends(row)} for row in rows]
    shown = ("life", "first_commit", "after_commit", "last_commit", "removed_in")
    return sorted(tuple(row[name] for name in (*names, *shown)) for row in rows)


def world(*calls: str) -> World:
    made = World().define("a.py", "a.py:f().", "a.py:g().")
    for call in calls:
        source, _, target = call.partition(">")
        made.use(f"a.py:{source}().", f"a.py:{target}().")
    return made


def test_an_edge_that_dies_and_comes_back_has_two_lives(lake: Lake):
    bring_to(lake, world("f>g"), "c1", None, None)
    bring_to(lake, world("g>f"), "c2", "c1", ["a.py"])
    bring_to(lake, world("f>g", "g>f"), "c3", "c2", ["a.py"])
    assert lives(lake, EDGE_LIFETIMES, "ends") == [
        ("f>g", 1, "c1", None, "c1", "c2"),
        ("f>g", 2, "c3", "c2", None, None),
        ("g>f", 1, "c2", "c1", None, None),
    ]


def test_going_back_to_an_earlier_commit_begins_a_life_of_its_own(lake: Lake):
    for number, (commit, call) in enumerate((("c1", "f>g"), ("c2", "g>f"), ("c1", "f>g"))):
        bring_to(lake, world(call), commit, ("c1", "c2")[number % 2 - 1] if number else None, ["a.py"])
    assert [life[2] for life in lives(lake, EDGE_LIFETIMES, "ends")] == ["c1", "c1", "c2"]


def test_a_call_that_stands_twice_dies_with_the_last(lake: Lake):
    twice = world("f>g")
    twice.links.append(twice.links[0] | {"src_n": 9})
    bring_to(lake, twice, "c1", None, None)
    (_, edges) = bring_to(lake, world("f>g"), "c2", "c1", ["a.py"])
    assert (edges.rows_changed, len(lives(lake, EDGE_LIFETIMES))) == (0, 1)


def test_only_what_came_and_went_is_written(lake: Lake):
    bring_to(lake, world("f>g").define("b.py", "b.py:h()."), "c1", None, None)
    grown = world("f>g").define("b.py", "b.py:h().", "b.py:i().")
    (definitions, edges) = bring_to(lake, grown, "c2", "c1", ["b.py"])
    assert (definitions.rows_inserted, definitions.rows_changed, edges.rows_changed) == (1, 1, 0)
    again = bring_to(lake, grown, "c3", "c2", ["b.py"])
    assert [report.rows_changed for report in again] == [0, 0]


def test_an_open_life_has_the_name_that_its_definition_has_now(lake: Lake):
    bring_to(lake, world().define("b.py", "b.py:h()."), "c1", None, None)
    renamed = world().define("b.py", "b.py:h().")
    for row in renamed.definitions:
        row["qualified_name"] = row["qualified_name"].replace("b", "src.b")
    bring_to(lake, renamed, "c2", "c1", ["b.py"])
    assert [life for life in lives(lake, DEFINITION_LIFETIMES, "qualified_name") if "b" in life[0]] == [
        ("src.b", 1, "c1", None, None, None),
        ("src.b.h", 1, "c1", None, None, None),
    ]
    bring_to(lake, world(), "c3", "c2", ["b.py"])
    assert ("src.b.h", 1, "c1", None, "c2", "c3") in lives(lake, DEFINITION_LIFETIMES, "qualified_name")


def test_a_file_that_is_gone_takes_its_definitions_with_it(lake: Lake):
    bring_to(lake, world().define("b.py", "b.py:h()."), "c1", None, None)
    bring_to(lake, world(), "c2", "c1", ["b.py"])
    told = {life[0]: life[-1] for life in lives(lake, DEFINITION_LIFETIMES, "qualified_name")}
    assert told == {"a": None, "a.f": None, "a.g": None, "b": "c2", "b.h": "c2"}


def test_repositories_together_have_the_lives_that_each_has_alone(lake: Lake):
    both = world("f>g").define("a.py", "a.py:f().", repo="s")
    both.use("a.py:f().", "a.py:g().", repo="s")
    for contract in (DEFINITIONS, LINKS):
        write(lake, contract, both.tables()[contract.name], partitions=("r", "s"))
    moments = [Moment(repo="r", commit="c1", previous=None), Moment(repo="s", commit="d2", previous="d1")]
    for contract in (DEFINITION_LIFETIMES, EDGE_LIFETIMES):
        with local_engine() as engine:
            apart = [made_by(engine, lake, contract, [moment]) for moment in moments]
            together = made_by(engine, lake, contract, moments)
        assert together == pa.concat_tables(apart)
        told = {(row["repo"], row["first_commit"], row["after_commit"]) for row in together.to_pylist()}
        assert told == {("r", "c1", None), ("s", "d2", "d1")}
    assert {ends(row) for row in together.to_pylist() if row["repo"] == "s"} == {"f>g"}


def test_both_engines_tell_the_same_lives(lake: Lake, spark: SparkSession):
    bring_to(lake, world("f>g", "g>f").define("b.py", "b.py:h()."), "c1", None, None)
    bring_to(lake, world("f>g"), "c2", "c1", None)
    write(lake, LINKS, world("g>f", "g>g").tables()[LINKS.name], partitions=("r",), run_id="3", cursor="3")
    moments = [Moment(repo="r", commit="c3", previous="c2")]
    for contract in (DEFINITION_LIFETIMES, EDGE_LIFETIMES):
        for owners in (None, ("a.py",), ()):
            with local_engine() as local, spark_engine(spark) as remote:
                here = made_by(local, lake, contract, moments, owners)
                assert here == made_by(remote, lake, contract, moments, owners)
        assert here.num_rows == 0


states = st.lists(st.sets(st.sampled_from(["f>g", "g>f", "f>f", "g>g"])), min_size=1, max_size=6)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(states, st.booleans())
def test_the_lives_open_at_a_commit_are_the_edges_of_that_commit(tmp_path: Path, seen: list[set[str]], whole: bool):
    lake = Lake(tmp_path / str(hash((str(seen), whole))) / "lake")
    for number, calls in enumerate(seen):
        previous = f"c{number - 1}" if number else None
        bring_to(lake, world(*sorted(calls)), f"c{number}", previous, None if whole or not number else ["a.py"])
    rows = lake.read(EDGE_LIFETIMES).to_pylist()
    for number, calls in enumerate(seen):
        there = {
            ends(row)
            for row in rows
            if int(row["first_commit"][1:]) <= number
            and (row["removed_in"] is None or number < int(row["removed_in"][1:]))
        }
        assert there == calls
