"""`lakehouse diff` and `lakehouse impact`: any two commits, and the last update, without a JVM."""

from pathlib import Path

import pytest

from lakehouse_assets.cli.impact import children_of, tree
from lakehouse_assets.core.errors import BadInputError, LakeStateError
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.command import lakehouse, lakehouse_json
from lakehouse_assets_tests.support.repos import RepoBuilder
from lakehouse_assets_tests.support.worlds import World, publish

CART = "def total(items):\n    return sum(items)\n\ndef empty():\n    return not total([])\n"


@pytest.fixture
def commits(tmp_path: Path, lake: Lake) -> list[str]:
    """Two commits of a registered repository `r` that was never synced."""
    repo = RepoBuilder(tmp_path / "r")
    first = repo.commit({"cart.py": CART, "old.py": "X = 1\n" * 9, "notes.txt": "a"})
    edited = CART.replace("(items):", "(items, tax):")
    second = repo.commit({"cart.py": "# new\n" + edited, "old.py": None, "new.py": "X = 1\n" * 9, "notes.txt": "b"})
    lakehouse("repo", "add", "r", str(repo.path))
    return [first, second]


def test_diff_tells_files_and_definitions_between_two_commits(commits: list[str]):
    told = lakehouse_json("diff", "r", f"{commits[0]}..{commits[1]}")
    assert (told["from"], told["to"]) == tuple(commits)
    assert {file["path"]: file["change"] for file in told["files"]} == {
        "cart.py": "modified",
        "new.py": "renamed",
        "notes.txt": "modified",
    }
    assert [(row["symbol"], row["change"]) for row in told["definitions"]] == [
        ("`cart.py`/total().", "signature_changed"),
        ("`new.py`/", "moved"),
    ]
    assert told == lakehouse_json("diff", "r", f"{commits[0]}..")


def test_diff_is_read_by_people(commits: list[str]):
    result = lakehouse("diff", "r", f"{commits[0]}..{commits[1]}")
    assert result.stdout.splitlines() == [
        f"r: {commits[0][:12]}..{commits[1][:12]}",
        "~ cart.py (modified)",
        "    ! function total(items, tax) (signature changed, before: (items))",
        "→ new.py (renamed from old.py, 100 % equal)",
        "    → module <module> (moved, before: `old.py`/)",
        "~ notes.txt (modified)",
    ]
    assert "3 files, 2 definitions changed" in result.stderr


def test_going_back_is_the_opposite(commits: list[str]):
    told = lakehouse_json("diff", "r", f"{commits[1]}..{commits[0]}")
    assert [(row["path"], row["change"]) for row in told["definitions"]] == [
        ("cart.py", "signature_changed"),
        ("old.py", "moved"),
    ]


def test_before_the_first_update_there_is_nothing_to_tell(commits: list[str]):
    with pytest.raises(LakeStateError, match="never published"):
        lakehouse("diff", "r")


@pytest.mark.parametrize("text", ["abc", "..", "..b", "a...b"])
def test_what_is_not_two_commits_is_refused(commits: list[str], text: str):
    with pytest.raises(BadInputError, match=r"A\.\.B"):
        lakehouse("diff", "r", text)


@pytest.fixture
def synced(lake: Lake, commits: list[str]) -> None:
    """The tables as a sync leaves them: `total` changed; `empty` and another file's `pay` use it."""
    world = World().define("cart.py", "cart.py:total().", "cart.py:empty().", "till.py", "till.py:pay().")
    world.use("cart.py:empty().", "cart.py:total().").use("till.py:pay().", "cart.py:empty().")
    world.imports_from("till.py", "cart.py:total().", "total").change("cart.py:total().", "signature_changed")
    publish(lake, world, commits[1])


@pytest.mark.usefixtures("synced")
def test_impact_is_told_as_a_tree(commits: list[str]):
    result = lakehouse("impact", "r", f"{commits[0]}..{commits[1]}")
    assert result.stdout.splitlines()[1:] == [
        "cart.py: ! function total(items, tax) (signature changed, before: (items))",
        "└─ r: `cart.py`/empty(). (calls)",
        "   └─ r: `till.py`/pay(). (calls)",
        "importers",
        "└─ r: till.py (imports definition)",
    ]
    assert "2 definitions in 3 files changed; 2 definitions and 1 other files are touched" in result.stderr
    assert "never brought to" in result.stderr


@pytest.mark.usefixtures("synced")
def test_impact_says_when_it_stops_at_the_limit(commits: list[str]):
    told = lakehouse_json("impact", "r", f"{commits[0]}..", "--limit", "1")
    assert [row["symbol"] for row in told["callers"]] == ["`cart.py`/empty()."]
    assert (told["limit"], told["more_callers"], told["more_importers"]) == (1, True, False)
    assert "more than 1 steps away" in lakehouse("impact", "r", f"{commits[0]}..", "--limit", "1").stderr


@pytest.mark.usefixtures("synced")
def test_impact_of_the_last_update_comes_from_the_tables():
    told = lakehouse_json("impact", "r")
    assert [(row["symbol"], row["distance"]) for row in told["callers"]] == [
        ("`cart.py`/empty().", 1),
        ("`till.py`/pay().", 2),
    ]
    assert [row["impacted_path"] for row in told["impacted_files"]] == ["cart.py", "till.py"]


def test_edges_that_came_and_went_are_told(lake: Lake, commits: list[str]):
    names = ("cart.py", "cart.py:total().", "cart.py:empty().", "till.py", "till.py:pay().")
    before = (
        World().define(*names).use("cart.py:empty().", "cart.py:total().").use("till.py:pay().", "cart.py:empty().")
    )
    after = World().define(*names).use("cart.py:empty().", "cart.py:total().").use("till.py:pay().", "cart.py:total().")
    after.use("till.py:pay().", "cart.py:total().", "REF")
    with pytest.raises(BadInputError, match="never brought to this commit"):
        lakehouse("diff", "r", f"{commits[0]}..", "--edges")
    publish(lake, before, commits[0])
    publish(lake, after, commits[1])

    told = lakehouse_json("diff", "r", f"{commits[0]}..", "--edges")["edges"]
    assert [(row["change"], row["kind"], row["source"], row["target"]) for row in told] == [
        ("removed", "CALL", "till.pay", "cart.empty"),
        ("added", "CALL", "till.pay", "cart.total"),
        ("added", "REF", "till.pay", "cart.total"),
    ]
    calls = lakehouse("diff", "r", f"{commits[0]}..", "--edges", "--kind", "CALL")
    assert calls.stdout.splitlines()[1:] == ["- CALL till.pay → cart.empty", "+ CALL till.pay → cart.total"]
    back = lakehouse_json("diff", "r", f"{commits[1]}..{commits[0]}", "--edges", "--kind", "REF")["edges"]
    assert [(row["change"], row["target"]) for row in back] == [("removed", "cart.total")]


def test_a_kind_of_edge_goes_with_edges(commits: list[str]):
    assert "--kind goes with --edges" in lakehouse("diff", "r", f"{commits[0]}..", "--kind", "CALL").output


def test_a_tree_ends_where_two_repositories_share_symbols():
    rows = [
        {"impacted_repo": "a", "symbol": "s", "via_symbol": "t", "distance": 1, "reason": "calls"},
        {"impacted_repo": "b", "symbol": "t", "via_symbol": "s", "distance": 2, "reason": "calls"},
    ]
    assert tree(children_of(rows), "t", "symbol") == ["└─ a: s (calls)", "   └─ b: t (calls)"]
