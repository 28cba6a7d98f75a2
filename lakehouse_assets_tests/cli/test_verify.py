"""`lakehouse verify` and `lakehouse sync --all` of repositories that read each other."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lakehouse_assets.cli import verify
from lakehouse_assets.core.errors import LakeStateError
from lakehouse_assets.core.settings import Settings
from lakehouse_assets_tests.support.command import lakehouse, lakehouse_json, spawn
from lakehouse_assets_tests.support.repos import RepoBuilder

Made = dict[str, RepoBuilder]

OFFERER = {"a.py": "def f():\n    pass\n"}
IMPORTER = {"main.py": "from a import f\n\n\ndef run():\n    f()\n"}
ALONE = {"alone.py": "import json\n"}


@pytest.fixture
def made(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Made]:
    """Register and sync repositories, by their files."""
    monkeypatch.setenv("LAKEHOUSE_ENGINE", "local")

    def make(**repos: dict[str, str]) -> Made:
        builders = {name: RepoBuilder(tmp_path / name) for name in repos}
        for name, files in repos.items():
            builders[name].commit({**files})
            lakehouse("repo", "add", name, str(builders[name].path))
        lakehouse("sync", "--all")
        return builders

    return make


def differing(told: list[dict[str, Any]]) -> set[tuple[str, str]]:
    return {(each["repo"], each["table"]) for each in told if each["surplus"] or each["lacking"]}


def test_all_repositories_are_verified_by_one_command(made: Callable[..., Made]):
    made(a=OFFERER, b=IMPORTER, c=ALONE)
    told = lakehouse_json("verify", "--all")
    assert {each["repo"] for each in told} == {"a", "b", "c"}
    assert differing(told) == set()


def test_a_repository_is_verified_though_its_neighbour_was_removed(made: Callable[..., Made]):
    made(a=OFFERER, b=IMPORTER)
    lakehouse("repo", "remove", "a")
    lakehouse("sync", "--all")
    assert differing(lakehouse_json("verify", "b")) == set()


@pytest.mark.parametrize("kept", [(), ("--keep-rows",)])
def test_a_neighbour_that_was_removed_and_added_again_counts_from_its_next_sync_on(
    made: Callable[..., Made], kept: tuple[str, ...]
):
    builders = made(a=OFFERER, b=IMPORTER)
    lakehouse("repo", "remove", "a", *kept)
    lakehouse("sync", "--all")
    lakehouse("gc")
    lakehouse("repo", "add", "a", str(builders["a"].path))
    assert differing(lakehouse_json("verify", "b")) == set()
    assert {each["repo"] for each in lakehouse_json("verify", "--all")} == {"b"}
    with pytest.raises(LakeStateError, match="'a': it has never been synced"):
        lakehouse("verify", "a")
    lakehouse("sync", "--all")
    told = lakehouse_json("verify", "--all")
    assert {each["repo"] for each in told} == {"a", "b"}
    assert differing(told) == set()


def test_a_repository_that_cannot_be_read_holds_back_only_those_that_were_linked_with_it(made: Callable[..., Made]):
    builders = made(a=OFFERER, b=IMPORTER, c=ALONE)
    shutil.rmtree(builders["a"].path)
    assert differing(lakehouse_json("verify", "c")) == set()
    with pytest.raises(LakeStateError, match="linked with 'a', which cannot be read"):
        lakehouse("verify", "b")


def test_a_repository_that_is_behind_its_neighbour_is_not_verified_but_named(made: Callable[..., Made]):
    builders = made(a=OFFERER, b=IMPORTER)
    builders["a"].commit({"a.py": "def g():\n    pass\n"})
    lakehouse("sync", "a")
    with pytest.raises(LakeStateError, match=r"repository 'b': .*lakehouse sync --all"):
        lakehouse("verify", "b")


def test_a_sync_while_a_clean_build_is_made_is_no_difference(
    made: Callable[..., Made], settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    builders = made(a=OFFERER, b=IMPORTER)
    build = verify._build
    synced: list[int] = []

    def build_beside_a_sync(*arguments: Any) -> None:
        builders["a"].commit({"a.py": "def f():\n    return 1\n\ndef more():\n    f()\n"})
        synced.append(spawn(settings, "sync", "--all").returncode)
        build(*arguments)

    monkeypatch.setattr(verify, "_build", build_beside_a_sync)
    assert differing(lakehouse_json("verify", "--all")) == set()
    assert synced == [0]
    monkeypatch.setattr(verify, "_build", build)
    assert differing(lakehouse_json("verify", "--all")) == set()


def test_syncing_all_ends_with_nothing_stale_and_names_what_became_stale_on_the_way(made: Callable[..., Made]):
    builders = made(a=OFFERER, b=IMPORTER)
    builders["a"].commit({"a.py": "def g():\n    pass\n"})
    told = lakehouse("sync", "--all").output
    assert "a: synced to" in told
    assert "b: synced to" in told
    assert all(each["fresh"] for each in lakehouse_json("status")["repositories"])
    assert differing(lakehouse_json("verify", "--all")) == set()


def test_status_names_the_repositories_that_made_another_stale(made: Callable[..., Made]):
    builders = made(a=OFFERER, b=IMPORTER)
    builders["a"].commit({"a.py": None, "other.py": ""})
    lakehouse("sync", "a")
    (state,) = lakehouse_json("status", "b")["repositories"]
    old, new = (json.loads(state["stale"][0][side])["neighbours"] for side in ("old", "new"))
    assert old.startswith("module a of a")
    assert new.startswith("module a of no repository")


def test_some_assets_of_a_repository_are_made_by_a_backfill_of_them(made: Callable[..., Made]):
    builders = made(a=OFFERER)
    builders["a"].commit({"b.py": ""})
    lakehouse("backfill", "a", "--asset", "commits", "--asset", "snapshots")
    states = lakehouse_json("status", "a")["repositories"][0]["assets"]
    assert (states["commits"], states["snapshots"], states["nodes"]) == ("fresh", "fresh", "stale")
