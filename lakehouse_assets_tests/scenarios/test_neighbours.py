"""Repositories that import from each other: whatever an import comes to, it follows the others' lives.

Each step is compared, for every repository, with a lake that has seen nothing but the present, in the other order.
"""

from collections.abc import Mapping
from pathlib import Path

import pytest

from lakehouse_assets.assets.graph.derivation_list import HEAD_TABLES
from lakehouse_assets.assets.removal import remove_repositories
from lakehouse_assets.contracts.imports_resolved import IMPORTS_RESOLVED
from lakehouse_assets.contracts.links import LINKS
from lakehouse_assets.contracts.neighbour_reads import NEIGHBOUR_READS
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.comparison import compare
from lakehouse_assets.lake.registry import Registry
from lakehouse_assets_tests.support.graph_lake import GraphLake
from lakehouse_assets_tests.support.repos import RepoBuilder, registered

Files = Mapping[str, str | None]


class Village:
    """A lake of several repositories that grows, and the proof that it is as clean."""

    def __init__(self, folder: Path, repos: Mapping[str, Files]) -> None:
        self._folder = folder
        self._builders: dict[str, RepoBuilder] = {}
        self._clean = 0
        for name, files in repos.items():
            self.commit(name, files)
        self.grown = GraphLake(folder / "grown", [registered(folder / name, name=name) for name in repos])
        self.grown.sync()

    def commit(self, name: str, files: Files) -> None:
        if name not in self._builders:
            self._builders[name] = RepoBuilder(self._folder / name)
        self._builders[name].commit({**files})

    def register(self, name: str) -> None:
        known = registered(self._folder / name, name=name)
        Registry(self.grown.lake).add([known])
        self.grown.repositories[name] = known

    def remove(self, name: str, *, keep_rows: bool = False) -> None:
        remove_repositories(self.grown.lakehouse.settings, [name], keep_rows=keep_rows)
        del self.grown.repositories[name]

    def sync(self, *names: str) -> None:
        """Sync the named ones, then what became stale by it, as `sync --all` does; all are then as clean."""
        if names:
            self.grown.sync(*names)
        for _ in range(2):
            if not self.grown.is_fresh():
                self.grown.sync()
        assert self.grown.is_fresh()
        self.prove()

    def prove(self) -> None:
        self._clean += 1
        known = list(reversed(self.grown.repositories.values()))
        clean = GraphLake(self._folder / f"clean {self._clean}", known)
        for each in known:
            clean.sync(each.name)
        if stale := clean.stale():
            clean.sync(*stale)
        found = [
            compare(self.grown.lake, clean.lake, contract, each.name) for contract in HEAD_TABLES for each in known
        ]
        assert [each for each in found if each.is_there] == []

    def kinds(self, repo: str) -> list[str]:
        return self._column(IMPORTS_RESOLVED, "kind", f"repo = '{repo}'")

    def called(self, repo: str) -> set[tuple[str, str]]:
        """Where calls of a repository lead, outside it."""
        where = f"repo = '{repo}' AND kind = 'CALL' AND dst_repo <> repo"
        return set(zip(self._column(LINKS, "dst_repo", where), self._column(LINKS, "dst_path", where), strict=True))

    def modules(self, repo: str) -> list[str]:
        return self._column(IMPORTS_RESOLVED, "module", f"repo = '{repo}'")

    def consulted(self, repo: str) -> list[str]:
        return self._column(NEIGHBOUR_READS, "name", f"repo = '{repo}' AND kind = 'repository'")

    def _column(self, contract: TableContract, column: str, where: str) -> list[str]:
        return sorted(self.grown.lake.read(contract, columns=[column], where=where)[column].to_pylist())


IMPORTER = {"main.py": "from a import f\n\nf()\n"}
OFFERER = {"a.py": "def f():\n    pass\n"}


@pytest.mark.parametrize(
    ("shared", "first"),
    [("", "unresolved"), ("from os import thing\n", "standard_library"), ("def thing(): ...\n", "other_repository")],
)
def test_an_import_is_asked_again_when_the_module_elsewhere_goes(tmp_path: Path, shared: str, first: str):
    village = Village(
        tmp_path,
        {"app": {"main.py": "from shared import thing\n"}, "lib": {"shared/__init__.py": shared, "other.py": ""}},
    )
    assert village.kinds("app") == [first]
    assert village.consulted("app") == ["lib"]

    village.commit("lib", {"shared/__init__.py": None})
    village.grown.sync("lib")
    assert not village.grown.is_fresh()
    village.sync()
    assert village.kinds("app") == ["third_party"]
    assert village.consulted("app") == []


@pytest.mark.parametrize("edits_itself", [False, True])
def test_an_import_finds_a_repository_that_is_registered_later(tmp_path: Path, edits_itself: bool):
    village = Village(tmp_path, {"b": IMPORTER})
    assert village.kinds("b") == ["third_party"]
    village.commit("a", OFFERER)
    village.register("a")
    if edits_itself:
        village.commit("b", {"main.py": "from a import f\n\nf()\nf()\n"})
    village.sync("a")
    assert village.kinds("b") == ["other_repository"]
    assert village.called("b") == {("a", "a.py")}


def test_an_import_follows_a_source_root_that_appears_elsewhere_and_goes(tmp_path: Path):
    village = Village(tmp_path, {"a": {"src/a.py": OFFERER["a.py"]}, "b": IMPORTER})
    assert village.kinds("b") == ["third_party"]
    village.commit("a", {"src/pkg/__init__.py": ""})
    village.sync("a")
    assert village.kinds("b") == ["other_repository"]
    village.commit("a", {"src/pkg/__init__.py": None})
    village.sync("a")
    assert village.kinds("b") == ["third_party"]


def test_the_name_of_an_imported_module_follows_the_source_root(tmp_path: Path):
    files = {"src/m.py": "", "src/n.py": "from src import m\nimport m\n", "src/sub.py": "from . import m\n"}
    village = Village(tmp_path, {"a": files})
    assert village.modules("a") == ["src", "src", "src.m"]
    village.commit("a", {"src/pkg/__init__.py": ""})
    village.sync()
    assert village.modules("a") == ["m", "src", "src"]
    village.commit("a", {"src/__init__.py": "from . import m\n"})
    village.sync()
    village.commit("a", {"src/__init__.py": None})
    village.sync()


def test_links_follow_exports_bases_and_stars_through_three_repositories(tmp_path: Path):
    village = Village(
        tmp_path,
        {
            "a": {"a.py": "class Top:\n    def run(self):\n        pass\n\n\ndef helper():\n    pass\n"},
            "b": {"b/__init__.py": "from a import *\nimport a\n\n\nclass Mid(a.Top):\n    pass\n"},
            "c": {"c.py": "from b import Mid, helper\n\n\nclass Leaf(Mid):\n    pass\n\n\nLeaf().run()\nhelper()\n"},
        },
    )
    assert village.called("c") == {("a", "a.py")}
    village.commit("a", {"a.py": "__all__ = ['Top']\n\n\nclass Top:\n    def run(self):\n        pass\n"})
    village.sync("a")
    village.commit("a", {"a.py": "class Top:\n    pass\n\n\ndef helper():\n    pass\n"})
    village.sync("a")
    village.commit("b", {"b/__init__.py": "class Mid:\n    def run(self):\n        pass\n"})
    village.sync("b")
    assert village.called("c") == {("b", "b/__init__.py")}


def test_a_module_that_two_others_offer_is_ambiguous_and_keeps_its_name_outside(tmp_path: Path):
    village = Village(tmp_path, {"b": IMPORTER, "one": OFFERER})
    assert village.kinds("b") == ["other_repository"]
    village.commit("two", OFFERER)
    village.register("two")
    village.sync("two")
    assert village.kinds("b") == ["ambiguous"]
    where = "repo = 'b' AND kind = 'CALL'"
    assert village.grown.lake.read(LINKS, columns=["external"], where=where)["external"].to_pylist() == ["a.f"]
    village.commit("one", {"a.py": None, "other.py": ""})
    village.sync("one")
    assert village.called("b") == {("two", "a.py")}


@pytest.mark.parametrize("keep_rows", [False, True])
def test_an_import_follows_a_repository_that_is_removed_and_added_again(tmp_path: Path, keep_rows: bool):
    village = Village(tmp_path, {"a": OFFERER, "b": IMPORTER})
    village.remove("a", keep_rows=keep_rows)
    village.sync()
    assert village.kinds("b") == ["third_party"]
    village.register("a")
    village.sync("a")
    assert village.called("b") == {("a", "a.py")}


def test_a_repository_is_linked_with_the_last_complete_state_of_one_that_is_half_synced(tmp_path: Path):
    village = Village(tmp_path, {"a": OFFERER, "b": IMPORTER})
    village.commit("a", {"a.py": "def g():\n    pass\n"})
    village.commit("b", {"more.py": "from a import f\n"})
    village.grown.sync("a", until="snapshots")
    village.grown.sync("b")
    assert village.kinds("b") == ["other_repository", "other_repository"]
    village.sync("a")
    assert village.kinds("b") == ["unresolved", "unresolved"]


def test_a_repository_that_has_nothing_to_do_with_a_change_stays_fresh(tmp_path: Path):
    village = Village(tmp_path, {"a": OFFERER, "b": IMPORTER, "c": {"main.py": "import os\nimport numpy\n"}})
    village.commit("a", {"a.py": "def f():\n    return 1\n\n\ndef g():\n    pass\n"})
    before = village.grown.lake.open(LINKS).version()
    village.grown.sync("a")
    assert village.grown.stale() == ["b"]
    village.sync()
    feed = village.grown.lake.open(LINKS).load_cdf(starting_version=before + 1).read_all()
    assert set(feed["repo"].to_pylist()) <= {"a"}
