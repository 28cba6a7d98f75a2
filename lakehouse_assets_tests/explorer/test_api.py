"""The JSON API on a real lake."""

import io
import json
import zipfile

import pytest

from lakehouse_assets_tests.explorer.conftest import Explored


def names(page: dict) -> list[str]:
    return [each["symbol"]["qualified_name"] if each["symbol"] else each["external"] for each in page["items"]]


def test_the_best_find_comes_first_whatever_the_case(explored: Explored):
    found = explored.served.ask("/search", q="CART")
    assert [each["qualified_name"] for each in found["items"]][:2] == ["shop.cart.Cart", "shop.cart"]
    assert found["total"] == len(found["items"])
    only = explored.served.ask("/search", q="total", repo="shop", limit=1, offset=1)
    assert (len(only["items"]), only["total"]) == (1, 2)
    assert explored.served.ask("/search", q="run", kind="class")["total"] == 0


def test_relations_lead_both_ways_and_across_repositories_and_say_how_sure_they_are(explored: Explored):
    served = explored.served

    def related(name: str, relation: str) -> dict:
        symbol = served.find(name)
        return served.ask(f"/symbols/{symbol['repo']}/{symbol['id']}/related/{relation}")

    assert names(related("shop.main.run", "callers")) == ["web.view.show"]
    (called,) = related("web.view.show", "callees")["items"]
    assert (called["symbol"]["repo"], called["line"], called["confidence"]) == ("shop", 5, "certain")
    assert names(related("shop.cart.Cart", "bases")) == ["shop.cart.Base"]
    assert names(related("shop.cart.Base", "subclasses")) == ["shop.cart.Cart"]
    assert names(related("shop.cart.Base.total", "overriders")) == ["shop.cart.Cart.total"]
    assert names(related("shop.cart.Cart", "members")) == ["shop.cart.Cart.total", "shop.cart.Cart.priced"]
    assert "web.view" in names(related("shop.main.run", "importers"))


def test_a_definition_has_its_source_and_counts(explored: Explored):
    symbol = explored.served.find("shop.cart.Cart.priced")
    told = explored.served.ask(f"/symbols/shop/{symbol['id']}")
    assert (told["line"], told["inside"]["qualified_name"]) == (12, "shop.cart.Cart")
    assert told["counts"]["callers"] == 1
    source = explored.served.ask(f"/symbols/shop/{symbol['id']}/source")
    assert (source["first_line"], source["lines"][1]) == (12, "        return count")


def test_an_earlier_commit_can_be_asked_and_history_tells_what_it_changed(explored: Explored):
    first, second = explored.commits["shop"]
    main = explored.served.find("shop.main.main")
    path = f"/symbols/shop/{main['id']}"
    assert names(explored.served.ask(f"{path}/related/callees")) == ["shop.cart.Cart"]
    assert names(explored.served.ask(f"{path}/related/callees", at=first[:10])) == ["shop.main.run"]
    history = explored.served.ask(f"{path}/history")
    assert {
        (each["commit"], each["change"], each["target"]) for each in history["items"] if each["kind"] == "CALL"
    } == {
        (first, "known from", "shop.main.run"),
        (second, "removed", "shop.main.run"),
        (second, "added", "shop.cart.Cart"),
    }


def test_impact_is_told_of_a_commit_and_of_a_change_that_was_not_made(explored: Explored):
    priced = explored.served.find("shop.cart.Cart.priced")
    touched = explored.served.ask(f"/symbols/shop/{priced['id']}/impact")
    reached = {row["symbol"].rpartition("/")[2]: row["distance"] for row in touched["callers"]}
    assert reached["Cart#total()."] == 1
    assert reached["show()."] == 3
    nearest = next(row for row in touched["callers"] if row["distance"] == 1)
    assert (nearest["definition"]["qualified_name"], nearest["via_name"]) == (
        "shop.cart.Cart.total",
        "shop.cart.Cart.priced",
    )
    found = explored.served.ask("/repositories/shop/diff", commits="..".join(explored.commits["shop"]))
    assert [(row["name"], row["change"]) for row in found["definitions"]] == [("main", "body_changed")]
    assert [row["id"] for row in found["definitions"]] == [explored.served.find("shop.main.main")["id"]]
    assert explored.served.ask("/repositories/shop/impact")["to"] == explored.commits["shop"][1]


def test_edges_that_came_and_went_with_a_commit_are_told_page_by_page(explored: Explored):
    commits = "..".join(explored.commits["shop"])
    calls = {
        (row["change"], row["source"], row["target"])
        for row in explored.served.ask("/repositories/shop/edges", commits=commits)["items"]
        if row["kind"] == "CALL"
    }
    assert calls == {
        ("removed", "shop.main.main", "shop.main.run"),
        ("added", "shop.main.main", "shop.cart.Cart"),
    }
    page = explored.served.ask("/repositories/shop/edges", limit=1, offset=1)
    assert (page["to"], page["offset"], len(page["items"])) == (explored.commits["shop"][1], 1, 1)


def test_runs_and_their_stories_are_told_to_programs(explored: Explored):
    latest = explored.served.ask("/runs")["items"][0]
    assert (latest["status"], latest["job"]) == ("succeeded", "sync")
    assert latest["asked"] == {"shop": explored.commits["shop"][1]}
    told = explored.served.ask(f"/runs/{latest['run_id'][:8]}")
    assert {asset["name"] for asset in told["assets"] if asset["outcome"] == "written"} >= {"snapshots", "definitions"}


@pytest.mark.parametrize(
    ("path", "status", "subject"),
    [
        ("/api/search", 400, "parameter q"),
        ("/api/search?q=a&q=b", 400, "parameter 'q'"),
        ("/api/search?q=a&limit=0", 400, "parameter limit"),
        ("/api/search?q=a&limit=9999", 400, "parameter limit"),
        ("/api/search?q=a&nonsense=1", 400, "parameter 'nonsense'"),
        ("/api/search?q=a&at=abc", 404, "commit 'abc'"),
        ("/api/symbols/shop/nonsense", 404, "symbol nonsense of shop"),
        ("/api/symbols/shop/0000000000000000/related/friends", 400, "parameter relation"),
        ("/api/repositories/nobody/diff", 404, "repository 'nobody'"),
        ("/api/repositories/shop/diff?commits=nonsense", 404, "commits 'nonsense'"),
        ("/api/runs/nonsense", 404, "run 'nonsense'"),
        ("/api/nothing", 404, "request"),
    ],
)
def test_a_wrong_question_is_refused_by_name(explored: Explored, path: str, status: int, subject: str):
    reply = explored.served.get(path)
    assert (reply.status, json.loads(reply.body)["error"]["subject"]) == (status, subject)


def test_exports_are_files_to_download(explored: Explored):
    graph = explored.served.get("/exports/callgraph/shop")
    assert graph.headers["content-disposition"] == 'attachment; filename="shop.callgraph.json"'
    assert json.loads(graph.body)["shop.main.run"]
    assert explored.served.get("/exports/scip/shop").body
    assert b"<graphml" in explored.served.get("/exports/graphml/shop").body[:500]
    csv = zipfile.ZipFile(io.BytesIO(explored.served.get("/exports/neo4j-csv/shop").body))
    assert csv.namelist() == ["nodes.csv", "relationships.csv"]
    assert csv.read("nodes.csv").startswith(b"id:ID,")
    assert explored.served.get("/exports/zip/shop").status == 400
    assert explored.served.get("/exports/scip/..%2F..%2Fetc").status in (400, 404)
