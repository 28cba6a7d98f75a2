"""`lakehouse replay`: commit after commit as updates of their own."""

import json
from pathlib import Path

import pytest

from lakehouse_assets.cli.replay import Update, _print
from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.contracts.definitions import DEFINITIONS
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.lake.ledger import Ledger
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.command import lakehouse, lakehouse_json
from lakehouse_assets_tests.support.repos import RepoBuilder


@pytest.fixture
def made(tmp_path: Path, lake: Lake) -> list[str]:
    """The commits of a registered repository `shop`, oldest first."""
    shop = RepoBuilder(tmp_path / "shop")
    made = [
        shop.commit({"cart.py": "def total(): ...\n", "README.md": "# Shop\n"}, message="first"),
        shop.commit({"cart.py": "def total(items): ...\n"}, message="a signature"),
        shop.commit({"README.md": None, "docs.md": "# Shop\n"}, message="a rename"),
        shop.commit({"cart.py": "def total(items): ...\n\n\ndef pay(): ...\n"}, message="a function"),
    ]
    lakehouse("repo", "add", "shop", str(shop.path))
    return made


def test_each_commit_is_an_update_that_starts_at_the_one_before(made: list[str], lake: Lake):
    told = lakehouse_json("replay", "shop", "--last", "2")

    assert [each["commit"] for each in told] == made[1:]
    assert [each["files_changed"] for each in told] == [None, 2, 1]
    assert told[0]["subject"].startswith("(start")
    assert [each["subject"] for each in told[1:]] == ["a rename", "a function"]
    assert len({each["run_id"] for each in told}) == 3
    for each in told:
        groups = {name: taken for name, taken in each["seconds"].items() if name != "all"}
        assert {"git", "graph"} <= set(groups)
        assert sum(groups.values()) <= each["seconds"]["all"] + 0.1
    assert all(each["rows_changed"] > 0 for each in told)
    assert Ledger(lake).latest([COMMITS])["commits", "shop"].cursor == made[3]
    assert sorted(lake.read(SNAPSHOTS)["path"].to_pylist()) == ["cart.py", "docs.md"]

    again = lakehouse("replay", "shop", f"{made[2][:10]}..main")
    assert [line.split()[0] for line in again.stdout.splitlines()[2:4]] == [made[2][:10], made[3][:10]]
    assert "1 updates in" in again.stdout


def test_the_table_names_the_commit_and_what_it_cost(capsys: pytest.CaptureFixture[str]):
    update = Update(
        commit_sha="c0ffee" * 6 + "c0ff",
        subject="x" * 80,
        files_changed=3,
        rows_changed=12,
        seconds={"git": 0.25, "graph": 0.5},
        total=1.0,
        run_id="run",
    )
    _print([update])
    heading, _, row, _, summary = capsys.readouterr().out.splitlines()
    assert heading.split() == ["commit", "subject", "files", "rows", "git", "s", "graph", "s", "all", "s"]
    assert row.split()[0] == "c0ffeec0ff"
    assert row.split()[2:] == ["3", "12", "0.25", "0.5", "1"]
    assert len(row.split()[1]) == 44
    assert summary == "1 updates in 1.0 s: half of them within 1.00 s, all within 1.00 s"


@pytest.mark.parametrize("words", [(), ("main..main", "--last", "2"), ("main",), ("..main",), ("main..",)])
def test_a_command_line_that_says_too_much_or_too_little_is_refused(made: list[str], words: tuple[str, ...]):
    assert lakehouse("replay", "shop", *words).exit_code == 2


def test_commits_that_lead_nowhere_are_refused_before_anything_runs(made: list[str], lake: Lake):
    with pytest.raises(BadInputError, match="not on the first-parent line"):
        lakehouse("replay", "shop", f"{made[2]}..{made[1]}")
    assert not lake.exists(COMMITS)


@pytest.fixture
def without_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKEHOUSE_ENGINE", "local")


@pytest.mark.slow
@pytest.mark.usefixtures("without_spark")
def test_rows_are_compared_with_a_clean_build_on_the_way_and_at_the_end(made: list[str]):
    result = lakehouse("replay", "shop", "--last", "3", "--verify-every", "2", "--json")
    assert result.exit_code == 0
    compared = [each["compared"] for each in json.loads(result.stdout)]
    assert [tables is not None for tables in compared] == [False, False, True, True]
    assert {each["table"] for each in compared[-1]} >= {"nodes", "edges", "links", "definitions"}
    assert all(each["surplus"] == each["lacking"] == 0 < each["rows"] for each in compared[-1][:2])


@pytest.mark.slow
@pytest.mark.usefixtures("without_spark")
def test_it_stops_where_a_row_differs_and_says_so(made: list[str], lake: Lake):
    lakehouse("sync", "shop", "--to", made[1])
    lake.open(DEFINITIONS).delete("name = 'total'")
    result = lakehouse("replay", "shop", f"{made[1]}..{made[3]}", "--verify-every", "1")
    assert result.exit_code == 1
    assert f"At {made[2][:10]}, where the repository now stands" in result.stdout
    assert "definitions differs in cart.py" in result.stdout
    assert Ledger(lake).latest([COMMITS])["commits", "shop"].cursor == made[2]
