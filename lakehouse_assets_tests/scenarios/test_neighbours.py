"""Repositories that import from each other: whatever an import comes to, it follows the others' lives.

Each step is compared, for every repository, with a lake that has seen nothing but the present, in the other order.
"""

from collections.abc import Mapping
from pathlib import Path

import pytest

from lakehouse_assets.contracts.imports_resolved import IMPORTS_RESOLVED
from lakehouse_assets.contracts.links import LINKS
from lakehouse_assets.contracts.neighbour_reads import NEIGHBOUR_READS
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets_tests.support.growing_lake import GrowingLake
from lakehouse_assets_tests.support.repos import RepoBuilder

pytestmark = pytest.mark.begins

Files = Mapping[str, str | None]


class Neighbours(GrowingLake):
    """A lake of repositories that are given by their files, with what it tells of their imports and calls."""

    def __init__(self, folder: Path, repos: Mapping[str, Files]) -> None:
        self._builders = {name: RepoBuilder(folder / name) for name in repos}
        self._at = folder
        for name, files in repos.items():
            self.commit(name, files)
        super().__init__(folder, *repos)
        self.sync()

    def commit(self, name: str, files: Files) -> None:
        if name not in self._builders:
            self._builders[name] = RepoBuilder(self._at / name)
        self._builders[name].commit({**files})

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
        return sorted(self.lake.read(contract, columns=[column], where=where)[column].to_pylist())


IMPORTER = {"main.py": "from a import f\n\nf()\n"}
OFFERER = {"a.py": "def f():\n    pass\n"}


@pytest.mark.parametrize(
    ("shared", "first"),
    [("", "unresolved"), ("from os import thing\n", "standard_library"), ("def thing(): ...\n", "other_repository")],
)
def test_an_import_is_asked_again_when_the_module_elsewhere_goes(tmp_path: Path, shared: str, first: str):
    lake = Neighbours(
        tmp_path,
        {"app": {"main.py": "from shared import thing\n"}, "lib": {"shared/__init__.py": shared, "other.py": ""}},
    )
    assert lake.kinds("app") == [first]
    assert lake.consulted("app") == ["lib"]

    lake.commit("lib", {"shared/__init__.py": None})
    lake.sync("lib")
    assert not lake.is_fresh()
    lake.sync_and_prove()
    assert lake.kinds("app") == ["third_party"]
    assert lake.consulted("app") == []


@pytest.mark.parametrize("edits_itself", [False, True])
def test_an_import_finds_a_repository_that_is_registered_later(tmp_path: Path, edits_itself: bool):
    lake = Neighbours(tmp_path, {"b": IMPORTER})
    assert lake.kinds("b") == ["third_party"]
    lake.commit("a", OFFERER)
    lake.register("a")
    if edits_itself:
        lake.commit("b", {"main.py": "from a import f\n\nf()\nf()\n"})
    lake.sync_and_prove("a")
    assert lake.kinds("b") == ["other_repository"]
    assert lake.called("b") == {("a", "a.py")}


def test_an_import_follows_a_source_root_that_appears_elsewhere_and_goes(tmp_path: Path):
    lake = Neighbours(tmp_path, {"a": {"src/a.py": OFFERER["a.py"]}, "b": IMPORTER})
    assert lake.kinds("b") == ["third_party"]
    lake.commit("a", {"src/pkg/__init__.py": ""})
    lake.sync_and_prove("a")
    assert lake.kinds("b") == ["other_repository"]
    lake.commit("a", {"src/pkg/__init__.py": None})
    lake.sync_and_prove("a")
    assert lake.kinds("b") == ["third_party"]


def test_the_name_of_an_imported_module_follows_the_source_root(tmp_path: Path):
    files = {"src/m.py": "", "src/n.py": "from src import m\nimport m\n", "src/sub.py": "from . import m\n"}
    lake = Neighbours(tmp_path, {"a": files})
    assert lake.modules("a") == ["src", "src", "src.m"]
    lake.commit("a", {"src/pkg/__init__.py": ""})
    lake.sync_and_prove()
    assert lake.modules("a") == ["m", "src", "src"]
    lake.commit("a", {"src/__init__.py": "from . import m\n"})
    lake.sync_and_prove()
    lake.commit("a", {"src/__init__.py": None})
    lake.sync_and_prove()


def test_links_follow_exports_bases_and_stars_through_three_repositories(tmp_path: Path):
    lake = Neighbours(
        tmp_path,
        {
            "a": {"a.py": "class Top:\n    def run(self):\n        pass\n\n\ndef helper():\n    pass\n"},
            "b": {"b/__init__.py": "from a import *\nimport a\n\n\nclass Mid(a.Top):\n    pass\n"},
            "c": {"c.py": "from b import Mid, helper\n\n\nclass Leaf(Mid):\n    pass\n\n\nLeaf().run()\nhelper()\n"},
        },
    )
    assert lake.called("c") == {("a", "a.py")}
    lake.commit("a", {"a.py": "__all__ = ['Top']\n\n\nclass Top:\n    def run(self):\n        pass\n"})
    lake.sync_and_prove("a")
    lake.commit("a", {"a.py": "class Top:\n    pass\n\n\ndef helper():\n    pass\n"})
    lake.sync_and_prove("a")
    lake.commit("b", {"b/__init__.py": "class Mid:\n    def run(self):\n        pass\n"})
    lake.sync_and_prove("b")
    assert lake.called("c") == {("b", "b/__init__.py")}


def test_a_module_that_two_others_offer_is_ambiguous_and_keeps_its_name_outside(tmp_path: Path):
    lake = Neighbours(tmp_path, {"b": IMPORTER, "one": OFFERER})
    assert lake.kinds("b") == ["other_repository"]
    lake.commit("two", OFFERER)
    lake.register("two")
    lake.sync_and_prove("two")
    assert lake.kinds("b") == ["ambiguous"]
    where = "repo = 'b' AND kind = 'CALL'"
    assert lake.lake.read(LINKS, columns=["external"], where=where)["external"].to_pylist() == ["a.f"]
    lake.commit("one", {"a.py": None, "other.py": ""})
    lake.sync_and_prove("one")
    assert lake.called("b") == {("two", "a.py")}


@pytest.mark.parametrize("keep_rows", [False, True])
def test_an_import_follows_a_repository_that_is_removed_and_added_again(tmp_path: Path, keep_rows: bool):
    lake = Neighbours(tmp_path, {"a": OFFERER, "b": IMPORTER})
    lake.remove("a", keep_rows=keep_rows)
    lake.sync_and_prove()
    assert lake.kinds("b") == ["third_party"]
    lake.register("a")
    lake.sync_and_prove("a")
    assert lake.called("b") == {("a", "a.py")}


def test_a_repository_is_linked_with_the_last_complete_state_of_one_that_is_half_synced(tmp_path: Path):
    lake = Neighbours(tmp_path, {"a": OFFERER, "b": IMPORTER})
    lake.commit("a", {"a.py": "def g():\n    pass\n"})
    lake.commit("b", {"more.py": "from a import f\n"})
    lake.sync("a", until="snapshots")
    lake.sync("b")
    assert lake.kinds("b") == ["other_repository", "other_repository"]
    lake.sync_and_prove("a")
    assert lake.kinds("b") == ["unresolved", "unresolved"]


def test_a_repository_that_has_nothing_to_do_with_a_change_stays_fresh(tmp_path: Path):
    lake = Neighbours(tmp_path, {"a": OFFERER, "b": IMPORTER, "c": {"main.py": "import os\nimport numpy\n"}})
    lake.commit("a", {"a.py": "def f():\n    return 1\n\n\ndef g():\n    pass\n"})
    before = lake.lake.open(LINKS).version()
    lake.sync("a")
    assert lake.stale() == ["b"]
    lake.sync_and_prove()
    feed = lake.lake.open(LINKS).load_cdf(starting_version=before + 1).read_all()
    assert set(feed["repo"].to_pylist()) <= {"a"}
