"""The graph over several commits: what was extracted, linked and written, and what the tables hold."""

from pathlib import Path
from typing import Any

import pytest

from lakehouse_assets.contracts.extracts import EXTRACTS
from lakehouse_assets.contracts.nodes import NODES
from lakehouse_assets.contracts.writes import WRITES
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.command import lakehouse, lakehouse_json
from lakehouse_assets_tests.support.repos import RepoBuilder

pytestmark = pytest.mark.usefixtures("spark")

CART = """class Cart:
    def __init__(self, items):
        self.items = items

    def total(self):
        return sum(self.items)
"""
MAIN = """from shop.cart import Cart


def run():
    return Cart([1]).total()
"""


@pytest.fixture
def shop(tmp_path: Path) -> RepoBuilder:
    shop = RepoBuilder(tmp_path / "shop")
    shop.commit(
        {"shop/__init__.py": "", "shop/cart.py": CART, "shop/main.py": MAIN, "web/app.js": "function f() { g() }"}
    )
    lakehouse("repo", "add", "shop", str(shop.path))
    lakehouse("sync", "shop")
    return shop


def rows(query: str) -> list[dict[str, Any]]:
    return lakehouse_json("sql", query)


def changed(lake: Lake, *, since: int) -> dict[str, int]:
    """Rows changed by table, in the writes after the first `since`."""
    writes = lake.read(WRITES).sort_by("written_at").slice(since).to_pylist()
    return {
        row["asset"]: row["rows_inserted"] + row["rows_updated"] + row["rows_deleted"]
        for row in writes
        if row["rows_inserted"] + row["rows_updated"] + row["rows_deleted"]
    }


def written(lake: Lake) -> int:
    return lake.read(WRITES, columns=["asset"]).num_rows


def sync(lake: Lake) -> dict[str, int]:
    before = written(lake)
    lakehouse("sync", "shop")
    return changed(lake, since=before)


def calls() -> set[tuple[str, str]]:
    return {
        (row["source"], row["target"])
        for row in rows(
            "SELECT s.qualified_name AS source, t.qualified_name AS target FROM edges e "
            "JOIN definitions s ON s.repo = e.repo AND s.path = e.path AND s.def_id = e.src_def "
            "JOIN definitions t ON t.repo = e.dst_repo AND t.path = e.dst_path AND t.def_id = e.dst_def "
            "WHERE e.kind = 'CALL'"
        )
    }


def test_the_graph_tells_who_calls_whom(shop: RepoBuilder):
    assert calls() >= {("shop.main.run", "shop.cart.Cart.__init__"), ("shop.main.run", "shop.cart.Cart.total")}
    (caller,) = lakehouse_json("callers", "Cart.total")
    assert (caller["path"], caller["line"], caller["source"]) == ("shop/main.py", 5, "shop.main.run")
    assert {row["target"] for row in lakehouse_json("callees", "Cart.total")} == {"<builtin>.sum"}
    assert {row["path"] for row in lakehouse_json("importers", "shop.cart.Cart")} == {"shop/main.py"}
    assert [row["line"] for row in lakehouse_json("definitions", "Cart")] == [1]
    assert {row["path"] for row in lakehouse_json("references", "Cart")} == {"shop/main.py"}


def test_no_edge_has_a_loose_end(shop: RepoBuilder):
    assert (
        rows(
            "SELECT e.kind, count(*) AS n FROM edges e ANTI JOIN nodes t "
            "ON t.repo = e.dst_repo AND t.path = e.dst_path AND t.def_id = e.dst_def AND t.n = e.dst_n GROUP BY ALL"
        )
        == []
    )
    assert (
        rows(
            "SELECT e.kind, count(*) AS n FROM edges e ANTI JOIN nodes t "
            "ON t.repo = e.repo AND t.path = e.path AND t.def_id = e.src_def AND t.n = e.src_n GROUP BY ALL"
        )
        == []
    )
    kinds = {row["kind"] for row in rows("SELECT DISTINCT kind FROM edges")}
    assert kinds >= {"AST", "CFG", "CDG", "DFG", "REF", "IMPORT", "CALL", "CONTAINS"} - {"CDG"}


def test_an_edit_in_a_body_changes_its_own_file_only(shop: RepoBuilder, lake: Lake):
    shop.commit({"shop/cart.py": CART.replace("sum(self.items)", "sum(self.items) + 1")})
    sync(lake)
    touched = rows("SELECT DISTINCT path FROM nodes")
    assert len(touched) == 4
    (latest,) = [row for row in lake.read(WRITES).sort_by("written_at").to_pylist() if row["asset"] == "edges"][-1:]
    assert latest["rows_inserted"] + latest["rows_updated"] < 40


def test_a_comment_at_the_top_changes_definitions_and_no_node_within_them(shop: RepoBuilder, lake: Lake):
    shop.commit({"shop/cart.py": "# A comment.\n" + CART})
    done = sync(lake)
    assert done["definitions"] == 4
    assert "nodes" not in done
    assert "links" not in done
    assert "edges" not in done


def test_a_rename_and_a_fork_extract_nothing(shop: RepoBuilder, lake: Lake, tmp_path: Path):
    before = lake.read(EXTRACTS, columns=["blob_sha"]).num_rows
    shop.commit({"shop/main.py": None, "shop/start.py": MAIN})
    lakehouse("sync", "shop")
    fork = RepoBuilder(tmp_path / "fork")
    fork.commit({"shop/__init__.py": "", "shop/cart.py": CART})
    lakehouse("repo", "add", "fork", str(fork.path))
    lakehouse("sync", "fork")
    assert lake.read(EXTRACTS, columns=["blob_sha"]).num_rows == before
    assert ("shop.start.run", "shop.cart.Cart.total") in calls()
    assert lake.read(NODES, columns=["path"], where="repo = 'fork'").num_rows > 0


def test_a_change_of_nothing_that_counts_writes_nothing_of_the_graph(shop: RepoBuilder, lake: Lake):
    shop.commit({"README.md": "# Shop\n"})
    done = sync(lake)
    assert set(done) == {"commits", "snapshots", "blobs", "file_changes", "graph_versions"}


def test_updates_give_what_a_clean_build_gives(shop: RepoBuilder):
    shop.commit({"shop/cart.py": CART.replace("def total", "def price"), "shop/tax.py": "RATE = 1\n"})
    lakehouse("sync", "shop")
    shop.commit({"shop/cart.py": CART, "shop/tax.py": None, "shop/main.py": MAIN.replace("run", "start")})
    lakehouse("sync", "shop")
    differences = lakehouse_json("verify", "shop")
    assert {each["table"] for each in differences} >= {"nodes", "edges", "definitions", "links", "props", "snapshots"}
    assert [each for each in differences if each["surplus"] or each["lacking"]] == []


def test_a_file_that_cannot_be_parsed_fails_nothing_and_comes_back(shop: RepoBuilder):
    shop.commit({"shop/cart.py": "class Cart(:\n"})
    lakehouse("sync", "shop")
    (extract,) = rows("SELECT e.status FROM snapshots s JOIN extracts e USING (blob_sha) WHERE s.path = 'shop/cart.py'")
    assert extract["status"] in ("partial", "failed")
    shop.commit({"shop/cart.py": CART})
    lakehouse("sync", "shop")
    assert ("shop.main.run", "shop.cart.Cart.total") in calls()
    assert [d for d in lakehouse_json("verify", "shop") if d["surplus"] or d["lacking"]] == []


def test_a_file_that_goes_takes_its_edges_along(shop: RepoBuilder):
    shop.commit({"shop/cart.py": None})
    lakehouse("sync", "shop")
    assert rows("SELECT count(*) AS n FROM edges WHERE path = 'shop/cart.py' OR dst_path = 'shop/cart.py'") == [
        {"n": 0}
    ]
    assert ("shop.main.run", "shop.cart.Cart.total") not in calls()


def test_a_call_into_another_repository_is_an_edge_and_follows_that_repository(shop: RepoBuilder, tmp_path: Path):
    site = RepoBuilder(tmp_path / "site")
    site.commit({"site/__init__.py": "", "site/page.py": "from shop.cart import Cart\n\n\ndef show():\n    Cart([])\n"})
    lakehouse("repo", "add", "site", str(site.path))
    lakehouse("sync", "site")
    assert {row["kind"] for row in rows("SELECT kind FROM imports_resolved WHERE repo = 'site'")} == {
        "other_repository"
    }
    assert ("site.page.show", "shop.cart.Cart.__init__") in calls()
    assert lakehouse_json("status", "site")["repositories"][0]["fresh"]

    shop.commit({"shop/cart.py": CART.replace("__init__(self, items)", "start(self)")})
    lakehouse("sync", "shop")
    (state,) = lakehouse_json("status", "site")["repositories"]
    assert {reason["part"] for reason in state["stale"]} == {"input_versions"}
    lakehouse("sync", "site")
    assert ("site.page.show", "shop.cart.Cart.__init__") not in calls()
    assert [each for each in lakehouse_json("verify", "site") if each["surplus"] or each["lacking"]] == []


def test_spark_makes_the_rows_that_this_process_makes(shop: RepoBuilder, monkeypatch: pytest.MonkeyPatch):
    """The fixture's build was small enough for this process; the clean one is made by workers."""
    monkeypatch.setenv("LAKEHOUSE_ENGINE", "spark")
    assert [each for each in lakehouse_json("verify", "shop") if each["surplus"] or each["lacking"]] == []
