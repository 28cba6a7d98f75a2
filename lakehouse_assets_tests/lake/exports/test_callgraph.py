"""Call graphs as PyCG's tools read them."""

import json
from pathlib import Path

from lakehouse_assets.lake.exports.callgraph import CallgraphExport, export_callgraphs
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.graphs import SmallGraph


def exported(lake: Lake, folder: Path, *names: str) -> list[dict[str, set[str]]]:
    """The written graphs, with callees in no order."""
    export_callgraphs(lake, {name: folder / f"{name}.json" for name in names})
    read = [json.loads((folder / f"{name}.json").read_text()) for name in names]
    return [{caller: set(callees) for caller, callees in graph.items()} for graph in read]


def test_callers_have_the_lists_of_their_callees(graphs: Lake, tmp_path: Path):
    (graph,) = exported(graphs, tmp_path, "r")
    assert {caller: callees for caller, callees in graph.items() if callees} == {
        "app": {"app.main"},
        "app.App.run": {"<builtin>.super", "os.path.join", "pkg.base.Base.run"},
        "app.main": {"app.App.run"},
        "pkg.base.Base.run": {"<builtin>.len"},
    }
    assert {"pkg.base", "<builtin>.len"} <= set(graph)


def test_many_are_written_in_one_go_and_guesses_are_left_out(graphs: Lake, tmp_path: Path):
    nothing, r, u = exported(graphs, tmp_path, "nothing", "r", "u")
    assert (nothing, r) == ({}, exported(graphs, tmp_path, "r")[0])
    assert u == {"use": {"pkg.base.Base.run"}, "pkg.base.Base.run": set()}


def test_the_code_of_a_class_is_run_by_what_is_around_it_and_lambdas_are_numbered(lake: Lake, tmp_path: Path):
    text = "def f(): ...\nclass A:\n    x = f()\ny = lambda: f()\n@f\ndef g(z=f()): ...\n"
    graph = SmallGraph(repo="r", files={"m.py": text})
    for call in [row for row in graph.nodes if row["kind"] == "Call"]:
        (symbol,) = [row["symbol"] for row in graph.definitions if row["def_id"] == call["def_id"]]
        own = symbol.removeprefix("`m.py`/")
        around = {"caller_def": graph.definitions[0]["def_id"]} if own == "g()." else {}
        graph.link("CALL", ("m.py", own, call["n"]), ("m.py", "f().", 0), **around)
    graph.save(lake)
    assert exported(lake, tmp_path, "r") == [
        {"m": {"m.f"}, "m.f": set(), "m.g": set(), "m.<lambda1>": {"m.f"}},
    ]


def test_the_counts_are_those_of_the_file(graphs: Lake, tmp_path: Path):
    done = export_callgraphs(graphs, {"u": tmp_path / "u"})
    assert done == {"u": CallgraphExport(callers=2, calls=1)}


def test_no_repository_at_all_writes_nothing(graphs: Lake):
    assert export_callgraphs(graphs, {}) == {}
