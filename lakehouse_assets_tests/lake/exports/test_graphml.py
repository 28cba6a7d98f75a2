"""The graph as GraphML: XML that parses, with both ends of every edge."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from lakehouse_assets.lake.exports import graph as graph_module
from lakehouse_assets.lake.exports.graphml import export_graphml
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.graphs import SmallGraph
from lakehouse_assets_tests.support.sample_graph import sample_graph

SPACE = "{http://graphml.graphdrawing.org/xmlns}"


def parsed(path: Path) -> tuple[dict[str, dict[str, str]], list[tuple[str, str, dict[str, str]]]]:
    root = ElementTree.parse(path).getroot()
    declared = {key.attrib["id"] for key in root.iter(f"{SPACE}key")}

    def data(element: ElementTree.Element) -> dict[str, str]:
        found = {each.attrib["key"]: each.text or "" for each in element}
        assert set(found) <= declared
        return found

    nodes = {each.attrib["id"]: data(each) for each in root.iter(f"{SPACE}node")}
    edges = [(each.attrib["source"], each.attrib["target"], data(each)) for each in root.iter(f"{SPACE}edge")]
    return nodes, edges


@pytest.mark.parametrize("repo", ["r", "u"])
def test_every_edge_has_both_ends(graphs: Lake, tmp_path: Path, repo: str):
    done = export_graphml(graphs, repo, tmp_path / "g")
    nodes, edges = parsed(tmp_path / "g")
    assert {end for source, target, _ in edges for end in (source, target)} <= set(nodes)
    assert (done.nodes, done.edges) == (len(nodes), len(edges))


def test_all_nodes_and_edges_are_there_once(graphs: Lake, tmp_path: Path):
    export_graphml(graphs, "r", tmp_path / "g")
    nodes, edges = parsed(tmp_path / "g")
    sample = sample_graph()
    inside = [row for row in sample.nodes if row["kind"] != "EXTERNAL"]
    outside = {row["name"] for row in sample.nodes if row["kind"] == "EXTERNAL"}
    assert len(nodes) == len(inside) + len(outside)
    assert len(edges) == len(sample.edges)


def test_nodes_tell_where_they_are(graphs: Lake, tmp_path: Path):
    export_graphml(graphs, "r", tmp_path / "g")
    nodes, edges = parsed(tmp_path / "g")
    places = {
        (data["kind"], data["name"], data["line"], data["col"])
        for data in nodes.values()
        if "line" in data and "name" in data
    }
    assert {
        ("ClassDef", "App", "6", "0"),
        ("Name", "LIMIT", "2", "0"),
        ("Name", "L", "8", "36"),
        ("alias", "Base", "2", "21"),
    } <= places
    called = {nodes[target].get("qualified_name") for _, target, data in edges if data["kind"] == "CALL"}
    assert called == {
        "<builtin>.len",
        "<builtin>.super",
        "os.path.join",
        "app.main",
        "app.App.run",
        "pkg.base.Base.run",
    }


def test_nodes_of_other_repositories_are_told_of(graphs: Lake, tmp_path: Path):
    export_graphml(graphs, "u", tmp_path / "g")
    nodes, _ = parsed(tmp_path / "g")
    foreign = {data["qualified_name"]: data["line"] for data in nodes.values() if data.get("repo") == "r"}
    assert foreign == {"pkg.base.Base": "5", "pkg.base.Base.run": "8", "app.main": "12"}


def test_text_that_xml_cannot_hold_is_replaced(lake: Lake, tmp_path: Path):
    SmallGraph(repo="r", files={"a.py": 'x = "<&\\x00\\x1b\\">"\n'}).save(lake)
    export_graphml(lake, "r", tmp_path / "g")
    nodes, _ = parsed(tmp_path / "g")
    assert any("<&" in data.get("name", "") for data in nodes.values())


def test_the_same_graph_gives_the_same_bytes_however_it_is_cut(
    graphs: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    export_graphml(graphs, "r", tmp_path / "a")
    monkeypatch.setattr(graph_module, "GROUP_NODES", 1)
    export_graphml(graphs, "r", tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
