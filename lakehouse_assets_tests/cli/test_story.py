"""`lakehouse story` on real runs: one that wrote, one that failed, one in which nothing had to be made."""

from pathlib import Path

import pytest

from lakehouse_assets.cli.progress import Progress
from lakehouse_assets.cli.runs import running
from lakehouse_assets.core.errors import BadInputError, LakehouseError, LakeStateError
from lakehouse_assets.core.settings import Settings
from lakehouse_assets_tests.support.command import lakehouse, lakehouse_json
from lakehouse_assets_tests.support.repos import RepoBuilder


@pytest.fixture
def shop(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RepoBuilder:
    monkeypatch.setenv("LAKEHOUSE_ENGINE", "local")
    shop = RepoBuilder(tmp_path / "shop")
    shop.commit({"shop/cart.py": "def total():\n    return 1\n", "shop/<b>.py": "x = '</script>'\n"})
    lakehouse("repo", "add", "shop", str(shop.path))
    lakehouse("sync", "shop")
    return shop


RUNS = "SELECT run_id, min(written_at) AS moment FROM writes WHERE asset = 'snapshots' GROUP BY run_id ORDER BY moment"


def by_name(story: dict) -> dict[str, dict]:
    return {asset["name"]: asset for asset in story["assets"]}


def test_a_story_tells_what_was_asked_what_was_made_and_why(shop: RepoBuilder, settings: Settings, tmp_path: Path):
    head = shop.commit({"shop/cart.py": "def total():\n    return 2\n"})
    lakehouse("sync", "shop")
    told = lakehouse_json("story")
    assert (told["run"]["status"], told["run"]["asked"]) == ("succeeded", {"shop": head})
    assets = by_name(told)
    assert assets["snapshots"]["outcome"] == "written"
    assert assets["snapshots"]["why"] == "Made because: shop: commit changed."
    ((before, after),) = assets["snapshots"]["writes"][0]["samples"]["changed"]
    assert (before[1], after[1]) == ("shop/cart.py", "shop/cart.py")
    assert before != after
    assert assets["module_index"]["outcome"] in ("equal", "untouched")
    assert {check["name"] for check in assets["snapshots"]["checks"]} >= {"contract"}
    signatures = {each["column"]: each for each in assets["definitions"]["nulls"]}
    assert signatures["parent_id"]["after"] == 2

    page = tmp_path / "story.html"
    lakehouse("story", told["run"]["run_id"][:8], "-o", str(page))
    assert "Made because: shop: commit changed." in page.read_text()

    first, second = (row["run_id"] for row in lakehouse_json("sql", RUNS))
    drifts = {drift["asset"]: drift for drift in lakehouse_json("run-diff", first, second)["drifts"]}
    assert drifts["snapshots"]["kinds"] == ["inputs"]
    assert (drifts["snapshots"]["rows"]["changed"], drifts["snapshots"]["rows"]["added"]) == (1, 0)
    assert drifts["module_index"]["rows"] is None
    assert "snapshots of shop: inputs changed (commit" in lakehouse("run-diff", first, second).stdout
    lakehouse("run-diff", first, second, "-o", str(page))
    assert "snapshots of shop" in page.read_text()
    lakehouse("delta-diff", "snapshots", "1", "2", "-o", str(page))
    assert "shop/cart.py" in page.read_text()
    assert (
        "snapshots from version 1 to 2: 0 added, 0 removed, 1 changed"
        in lakehouse("delta-diff", "snapshots", "1", "2").stdout
    )

    lakehouse("repo", "add", "copy", str(shop.path))
    lakehouse("sync", "copy")
    third = lakehouse_json("story")["run"]["run_id"]
    kinds = {
        (drift["asset"], drift["key"]["partition"]): drift
        for drift in lakehouse_json("run-diff", second, third)["drifts"]
    }
    assert kinds["snapshots", "copy"]["kinds"] == ["new"]
    assert kinds["snapshots", "shop"]["kinds"] == ["none"]
    told = lakehouse("run-diff", second, third).stdout
    assert "snapshots of copy: new\n  it was not there at the first run" in told

    with running(settings, Progress(quiet=True)) as again:
        (result,) = again({"shop": head})
    told = lakehouse_json("story", result.run_id)
    assert {asset["outcome"] for asset in told["assets"]} == {"untouched"}
    assert "sync: succeeded" in lakehouse("story").stdout


def test_every_materialization_links_to_its_run_s_story(shop: RepoBuilder, settings: Settings):
    from dagster import AssetKey

    from lakehouse_assets.cli.instance import open_instance

    with open_instance(settings) as instance:
        event = instance.get_latest_materialization_event(AssetKey("snapshots"))
    assert event is not None
    assert event.asset_materialization is not None
    link = event.asset_materialization.metadata["story"].value
    assert link == f"http://127.0.0.1:3001/runs/{event.run_id}"


def test_a_failed_run_tells_the_error_and_what_was_not_reached(shop: RepoBuilder, monkeypatch: pytest.MonkeyPatch):
    def refuse(**_: object) -> None:
        raise LakeStateError(
            subject="links of <b>", seen="they are torn", why="calls would be lost", remedy="mend them"
        )

    monkeypatch.setattr("lakehouse_assets.assets.graph.linking.link_repository", refuse)
    shop.commit({"shop/new.py": "y = 1\n"})
    with pytest.raises(LakehouseError, match="they are torn"):
        lakehouse("sync", "shop")
    told = lakehouse_json("story")
    assert told["run"]["status"] == "failed"
    problems = [step["problem"] for step in told["run"]["steps"] if step["problem"]]
    assert problems == [
        {"subject": "links of <b>", "seen": "they are torn", "why": "calls would be lost", "remedy": "mend them"}
    ]
    assets = by_name(told)
    assert (assets["snapshots"]["outcome"], assets["links"]["outcome"]) == ("written", "failed")
    assert assets["graph_versions"]["why"] == "Not reached, because linking failed."


def test_a_run_that_is_not_there_is_refused_with_those_that_are(shop: RepoBuilder):
    with pytest.raises(BadInputError, match="the latest are"):
        lakehouse("story", "nonsense")
