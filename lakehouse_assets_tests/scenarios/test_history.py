"""A repository through four commits: its past is read, told, and kept through compaction and vacuum."""

from pathlib import Path

import pytest

from lakehouse_assets.contracts.edge_lifetimes import EDGE_LIFETIMES
from lakehouse_assets.contracts.writes import WRITES
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.command import lakehouse, lakehouse_json
from lakehouse_assets_tests.support.repos import RepoBuilder

CART = "def total(items):\n    return sum(items)\n"
TILL = "from cart import total\n\n\ndef pay(items):\n    return total(items)\n"
CALLS = "SELECT count(*) AS n FROM links WHERE kind = 'CALL' AND external IS NULL"


@pytest.fixture
def commits(tmp_path: Path, lake: Lake, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """`pay` calls `total`, does not, does again; the last commit adds a comment. Each is synced by itself."""
    monkeypatch.setenv("LAKEHOUSE_ENGINE", "local")
    monkeypatch.setenv("LAKEHOUSE_KEEP_COMMITS", "1")
    repo = RepoBuilder(tmp_path / "shop")
    made: list[str] = []
    for till in (TILL, TILL.replace("total(items)", "0"), TILL, TILL + "# done\n"):
        made.append(repo.commit({"cart.py": CART, "till.py": till}))
        if len(made) == 1:
            lakehouse("repo", "add", "shop", str(repo.path))
        lakehouse("sync", "shop")
    return made


@pytest.mark.slow
def test_the_past_is_read_told_and_kept(lake: Lake, commits: list[str]):
    # 1. Each commit reads as it was.
    def calls() -> list[int]:
        return [lakehouse_json("sql", CALLS, "--at", f"shop@{commit}")[0]["n"] for commit in (commits[0], commits[-1])]

    before = calls()
    assert before == [1, 1]
    assert lakehouse_json("sql", CALLS, "--at", f"shop@{commits[1]}") == [{"n": 0}]

    # 2. The edge died and came back.
    told = lakehouse_json("history", "till.pay", "--kind", "CALL")
    edges = [life for life in told["edges"] if life["target"] == "cart.total"]
    assert [(life["first_commit"], life["removed_in"]) for life in edges] == [
        (commits[0], commits[1]),
        (commits[2], None),
    ]
    assert [life["first_commit"] for life in told["definitions"]] == [commits[0]]
    shown = lakehouse("history", "pay").stdout
    assert f"{commits[1][:12]}  removed" in shown
    assert "CALL till.pay → cart.total" in shown

    # 3. A comment changes no relationship: its lives were not even looked at.
    writes = [row for row in lake.rows(WRITES) if row["asset"] == EDGE_LIFETIMES.name]
    assert len(writes) == 3

    # 4. After compaction and vacuum the pinned commit and the last read as before, and updates go on.
    lakehouse("pin", f"shop@{commits[0]}")
    lakehouse("optimize", "--everything")
    assert lakehouse_json("status", "shop")
    assert "fresh" in lakehouse("sync", "shop", "--dry-run").stdout
    lakehouse("vacuum", "--older-than", "0")
    assert calls() == before
    assert [row["readable"] for row in lakehouse_json("versions", "shop")] == [True, False, False, True]
    assert all(not each["surplus"] and not each["lacking"] for each in lakehouse_json("verify", "shop"))
    assert not any(each["removed_files"] for each in lakehouse_json("vacuum", "--older-than", "0", "links", "edges"))
