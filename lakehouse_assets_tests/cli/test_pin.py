"""Reading the graph as it was at a commit, keeping commits, and vacuuming what is not kept."""

from pathlib import Path

import pytest

from lakehouse_assets.contracts.definitions import DEFINITIONS
from lakehouse_assets.contracts.graph_versions import GRAPH_VERSIONS
from lakehouse_assets.contracts.maintenance import MAINTENANCE
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.core.errors import BadInputError, LakeStateError
from lakehouse_assets.core.hashing import json_text
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.command import lakehouse, lakehouse_json
from lakehouse_assets_tests.support.repos import RepoBuilder, git
from lakehouse_assets_tests.support.synced import SyncedRepo
from lakehouse_assets_tests.support.worlds import World, publish, rows
from lakehouse_assets_tests.support.writes import write

CALLS = "SELECT s.qualified_name AS source FROM links l JOIN definitions s ON s.def_id = l.src_def ORDER BY 1"


@pytest.fixture
def commits(tmp_path: Path, lake: Lake) -> list[str]:
    """Four commits of `r`; its graph was brought to the first three: at each, one more definition calls `f`, and `f`
    ends a line later."""
    repo = RepoBuilder(tmp_path / "r")
    made = [repo.commit({"a.py": str(number)}) for number in range(4)]
    git(repo.path, "tag", "first", made[0])
    lakehouse("repo", "add", "r", str(repo.path))
    world = World().define("a.py", "a.py:f().")
    for day, commit in enumerate(made[:3], start=1):
        world.definitions[1]["end_line"] = day
        world.define(f"a.py:g{day}().").use(f"a.py:g{day}().", "a.py:f().")
        publish(lake, world, commit, day=day)
    return made


def sources(at: str) -> list[str]:
    return [row["source"] for row in lakehouse_json("sql", CALLS, "--at", at)]


def test_every_table_is_read_at_the_versions_of_one_commit(commits: list[str]):
    assert sources(f"r@{commits[0]}") == ["a.g1"]
    assert sources(f"r@{commits[1][:8]}") == ["a.g1", "a.g2"]
    assert sources("r@first") == ["a.g1"]
    assert len(lakehouse_json("sql", CALLS)) == 3


def test_only_the_repository_s_own_rows_are_there(lake: Lake, commits: list[str]):
    other = World().define("b.py", repo="other")
    write(lake, DEFINITIONS, other.tables()["definitions"], partitions=("other",))
    publish(lake, World().define("a.py"), commits[3], day=4)
    query = "SELECT DISTINCT repo FROM definitions"
    assert lakehouse_json("sql", query, "--at", f"r@{commits[3]}") == [{"repo": "r"}]


def test_contents_are_those_of_the_commit_s_files(lake: Lake, tmp_path: Path):
    shop = SyncedRepo(lake, tmp_path / "shop")
    commits: list[str] = []
    for number in range(2):
        commits.append(shop.repo.commit({"a.txt": f"text {number}"}))
        shop.sync()
        tables = json_text({"snapshots": lake.open(SNAPSHOTS).version()})
        told = [{"repo": "shop", "commit_sha": commits[-1], "tables": tables}]
        write(lake, GRAPH_VERSIONS, rows(GRAPH_VERSIONS, told), partitions=("shop",), owners=(), run_id=f"run {number}")
    lakehouse("repo", "add", "shop", str(shop.repo.path))
    for number, commit in enumerate(commits):
        found = lakehouse_json("sql", "SELECT text FROM blobs", "--at", f"shop@{commit}")
        assert found == [{"text": f"text {number}"}]


def test_a_table_that_tells_of_no_commit_is_refused_with_those_that_do(commits: list[str]):
    with pytest.raises(BadInputError) as refusal:
        lakehouse("sql", "SELECT * FROM writes", "--at", f"r@{commits[0]}")
    assert (
        "the tables are definitions, diffs, file_changes, imports_resolved, links, blobs, extracts"
        in refusal.value.remedy
    )


def test_a_commit_that_was_never_published_is_refused_with_the_nearest(lake: Lake, commits: list[str]):
    with pytest.raises(BadInputError) as refusal:
        sources("r@main")
    assert f"never brought to {commits[3][:12]}" in refusal.value.seen
    assert commits[2][:12] in refusal.value.seen
    with pytest.raises(BadInputError, match="REPO@COMMIT"):
        sources("r")
    with pytest.raises(BadInputError, match="no branch, tag or commit"):
        sources("r@nonsense")


def test_versions_tells_what_can_be_read_and_what_is_pinned(commits: list[str]):
    assert "pinned" in lakehouse("pin", f"r@{commits[0]}", "--why", "release").stdout
    assert "was pinned already" in lakehouse("pin", "r@first").stdout
    listed = lakehouse_json("versions", "r")
    assert [(row["commit"], row["readable"], row["why"]) for row in listed] == [
        (commits[2], True, None),
        (commits[1], True, None),
        (commits[0], True, "release"),
    ]
    assert commits[0][:12] in lakehouse("versions", "r").stdout


def test_a_vacuum_keeps_the_last_commits_and_the_pinned_and_tells_so(
    lake: Lake, commits: list[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LAKEHOUSE_KEEP_COMMITS", "1")
    lakehouse("pin", f"r@{commits[0]}", "--why", "release")
    would = lakehouse_json("vacuum", "--older-than", "0", "--dry-run")
    assert sources(f"r@{commits[1]}") == ["a.g1", "a.g2"]
    done = lakehouse_json("vacuum", "--older-than", "0")
    assert [each["removed_files"] for each in done] == [each["removed_files"] for each in would]
    held = {one["by"]: one["why"] for each in done for one in each["held"]}
    assert held[f"pin r@{commits[0][:12]}"] == "release"
    told = [row for row in lake.rows(MAINTENANCE) if row["action"] == "vacuum"]
    assert [row["asset"] for row in told] == [each["table"] for each in done]
    assert lake.size(MAINTENANCE).files == 1
    assert sources(f"r@{commits[0]}") == ["a.g1"]
    assert sources(f"r@{commits[2]}") == ["a.g1", "a.g2", "a.g3"]
    assert [row["readable"] for row in lakehouse_json("versions", "r")] == [True, False, True]
    with pytest.raises(LakeStateError, match="can no longer be read"):
        sources(f"r@{commits[1]}")
    with pytest.raises(LakeStateError, match="nothing left to keep"):
        lakehouse("pin", f"r@{commits[1]}")


def test_what_is_unpinned_goes(commits: list[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LAKEHOUSE_KEEP_COMMITS", "1")
    lakehouse("pin", "r@first")
    lakehouse("vacuum", "--older-than", "0")
    assert "unpinned" in lakehouse("unpin", "r@first").stdout
    assert "was not pinned" in lakehouse("unpin", "r@first").stdout
    shown = lakehouse("vacuum", "--older-than", "0")
    assert "were removed" in shown.stderr
    assert [row["readable"] for row in lakehouse_json("versions", "r")] == [True, False, False]


def test_optimize_tells_what_it_did_and_leaves_commits_readable(commits: list[str]):
    told = {row["table"]: row for row in lakehouse_json("optimize", "--everything", "graph_versions", "writes")}
    assert (told["graph_versions"]["files"], told["graph_versions"]["files after"]) == (3, 1)
    assert lakehouse_json("optimize", "--everything", "graph_versions")[0]["partitions"] == 0
    assert sources(f"r@{commits[1]}") == ["a.g1", "a.g2"]
    with pytest.raises(BadInputError, match="did you mean 'links'"):
        lakehouse("optimize", "link")
