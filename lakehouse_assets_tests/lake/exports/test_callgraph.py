"""Call graphs as PyCG's tools read them."""

import json
from pathlib import Path

from lakehouse_assets.lake.exports.callgraph import CallgraphExport, export_callgraphs
from lakehouse_assets.lake.tables import Lake


def test_callers_have_the_lists_of_their_callees(graphs: Lake, tmp_path: Path):
    done = export_callgraphs(graphs, {"r": tmp_path / "r.json"})
    assert json.loads((tmp_path / "r.json").read_text()) == {
        "app": ["app.main"],
        "app.App.run": ["<builtin>.super", "os.path.join", "pkg.base.Base.run"],
        "app.main": ["app.App.run"],
        "pkg.base": [],
        "pkg.base.Base.run": ["<builtin>.len"],
    }
    assert done == {"r": CallgraphExport(callers=5, calls=6)}


def test_many_are_written_in_one_go_and_guesses_are_left_out(graphs: Lake, tmp_path: Path):
    done = export_callgraphs(graphs, {name: tmp_path / f"{name}.json" for name in ("r", "u", "nothing")})
    assert list(done) == ["r", "u", "nothing"]
    assert json.loads((tmp_path / "u.json").read_text()) == {"use": ["pkg.base.Base"]}
    assert json.loads((tmp_path / "nothing.json").read_text()) == {}


def test_no_repository_at_all_writes_nothing(graphs: Lake):
    assert export_callgraphs(graphs, {}) == {}
