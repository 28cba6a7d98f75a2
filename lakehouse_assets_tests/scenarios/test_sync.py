"""`lakehouse sync` over several commits and repositories: what ran, what did not, and what the tables hold."""

from pathlib import Path
from typing import Any

import pytest

from lakehouse_assets.contracts.blobs import BLOBS
from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.contracts.plans import PLANS
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.core.errors import BadInputError, SourceError
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.ledger import Ledger
from lakehouse_assets.lake.steps import STEPS
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.command import java_was_started, lakehouse, lakehouse_json, spawn, without_java
from lakehouse_assets_tests.support.repos import Link, RepoBuilder, Submodule, git

TABLES = (COMMITS, SNAPSHOTS, BLOBS)

pytestmark = pytest.mark.usefixtures("spark")


def versions(lake: Lake) -> dict[str, int]:
    return {contract.name: lake.open(contract).version() for contract in TABLES}


def cursors(lake: Lake) -> dict[tuple[str, str], str]:
    names = {contract.name for contract in TABLES}
    return {key: entry.cursor for key, entry in Ledger(lake).latest(TABLES).items() if key[0] in names}


def rows(query: str) -> list[dict[str, Any]]:
    return lakehouse_json("sql", query)


def git_files(path: Path, commit: str = "HEAD") -> set[str]:
    return set(git(path, "ls-tree", "-r", "-z", "--name-only", commit).decode().split("\0")) - {""}


@pytest.fixture
def shop(tmp_path: Path) -> RepoBuilder:
    shop = RepoBuilder(tmp_path / "shop")
    shop.commit({"shop/__init__.py": "", "shop/cart.py": "def total(): ...\n", "README.md": "# Shop\n"})
    shop.commit({"shop/cart.py": "def total(items): ...\n", "logo.png": b"\x89PNG\0\0", "latin.txt": b"caf\xe9"})
    return shop


def test_the_tables_hold_what_git_holds(shop: RepoBuilder, lake: Lake):
    odd = {"with space.py": "a", 'it\'s "odd".py': "b", "new\nline.py": "c", "100%=.py": "d", b"caf\xe9.py": "e"}
    shop.commit({**odd, "out": Link(b"../../etc/passwd"), "sub": Submodule("1" * 40)})
    lakehouse("repo", "add", "shop", str(shop.path))
    lakehouse("sync", "shop")

    count = int(git(shop.path, "rev-list", "--count", "HEAD"))
    assert rows("SELECT count(*) AS n FROM commits") == [{"n": count}]
    stored = {row["path"]: row for row in rows("SELECT path, kind, blob_sha FROM snapshots")}
    listed = git(shop.path, "ls-tree", "-r", "-z", "HEAD").split(b"\0")[:-1]
    assert len(stored) == len(listed)
    assert {"with space.py", 'it\'s "odd".py', "new\nline.py", "100%=.py", '"caf\\351.py"'} <= set(stored)
    assert (stored["out"]["kind"], stored["sub"]["kind"]) == ("symlink", "submodule")
    texts = {
        row["path"]: row
        for row in rows("SELECT path, text, encoding, reason FROM snapshots JOIN blobs USING (blob_sha)")
    }
    assert texts["shop/cart.py"]["text"] == "def total(items): ...\n"
    assert (texts["latin.txt"]["text"], texts["latin.txt"]["encoding"]) == ("café", "latin-1")
    assert (texts["logo.png"]["text"], texts["logo.png"]["reason"]) == (None, "binary")
    assert "out" not in texts


def test_many_repositories_are_one_run_and_one_commit_per_table(tmp_path: Path, lake: Lake):
    listing = tmp_path / "repos.tsv"
    names = [f"r{number}" for number in range(5)]
    for name in names:
        RepoBuilder(tmp_path / name).commit({f"{name}.py": f"x = '{name}'\n", "same.py": "x = 1\n"})
    listing.write_text("# name, tab, path\n" + "".join(f"{name}\t{tmp_path / name}\n" for name in names))
    lakehouse("repo", "add", "--from", str(listing))

    result = lakehouse_json("sync", "--all")

    (run,) = result["runs"]
    assert run["repositories"] == names
    assert versions(lake) == {"commits": 1, "snapshots": 1, "blobs": 1}
    assert rows("SELECT count(*) AS n, count(DISTINCT blob_sha) AS d FROM blobs") == [{"n": 6, "d": 6}]
    assert set(cursors(lake)) == {(table.name, name) for table in TABLES for name in names}


def test_a_second_sync_starts_no_java_and_records_no_run(
    shop: RepoBuilder, settings: Settings, lake: Lake, tmp_path: Path
):
    lakehouse("repo", "add", "shop", str(shop.path))
    lakehouse("sync", "shop")
    before = versions(lake)
    plans = lake.rows(PLANS)
    assert {row["step"] for row in plans} == set(STEPS)

    again = spawn(settings, "sync", "--all", **without_java(tmp_path))

    assert again.returncode == 0, again.stderr
    assert "shop: fresh at" in again.stdout
    assert not java_was_started(tmp_path)
    assert versions(lake) == before
    assert lake.rows(PLANS) == plans


def test_only_the_repository_that_moved_is_synced(shop: RepoBuilder, lake: Lake, tmp_path: Path):
    other = RepoBuilder(tmp_path / "other")
    first = other.commit({"a.py": "1\n"})
    lakehouse("repo", "add", "shop", str(shop.path))
    lakehouse("repo", "add", "other", str(other.path))
    lakehouse("sync", "--all")
    before = cursors(lake)
    second = other.commit({"a.py": "2\n"})

    result = lakehouse_json("sync", "--all")

    assert [run["repositories"] for run in result["runs"]] == [["other"]]
    moved = {key: value for key, value in cursors(lake).items() if before[key] != value}
    assert moved == {(table.name, "other"): second for table in TABLES}
    assert before[("commits", "other")] == first
    assert rows("SELECT path, text FROM snapshots JOIN blobs USING (blob_sha) WHERE repo = 'other'") == [
        {"path": "a.py", "text": "2\n"}
    ]


def test_a_fork_adds_no_content(shop: RepoBuilder, lake: Lake, tmp_path: Path):
    lakehouse("repo", "add", "shop", str(shop.path))
    lakehouse("sync", "shop")
    before = set(lake.open(BLOBS).file_uris())
    git(tmp_path, "clone", "-q", "--bare", str(shop.path), "fork.git")
    lakehouse("repo", "add", "fork", str(tmp_path / "fork.git"))

    result = lakehouse_json("sync", "fork")

    assert result["runs"][0]["rows"]["blobs"] == 0
    assert set(lake.open(BLOBS).file_uris()) == before
    assert lakehouse_json("sync", "--all")["runs"] == []


@pytest.mark.slow
def test_a_repository_can_be_synced_to_an_earlier_commit_and_back(shop: RepoBuilder):
    lakehouse("repo", "add", "shop", str(shop.path))
    lakehouse("sync", "shop")
    first = git(shop.path, "rev-list", "--max-parents=0", "HEAD").decode().strip()

    lakehouse("sync", "shop", "--to", first[:10])
    assert {row["path"] for row in rows("SELECT path FROM snapshots")} == git_files(shop.path, first)
    assert rows("SELECT commit_sha FROM commits") == [{"commit_sha": first}]

    lakehouse("sync", "shop")
    assert {row["path"] for row in rows("SELECT path FROM snapshots")} == git_files(shop.path)


def test_a_dry_run_tells_why_and_does_nothing(shop: RepoBuilder, lake: Lake):
    lakehouse("repo", "add", "shop", str(shop.path))
    result = lakehouse("sync", "shop", "--dry-run")
    assert "commits: never materialized" in result.stdout
    assert not lake.exists(COMMITS)


def test_new_settings_make_a_repository_stale_for_that_reason(shop: RepoBuilder):
    lakehouse("repo", "add", "shop", str(shop.path))
    lakehouse("sync", "shop")
    lakehouse("repo", "add", "shop", str(shop.path), "--include", "*.py", "--update")

    result = lakehouse_json("sync", "shop")

    parts = {reason["part"] for repository in result["repositories"] for reason in repository["reasons"]}
    assert parts == {"settings_hash"}
    assert {row["path"] for row in rows("SELECT path FROM snapshots")} == {"shop/__init__.py", "shop/cart.py"}


def test_a_plain_directory_is_one_commit_named_by_its_tree(tmp_path: Path):
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "a.py").write_text("x = 1\n")
    lakehouse("repo", "add", "plain", str(folder))
    lakehouse("sync", "plain")
    (before,) = rows("SELECT commit_sha, tree_sha, parents FROM commits")
    assert before["commit_sha"] == before["tree_sha"]
    assert lakehouse_json("sync", "plain")["runs"] == []
    (folder / "b.py").write_text("y = 2\n")
    assert len(lakehouse_json("sync", "plain")["runs"]) == 1
    (after,) = rows("SELECT commit_sha FROM commits")
    assert after["commit_sha"] != before["commit_sha"]
    assert [row["path"] for row in rows("SELECT path FROM snapshots ORDER BY path")] == ["a.py", "b.py"]


def test_a_removed_repository_leaves_no_rows_and_is_built_anew_under_its_name(shop: RepoBuilder, lake: Lake):
    lakehouse("repo", "add", "shop", str(shop.path))
    lakehouse("sync", "shop")
    lakehouse("repo", "remove", "shop")
    assert rows("SELECT count(*) AS n FROM snapshots") == [{"n": 0}]
    assert rows("SELECT count(*) AS n FROM commits") == [{"n": 0}]

    lakehouse("repo", "add", "shop", str(shop.path))
    lakehouse("sync", "shop")
    assert {row["path"] for row in rows("SELECT path FROM snapshots")} == git_files(shop.path)


def test_one_repository_that_cannot_be_read_is_named_and_the_others_are_synced(shop: RepoBuilder, tmp_path: Path):
    gone = RepoBuilder(tmp_path / "gone")
    gone.commit({"a.py": "1\n"})
    lakehouse("repo", "add", "gone", str(gone.path))
    lakehouse("repo", "add", "shop", str(shop.path))
    (tmp_path / "gone").rename(tmp_path / "moved")

    result = lakehouse("sync", "--all")

    assert result.exit_code == 1
    assert "shop: synced to" in result.stdout
    assert "gone: not synced" in result.stderr
    assert rows("SELECT DISTINCT repo FROM snapshots") == [{"repo": "shop"}]


def test_a_corrupt_object_fails_the_sync_by_name_and_leaves_content_and_ledger_as_they_were(
    shop: RepoBuilder, lake: Lake
):
    lakehouse("repo", "add", "shop", str(shop.path))
    lakehouse("sync", "shop")
    shop.commit({"bad.py": "corrupt = True\n"})
    sha = git(shop.path, "rev-parse", "HEAD:bad.py").decode().strip()
    shop.corrupt(sha)
    before = rows("SELECT count(*) AS n FROM blobs")

    with pytest.raises(SourceError, match=sha):
        lakehouse("sync", "shop")

    assert rows("SELECT count(*) AS n FROM blobs") == before
    assert cursors(lake)[("blobs", "shop")] != git(shop.path, "rev-parse", "HEAD").decode().strip()


def test_an_empty_registry_is_told_how_to_fill_it(settings: Settings):
    with pytest.raises(BadInputError, match="lakehouse repo add"):
        lakehouse("sync", "--all")
