"""Two repositories, one of which imports from the other: whatever the import comes to, it follows the other's life."""

from pathlib import Path

import pytest

from lakehouse_assets.contracts.imports_resolved import IMPORTS_RESOLVED
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.link_store import consulted_repositories
from lakehouse_assets_tests.support.graph_lake import GraphLake
from lakehouse_assets_tests.support.repos import RepoBuilder, registered


def kind(graph: GraphLake) -> str:
    (found,) = graph.lake.read(IMPORTS_RESOLVED, columns=["kind"], where="repo = 'app'")["kind"].to_pylist()
    return found


@pytest.mark.parametrize(
    ("shared", "first"),
    [("", "unresolved"), ("from os import thing\n", "standard_library"), ("def thing(): ...\n", "other_repository")],
)
def test_an_import_is_asked_again_when_the_module_elsewhere_goes(
    settings: Settings, tmp_path: Path, shared: str, first: str
):
    app, lib = RepoBuilder(tmp_path / "app"), RepoBuilder(tmp_path / "lib")
    app.commit({"main.py": "from shared import thing\n"})
    lib.commit({"shared/__init__.py": shared, "other.py": ""})
    graph = GraphLake(settings.home, [registered(tmp_path / name, name=name) for name in ("app", "lib")])
    graph.sync()
    assert kind(graph) == first
    assert consulted_repositories(graph.lake, "app") == ["lib"]

    lib.commit({"shared/__init__.py": None})
    graph.sync("lib")
    assert not graph.is_fresh()
    graph.sync("app")
    assert graph.is_fresh()
    assert kind(graph) == "third_party"
    assert consulted_repositories(graph.lake, "app") == []
