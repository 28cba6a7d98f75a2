"""Who runs a call in a decorator or a default value: the same to everyone who asks."""

import json
from pathlib import Path

from lakehouse_assets.core.settings import Settings
from lakehouse_assets.explorer.answers import Answers
from lakehouse_assets.explorer.holder import Indexes
from lakehouse_assets_tests.support.command import lakehouse, lakehouse_json
from lakehouse_assets_tests.support.graph_lake import GraphLake
from lakehouse_assets_tests.support.repos import RepoBuilder, registered

SOURCE = """def value():
    return 1


def mark(number):
    return lambda f: f


@mark(value())
def decorated(x=value()):
    return value()


def outer():
    def local(v=value()):
        return v

    return local
"""
RUNS = [("main", 9), ("main", 10), ("main.decorated", 11), ("main.outer", 15)]
"""Who calls `value`, and in which line; Python evaluates decorators and default values in the scope around."""


def test_every_answer_names_the_definition_that_runs_a_call(settings: Settings, tmp_path: Path):
    RepoBuilder(tmp_path / "shop").commit({"main.py": SOURCE})
    graph = GraphLake(settings.home, [registered(tmp_path / "shop", name="shop")])
    graph.sync()
    told = lakehouse_json("callers", "main.value")
    assert sorted((row["source"], row["line"]) for row in told) == RUNS
    by_sql = lakehouse_json(
        "sql",
        "SELECT DISTINCT c.qualified_name AS name FROM edges e JOIN definitions c ON c.def_id = e.caller_def "
        "JOIN definitions t ON t.def_id = e.dst_def WHERE e.kind = 'CALL' AND t.name = 'value' ORDER BY 1",
    )
    callers = sorted({name for name, _ in RUNS})
    assert [row["name"] for row in by_sql] == callers
    out = tmp_path / "graph.json"
    lakehouse("export", "callgraph", "shop", "-o", str(out))
    assert sorted(name for name, called in json.loads(out.read_text()).items() if "main.value" in called) == callers
    answers = Answers(Indexes(graph.lake))
    (symbol,) = answers.find("main.value")
    shown = answers.related("shop", symbol["id"], "callers")["items"]
    assert sorted((each["symbol"]["qualified_name"], each["line"]) for each in shown) == RUNS
    assert {row["target"] for row in lakehouse_json("callees", "main.decorated")} == {"main.value"}
    assert len(lakehouse_json("callees", "main.decorated")) == 1
    (count,) = lakehouse_json(
        "sql",
        "SELECT g.value FROM global_props g JOIN definitions d USING (repo, def_id) "
        "WHERE g.name = 'callers' AND d.qualified_name = 'main.value'",
    )
    assert count["value"] == str(len(callers))
