"""Who is touched by a change, by which way, and how far."""

from collections.abc import Sequence

import pyarrow as pa
import pytest

from lakehouse_assets.change.impact import STEPS, find_impact
from lakehouse_assets.contracts.definitions import DEFINITIONS
from lakehouse_assets.contracts.diffs import DIFFS
from lakehouse_assets.contracts.file_changes import FILE_CHANGES
from lakehouse_assets.contracts.imports_resolved import IMPORTS_RESOLVED
from lakehouse_assets.contracts.links import LINKS
from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.extract.symbols import symbol_id, symbol_of
from lakehouse_assets.lake.local_engine import local_engine

Way = tuple[str, int, str, str]


def symbol(name: str) -> str:
    """`a.py:f` as a symbol; `a.py` alone is the file."""
    path, _, rest = name.partition(":")
    return symbol_of(path, rest)


def ident(name: str) -> int:
    return symbol_id(symbol(name))


def rows(contract: TableContract, values: Sequence[dict]) -> pa.Table:
    return pa.Table.from_pylist(list(values), schema=arrow_schema(contract.columns))


class World:
    """A small graph, written down by names: definitions, who uses whom, who imports what."""

    def __init__(self) -> None:
        self.definitions: list[dict] = []
        self.links: list[dict] = []
        self.imports: list[dict] = []
        self.diffs: list[dict] = []

    def define(self, *names: str, kind: str = "function", inside: str | None = None, repo: str = "r") -> "World":
        for name in names:
            path = name.partition(":")[0]
            parent = None if ":" not in name else ident(inside or path)
            row = {"repo": repo, "path": path, "def_id": ident(name), "symbol": symbol(name), "parent_id": parent}
            self.definitions.append({**row, "kind": "module" if ":" not in name else kind})
        return self

    def use(self, source: str, target: str, kind: str = "CALL", repo: str = "r", dst_n: int = 0) -> "World":
        row = {"repo": repo, "path": source.partition(":")[0], "kind": kind, "src_def": ident(source), "src_n": 1}
        row |= {"dst_repo": "r", "dst_path": target.partition(":")[0], "dst_def": ident(target), "dst_n": dst_n}
        self.links.append(row)
        return self

    def imports_from(self, source: str, target: str, name: str, repo: str = "r") -> "World":
        row = {"repo": repo, "path": source, "def_id": ident(source), "n": len(self.imports), "name": name}
        row |= {"module": target.partition(":")[0].removesuffix(".py"), "kind": "first_party", "target_repo": "r"}
        self.imports.append({**row, "target_path": target.partition(":")[0], "target_def": ident(target)})
        return self

    def change(self, name: str, change: str = "body_changed", old: str | None = None) -> "World":
        kind = "module" if ":" not in name else "function"
        row = {"repo": "r", "path": name.partition(":")[0], "symbol": symbol(name), "def_id": ident(name), "kind": kind}
        before = old or name
        row |= {"change": change, "old_symbol": symbol(before), "old_def_id": ident(before)}
        self.diffs.append({**row, "old_path": before.partition(":")[0]})
        return self

    def tables(self) -> dict[str, pa.Table]:
        files = [{"repo": "r", "path": path} for path in sorted({row["path"] for row in self.diffs})]
        return {
            "diffs": rows(DIFFS, self.diffs),
            "file_changes": rows(FILE_CHANGES, files),
            "links": rows(LINKS, self.links),
            "imports_resolved": rows(IMPORTS_RESOLVED, self.imports),
            "definitions": rows(DEFINITIONS, self.definitions),
        }

    def impact(self, limit: int = 4) -> "Found":
        with local_engine() as engine:
            impact = find_impact(engine, engine.give(self.tables()), limit=limit)
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
    found = world.change("a.py:f").impact()
    assert found.callers == [
        ("b.py:g", 1, "calls", "a.py:f"),
        ("c.py:h", 2, "calls", "b.py:g"),
        ("d.py:i", 3, "calls", "c.py:h"),
    ]
    assert found.more == (False, False)


def test_the_limit_ends_the_way_and_it_is_told_whether_there_is_more(world: World):
    found = world.change("a.py:f").impact(limit=2)
    assert [name for name, *_ in found.callers] == ["b.py:g", "c.py:h"]
    assert found.more == (True, False)
    assert world.impact(limit=3).more == (False, False)


def test_without_changes_nobody_is_touched(world: World):
    found = world.impact()
    assert (found.callers, found.importers, found.files, found.more) == ([], [], [], (False, False))


def test_circles_end_and_the_shortest_way_is_told(world: World):
    world.use("a.py:f", "d.py:i").use("d.py:i", "a.py:f").change("a.py:f")
    found = world.impact()
    assert ("d.py:i", 1, "calls", "a.py:f") in found.callers
    assert [name for name, *_ in found.callers] == ["b.py:g", "c.py:h", "d.py:i"]


def test_what_changed_itself_is_not_told_again_as_a_caller(world: World):
    found = world.change("a.py:f").change("b.py:g").impact()
    assert found.callers == [("c.py:h", 1, "calls", "b.py:g"), ("d.py:i", 2, "calls", "c.py:h")]


@pytest.mark.parametrize(("kind", "reason"), [("INHERITS", "inherits"), ("OVERRIDES", "overrides"), ("REF", "refers")])
def test_the_reason_is_what_one_does_with_the_other(kind: str, reason: str):
    world = World().define("a.py:A", "b.py:B").use("b.py:B", "a.py:A", kind).change("a.py:A")
    assert world.impact().callers == [("b.py:B", 1, reason, "a.py:A")]


def test_other_edges_and_references_to_variables_touch_nobody():
    world = World().define("a.py:f", "b.py:g").use("b.py:g", "a.py:f", "IMPORT").use("b.py:g", "a.py:f", "REF", dst_n=3)
    assert world.change("a.py:f").impact().callers == []


def test_what_a_function_holds_touches_it_and_its_callers():
    world = World().define("a.py", "a.py:f", "a.py:outer", "b.py:user")
    world.define("a.py:outer.<lambda1>", kind="lambda", inside="a.py:outer")
    world.use("a.py:outer.<lambda1>", "a.py:f").use("b.py:user", "a.py:outer").change("a.py:f")
    assert world.impact().callers == [
        ("a.py:outer", 2, "holds", "a.py:outer.<lambda1>"),
        ("a.py:outer.<lambda1>", 1, "calls", "a.py:f"),
        ("b.py:user", 3, "calls", "a.py:outer"),
    ]


def test_a_method_does_not_touch_its_class():
    world = World().define("a.py:C", kind="class").define("a.py:C.m", inside="a.py:C").change("a.py:C.m")
    assert world.impact().callers == []


def test_callers_of_what_is_gone_or_moved_are_found_by_its_old_name():
    world = World().define("b.py:g", "new.py:f").use("b.py:g", "a.py:f").change("new.py:f", "moved", old="a.py:f")
    assert world.impact().callers == [("b.py:g", 1, "calls", "a.py:f")]


def test_module_code_calls_but_is_not_called():
    world = (
        World().define("a.py:f", "b.py", "c.py:h").use("b.py", "a.py:f").use("c.py:h", "b.py", "REF").change("a.py:f")
    )
    assert world.impact().callers == [("b.py", 1, "calls", "a.py:f")]


def test_importers_of_what_changed_are_told_and_those_of_its_neighbours_are_not():
    world = World().define("a.py", "a.py:f", "a.py:other").change("a.py:f")
    world.imports_from("b.py", "a.py:f", "f").imports_from("c.py", "a.py:other", "other")
    world.imports_from("d.py", "a.py", "").imports_from("e.py", "a.py", "*")
    assert world.impact().importers == [
        ("b.py", 1, "imports_definition", "a.py:f"),
        ("d.py", 1, "imports_module", "a"),
        ("e.py", 1, "imports_module", "a"),
    ]


def test_module_code_that_changed_touches_whoever_imports_anything_of_it():
    world = World().define("a.py", "a.py:other").change("a.py").imports_from("c.py", "a.py:other", "other")
    assert world.impact().importers == [("c.py", 1, "imports_file", "a")]


def test_importers_of_importers_are_further_away():
    world = World().define("a.py", "a.py:f").change("a.py:f").imports_from("b.py", "a.py:f", "f")
    world.imports_from("c.py", "b.py", "").imports_from("d.py", "c.py", "").imports_from("a.py", "d.py", "")
    found = world.impact(limit=2)
    assert found.importers == [("b.py", 1, "imports_definition", "a.py:f"), ("c.py", 2, "imports_importer", "b.py")]
    assert found.more == (False, True)
    assert world.impact().more == (False, False)


def test_files_are_told_once_by_their_shortest_way(world: World):
    world.change("a.py:f").imports_from("c.py", "a.py:f", "f")
    assert world.impact().files == [
        ("a.py", 0, "changed"),
        ("b.py", 1, "calls"),
        ("c.py", 1, "imports_definition"),
        ("d.py", 3, "calls"),
    ]


def test_other_repositories_are_touched_as_well():
    world = World().define("a.py", "a.py:f").define("x.py:user", repo="other").change("a.py:f")
    world.use("x.py:user", "a.py:f", repo="other").imports_from("x.py", "a.py:f", "f", repo="other")
    found = world.impact()
    assert found.callers == [("x.py:user", 1, "calls", "a.py:f")]
    assert found.repos == {"other"}


def test_a_definition_known_in_two_states_is_one(world: World):
    world.define("b.py:g").use("b.py:g", "a.py:f").change("a.py:f")
    assert [name for name, *_ in world.impact().callers] == ["b.py:g", "c.py:h", "d.py:i"]


def test_every_step_names_its_relations():
    assert all("{" in query for query in STEPS.values())


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
