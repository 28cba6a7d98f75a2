"""The graph as CSV for Neo4j."""

import csv
from pathlib import Path

import pytest

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.lake.exports.neo4j import export_neo4j
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.graphs import SmallGraph


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_headers_are_those_that_the_import_reads(graphs: Lake, tmp_path: Path):
    done = export_neo4j(graphs, "r", tmp_path / "new" / "folder")
    nodes, edges = (rows(tmp_path / "new" / "folder" / name) for name in ("nodes.csv", "relationships.csv"))
    assert list(nodes[0])[:4] == ["id:ID", "repo", "path", ":LABEL"]
    assert list(edges[0])[:3] == [":START_ID", ":END_ID", ":TYPE"]
    assert (len(nodes), len(edges)) == (done.nodes, done.edges)
    ids = [row["id:ID"] for row in nodes]
    assert len(set(ids)) == len(ids)
    assert {row[end] for row in edges for end in (":START_ID", ":END_ID")} <= set(ids)


def test_quotes_commas_and_lines_in_names_come_through(lake: Lake, tmp_path: Path):
    SmallGraph(repo="r", files={'a, "b".py': 'x = "a,\\"b\\"\\nc"\n'}).save(lake)
    export_neo4j(lake, "r", tmp_path)
    nodes = rows(tmp_path / "nodes.csv")
    assert {row["path"] for row in nodes} == {'a, "b".py'}
    assert all(row["line:int"].isdecimal() for row in nodes)


def test_a_file_in_the_folder_s_place_is_told(graphs: Lake, tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInputError, match="it is no folder"):
        export_neo4j(graphs, "r", tmp_path / "file")
