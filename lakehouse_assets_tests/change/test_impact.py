"""Who is touched by a change, by which way, and how far."""

import pytest

from lakehouse_assets.change.impact import find_impact
from lakehouse_assets.lake.local_engine import local_engine
from lakehouse_assets_tests.support.worlds import World

Way = tuple[str, int, str, str]


def impact(world: World, limit: int = 4) -> "Found":
    with local_engine() as engine:
        impact = find_impact(engine, engine.give(world.tables()), limit=limit)
        callers = engine.ask(
            f"SELECT s.symbol, distance, reason, via_symbol, changed_symbol, f.repo FROM {impact.callers} AS f "
            f"JOIN {impact.symbols} AS s USING (repo, def_id) WHERE distance > 0 ORDER BY ALL"
        )
        importers = engine.ask(f"SELECT * FROM {impact.importers} WHERE distance > 0 ORDER BY repo, path")
        files = engine.ask(f"SELECT * FROM {impact.files} ORDER BY repo, path")
    return Found(callers, importers, files, impact.more_callers, impact.more_importers)


class Found:
    def __init__(self, callers, importers, files, more_callers: bool, more_importers: bool) -> None:
        self.callers = [_way(row["symbol"], row) for row in callers]
        self.importers = [_way(row["path"], row) for row in importers]
        self.files = [(row["path"], row["distance"], row["reason"]) for row in files]
        self.more = (more_callers, more_importers)
        self.repos = {row["repo"] for row in (*callers, *importers)}


def _way(name: str, row: dict) -> Way:
    def short(text: str) -> str:
        return text.replace("`", "").replace("/", ":").rstrip(":")

    return short(name), row["distance"], row["reason"], short(row["via_symbol"])


@pytest.fixture
def world() -> World:
    """
    a.py: f <── b.py: g <── c.py: h <── d.py: i
    """
    world = World().define("a.py", "a.py:f", "b.py", "b.py:g", "c.py", "c.py:h", "d.py", "d.py:i")
    return world.use("b.py:g", "a.py:f").use("c.py:h", "b.py:g").use("d.py:i", "c.py:h")


def test_callers_are_told_with_distance_reason_and_way(world: World):
    found = impact(world.change("a.py:f"))
    assert found.callers == [
        ("b.py:g", 1, "calls", "a.py:f"),
        ("c.py:h", 2, "calls", "b.py:g"),
        ("d.py:i", 3, "calls", "c.py:h"),
    ]
    assert found.more == (False, False)


def test_the_limit_ends_the_way_and_it_is_told_whether_there_is_more(world: World):
    found = impact(world.change("a.py:f"), limit=2)
    assert [name for name, *_ in found.callers] == ["b.py:g", "c.py:h"]
    assert found.more == (True, False)
    assert impact(world, limit=3).more == (False, False)


def test_without_changes_nobody_is_touched(world: World):
    found = impact(world)
    assert (found.callers, found.importers, found.files, found.more) == ([], [], [], (False, False))


def test_circles_end_and_the_shortest_way_is_told(world: World):
    world.use("a.py:f", "d.py:i").use("d.py:i", "a.py:f").change("a.py:f")
    found = impact(world)
    assert ("d.py:i", 1, "calls", "a.py:f") in found.callers
    assert [name for name, *_ in found.callers] == ["b.py:g", "c.py:h", "d.py:i"]


def test_what_changed_itself_is_not_told_again_as_a_caller(world: World):
    found = impact(world.change("a.py:f").change("b.py:g"))
    assert found.callers == [("c.py:h", 1, "calls", "b.py:g"), ("d.py:i", 2, "calls", "c.py:h")]


@pytest.mark.parametrize(("kind", "reason"), [("INHERITS", "inherits"), ("OVERRIDES", "overrides"), ("REF", "refers")])
def test_the_reason_is_what_one_does_with_the_other(kind: str, reason: str):
    world = World().define("a.py:A", "b.py:B").use("b.py:B", "a.py:A", kind).change("a.py:A")
    assert impact(world).callers == [("b.py:B", 1, reason, "a.py:A")]


def test_other_edges_and_references_to_variables_touch_nobody():
    world = World().define("a.py:f", "b.py:g").use("b.py:g", "a.py:f", "IMPORT").use("b.py:g", "a.py:f", "REF", dst_n=3)
    assert impact(world.change("a.py:f")).callers == []


def test_what_a_function_holds_touches_it_and_its_callers():
    world = World().define("a.py", "a.py:f", "a.py:outer", "b.py:user")
    world.define("a.py:outer.<lambda1>", kind="lambda", inside="a.py:outer")
    world.use("a.py:outer.<lambda1>", "a.py:f").use("b.py:user", "a.py:outer").change("a.py:f")
    assert impact(world).callers == [
        ("a.py:outer", 2, "holds", "a.py:outer.<lambda1>"),
        ("a.py:outer.<lambda1>", 1, "calls", "a.py:f"),
        ("b.py:user", 3, "calls", "a.py:outer"),
    ]


def test_a_method_does_not_touch_its_class():
    world = World().define("a.py:C", kind="class").define("a.py:C.m", inside="a.py:C").change("a.py:C.m")
    assert impact(world).callers == []


def test_callers_of_what_is_gone_or_moved_are_found_by_its_old_name():
    world = World().define("b.py:g", "new.py:f").use("b.py:g", "a.py:f").change("new.py:f", "moved", old="a.py:f")
    assert impact(world).callers == [("b.py:g", 1, "calls", "a.py:f")]


def test_module_code_calls_but_is_not_called():
    world = (
        World().define("a.py:f", "b.py", "c.py:h").use("b.py", "a.py:f").use("c.py:h", "b.py", "REF").change("a.py:f")
    )
    assert impact(world).callers == [("b.py", 1, "calls", "a.py:f")]


def test_importers_of_what_changed_are_told_and_those_of_its_neighbours_are_not():
    world = World().define("a.py", "a.py:f", "a.py:other").change("a.py:f")
    world.imports_from("b.py", "a.py:f", "f").imports_from("c.py", "a.py:other", "other")
    world.imports_from("d.py", "a.py", "").imports_from("e.py", "a.py", "*")
    assert impact(world).importers == [
        ("b.py", 1, "imports_definition", "a.py:f"),
        ("d.py", 1, "imports_module", "a"),
        ("e.py", 1, "imports_module", "a"),
    ]


def test_module_code_that_changed_touches_whoever_imports_anything_of_it():
    world = World().define("a.py", "a.py:other").change("a.py").imports_from("c.py", "a.py:other", "other")
    assert impact(world).importers == [("c.py", 1, "imports_file", "a")]


def test_importers_of_importers_are_further_away():
    world = World().define("a.py", "a.py:f").change("a.py:f").imports_from("b.py", "a.py:f", "f")
    world.imports_from("c.py", "b.py", "").imports_from("d.py", "c.py", "").imports_from("a.py", "d.py", "")
    found = impact(world, limit=2)
    assert found.importers == [("b.py", 1, "imports_definition", "a.py:f"), ("c.py", 2, "imports_importer", "b.py")]
    assert found.more == (False, True)
    assert impact(world).more == (False, False)


def test_files_are_told_once_by_their_shortest_way(world: World):
    world.change("a.py:f").imports_from("c.py", "a.py:f", "f")
    assert impact(world).files == [
        ("a.py", 0, "changed"),
        ("b.py", 1, "calls"),
        ("c.py", 1, "imports_definition"),
        ("d.py", 3, "calls"),
    ]


def test_other_repositories_are_touched_as_well():
    world = World().define("a.py", "a.py:f").define("x.py:user", repo="other").change("a.py:f")
    world.use("x.py:user", "a.py:f", repo="other").imports_from("x.py", "a.py:f", "f", repo="other")
    found = impact(world)
    assert found.callers == [("x.py:user", 1, "calls", "a.py:f")]
    assert found.repos == {"other"}


def test_a_definition_known_in_two_states_is_one(world: World):
    world.define("b.py:g").use("b.py:g", "a.py:f").change("a.py:f")
    assert [name for name, *_ in impact(world).callers] == ["b.py:g", "c.py:h", "d.py:i"]


@pytest.mark.slow
def test_spark_finds_the_same(world: World, spark):
    from lakehouse_assets.lake.spark_engine import spark_engine

    world.use("a.py:f", "d.py:i").change("a.py:f").imports_from("c.py", "a.py:f", "f")
    ask = "SELECT repo, path, distance, reason, via_symbol, changed_symbol FROM {} ORDER BY repo, path"
    with local_engine() as local, spark_engine(spark) as remote:
        here = find_impact(local, local.give(world.tables()))
        there = find_impact(remote, remote.give(world.tables()))
        for name in ("callers", "importers", "files"):
            assert local.ask(ask.format(getattr(here, name))) == remote.ask(ask.format(getattr(there, name)))
