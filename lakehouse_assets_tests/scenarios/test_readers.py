"""What readers see while repositories are being synced, and after a sync was killed: one commit, whoever asks."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lakehouse_assets.assets.change.between import last_update
from lakehouse_assets.contracts.graph_versions import PUBLISHED
from lakehouse_assets.core.errors import LakeStateError
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.explorer.answers import Answers
from lakehouse_assets.explorer.holder import Indexes
from lakehouse_assets.explorer.opened import open_lake
from lakehouse_assets.lake.exports.callgraph import export_callgraphs
from lakehouse_assets.lake.history import lives_of
from lakehouse_assets.lake.published_graph import newest_graph
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.command import lakehouse, lakehouse_json
from lakehouse_assets_tests.support.graph_lake import GraphLake, sync_assets
from lakehouse_assets_tests.support.model_lake import ModelLake
from lakehouse_assets_tests.support.models import model_text
from lakehouse_assets_tests.support.repos import RepoBuilder, registered

BEFORE: dict[str | bytes, Any] = {
    "shop/__init__.py": "",
    "shop/cart.py": "def old():\n    pass\n\n\ndef run():\n    old()\n",
}
AFTER: dict[str | bytes, Any] = {"shop/cart.py": "def new():\n    pass\n\n\ndef run():\n    new()\n    new()\n"}
USER: dict[str | bytes, Any] = {"web.py": "from shop.cart import run\n\n\ndef show():\n    run()\n"}


class Shop:
    """A shop and a web page that calls it, both published; the shop has a second commit that no run has read yet."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self.builder, web = RepoBuilder(folder / "shop"), RepoBuilder(folder / "web")
        self.first = self.builder.commit(BEFORE)
        web.commit(USER)
        known = [registered(folder / name, name=name) for name in ("shop", "web")]
        self.graph = GraphLake(settings.home, known)
        self.lake: Lake = self.graph.lake
        self.graph.sync()
        self.second = self.builder.commit(AFTER)
        self.settings = settings
        self.folder = folder

    def seen(self) -> dict[str, Any]:
        """What each reader says of the shop."""
        rows = lakehouse_json("sql", "SELECT repo, qualified_name FROM definitions ORDER BY ALL")
        found = Answers(Indexes(self.lake)).search("cart", repo="shop")["items"]
        out = self.folder / "callgraph.json"
        export_callgraphs(self.lake, {"shop": out})
        (shop,) = (each for each in self.graph.repositories.values() if each.name == "shop")
        return {
            "sql": rows,
            "ends": lakehouse_json("sql", _WITHOUT_ENDS),
            "definitions": [row["qualified_name"] for row in lakehouse_json("definitions", "cart.run")],
            "callees": [row["target"] for row in lakehouse_json("callees", "cart.run")],
            "callers": [(row["repo"], row["source"]) for row in lakehouse_json("callers", "cart.run")],
            "importers": [(row["repo"], row["source"]) for row in lakehouse_json("importers", "shop.cart")],
            "references": [(row["repo"], row["line"]) for row in lakehouse_json("references", "cart.run")],
            "explorer": [each["qualified_name"] for each in found],
            "notebook": open_lake(self.settings.home).table("definitions").arrow().num_rows,
            "callgraph": json.loads(out.read_text()),
            "history": [life["qualified_name"] for life in lives_of(self.lake, "shop.cart.run")[0]],
            "diff": last_update(self.lake, shop).to_commit,
        }


_WITHOUT_ENDS = """
SELECT e.repo, e.path, e.kind FROM edges e LEFT JOIN nodes n
  ON n.repo = e.dst_repo AND n.path = e.dst_path AND n.def_id = e.dst_def AND n.n = e.dst_n WHERE n.n IS NULL"""


@pytest.fixture
def shop(settings: Settings, tmp_path: Path) -> Shop:
    return Shop(settings, tmp_path / "repositories")


STOPS = [next(iter(asset.keys)).path[-1] for asset in sync_assets()]


def test_every_reader_sees_the_last_published_commit_wherever_a_sync_was_killed(shop: Shop):
    before = shop.seen()
    assert before["callees"] == ["shop.cart.old"]
    assert before["ends"] == []
    assert before["diff"] == shop.first
    for stop in ("edges", "diffs"):
        shop.graph.sync("shop", until=stop)
        assert shop.seen() == before, stop
    shop.graph.sync("shop")
    after = shop.seen()
    assert after["callees"] == ["shop.cart.new", "shop.cart.new"]
    assert after["ends"] == []
    assert after["diff"] == shop.second


def test_a_publication_is_the_last_thing_that_a_sync_writes():
    published = {each.name for each in PUBLISHED}
    behind = STOPS[STOPS.index("graph_versions") + 1 :]
    assert published.isdisjoint(behind)


def test_other_repositories_are_seen_at_commits_of_their_own(shop: Shop, tmp_path: Path):
    """Web is published behind what the killed sync of the shop wrote: its own rows are the newest."""
    shop.graph.sync("shop", until="edges")
    RepoBuilder(tmp_path / "repositories" / "web").commit({"web.py": f"{USER['web.py']}    run()\n"})
    shop.graph.sync("web")
    assert lakehouse_json("callees", "cart.run")[0]["target"] == "shop.cart.old"
    assert [row["line"] for row in lakehouse_json("callers", "cart.run")] == [5, 6]
    assert lakehouse_json("sql", _WITHOUT_ENDS) == []


def test_a_repository_that_was_never_published_is_said_to_be_so(shop: Shop, tmp_path: Path):
    path = tmp_path / "repositories" / "late"
    RepoBuilder(path).commit({"late.py": "def run():\n    pass\n"})
    lakehouse("repo", "add", "late", str(path))
    shop.graph.repositories["late"] = registered(path, name="late")
    shop.graph.sync("late", until="edges")
    for command in (["definitions", "run"], ["callers", "run"], ["sql", "SELECT count(*) FROM nodes"]):
        said = lakehouse(*command)
        assert "late" not in said.stdout
        assert "not in the answer: late, never published" in said.stderr
    asked: list[Callable[[], object]] = [
        lambda: lakehouse("callers", "late.run", "--repo", "late"),
        lambda: lakehouse("export", "graphml", "late", "-o", str(tmp_path / "late.graphml")),
        lambda: lakehouse("diff", "late"),
        lambda: lakehouse("history", "late.run", "--repo", "late"),
        lambda: Answers(Indexes(shop.lake)).search("run", repo="late"),
    ]
    for ask in asked:
        with pytest.raises(LakeStateError, match="never published"):
            ask()


def test_a_table_is_read_as_one_list_of_files_however_many_versions_are_published(shop: Shop):
    """Each repository was published behind another version; where nothing was written since, files are the newest's."""
    shop.graph.sync("shop")
    graph = newest_graph(shop.lake)
    assert len({commit.versions["nodes"] for commit in graph.commits.values()}) == 2
    for contract in PUBLISHED:
        assert graph.relation(contract).count("read_parquet") <= 1


def test_earlier_commits_are_read_by_the_same_way(shop: Shop):
    shop.graph.sync("shop")
    query = "SELECT qualified_name FROM definitions WHERE kind = 'function' ORDER BY 1"
    names = [row["qualified_name"] for row in lakehouse_json("sql", query, "--at", f"shop@{shop.first}")]
    assert names == ["shop.cart.old", "shop.cart.run"]


def test_models_are_made_of_published_commits(shop: Shop, tmp_path: Path):
    """The shop's sync is killed, and a repository that was never published has rows as well."""
    models = ModelLake(shop.lake, tmp_path / "models")
    models.models(names=model_text("SELECT repo, qualified_name FROM definitions", key="[repo, qualified_name]"))
    models.create("prod")
    models.apply("prod")
    before = models.ask("prod", "SELECT * FROM names ORDER BY ALL")
    path = tmp_path / "repositories" / "late"
    RepoBuilder(path).commit({"late.py": "def run():\n    pass\n"})
    lakehouse("repo", "add", "late", str(path))
    shop.graph.repositories["late"] = registered(path, name="late")
    shop.graph.sync("late", until="edges")
    shop.graph.sync("shop", until="edges")
    models.create("dev")
    models.apply("dev")
    assert models.ask("dev", "SELECT * FROM names ORDER BY ALL") == before
    assert models.ask("dev", "SELECT repo, qualified_name FROM definitions ORDER BY ALL") == before
    shop.graph.sync("shop")
    models.apply("dev")
    after = models.ask("dev", "SELECT * FROM names ORDER BY ALL")
    assert {"repo": "shop", "qualified_name": "shop.cart.new"} in after
    assert {row["repo"] for row in after} == {"shop", "web"}
