"""What did not pass its audits is not shown: whoever asks, however often, until the rows or the audit change."""

from pathlib import Path

import pytest

from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.lake.environment_changes import promote
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.model_lake import ModelLake, file
from lakehouse_assets_tests.support.models import model_text

SMALL = "\n  - at_most: {size: 5}"
SIZES = model_text("SELECT repo, path, size FROM snapshots", audits=SMALL)
VIEW = model_text("SELECT repo, path, size FROM snapshots", materialization="view", key=None, audits=SMALL)
PATHS = "SELECT repo, path FROM sizes"


@pytest.fixture
def found(tmp_path: Path) -> ModelLake:
    """`sizes` over one file, and `paths` over it, shown in prod."""
    found = ModelLake(Lake(tmp_path / "lake"), tmp_path / "models")
    found.rows(SNAPSHOTS, [file("a", "x.py", 1)])
    found.create("prod")
    return found


def shown(found: ModelLake, environment: str = "prod", model: str = "sizes") -> list[str]:
    return [row["path"] for row in found.ask(environment, f"SELECT path FROM {model} ORDER BY path")]


def test_a_version_that_failed_its_audit_is_not_shown_by_applying_again(found: ModelLake):
    found.models(sizes=SIZES.replace("5", "0"))
    for _ in range(3):
        done = found.apply("prod")
        assert (done.status, list(done.failed)) == ("failed", ["sizes"])
        assert found.environment("prod").models == {}


@pytest.mark.parametrize("materialization", ["full", "by_key", "view"])
def test_refreshed_rows_that_failed_an_audit_are_not_shown_by_applying_again(found: ModelLake, materialization: str):
    stored = SIZES.replace("*/", f"materialization: {materialization}\n*/")
    found.models(sizes=VIEW if materialization == "view" else stored, paths=PATHS)
    assert found.apply("prod").status == "succeeded"
    found.rows(SNAPSHOTS, [file("a", "x.py", 1), file("a", "y.py", 9)])
    for _ in range(2):
        done = found.apply("prod")
        assert done.status == "failed"
        assert "at_most_size: 1 rows" in done.failed["sizes"]
        assert done.failed["paths"] == "not run, because sizes failed"
        assert shown(found) == shown(found, model="paths") == ["x.py"]
    found.rows(SNAPSHOTS, [file("a", "x.py", 1), file("a", "y.py", 2)])
    if materialization != "by_key":
        assert found.apply("prod").status == "succeeded"
        assert shown(found) == shown(found, model="paths") == ["x.py", "y.py"]


def test_an_audit_that_is_changed_so_that_it_holds_lets_the_rows_be_shown(found: ModelLake):
    found.models(sizes=SIZES.replace("5", "0"))
    assert found.apply("prod").status == "failed"
    found.models(sizes=SIZES)
    done = found.apply("prod")
    assert (done.status, done.run) == ("succeeded", ())
    assert shown(found) == ["x.py"]


def test_rows_that_failed_in_one_environment_are_not_shown_by_another_that_shares_them(found: ModelLake):
    found.models(sizes=SIZES)
    found.apply("prod")
    found.create("dev", base="prod")
    found.rows(SNAPSHOTS, [file("a", "y.py", 9)])
    assert found.apply("dev").status == found.apply("prod").status == "failed"
    assert shown(found) == shown(found, "dev") == ["x.py"]
    found.create("fresh")
    assert found.apply("fresh").status == "failed"
    assert found.environment("fresh").models == {}


def test_rows_that_failed_are_not_read_by_a_model_that_is_chosen_alone(found: ModelLake):
    found.models(sizes=SIZES, paths=PATHS, other="SELECT repo, path FROM snapshots")
    found.apply("prod")
    found.rows(SNAPSHOTS, [file("a", "x.py", 1), file("a", "y.py", 9)])
    assert found.apply("prod").status == "failed"
    assert set(found.apply("prod", select=["paths"]).failed) == {"sizes", "paths"}
    assert shown(found, model="paths") == ["x.py"]
    assert found.apply("prod", select=["other"]).status == "succeeded"  # it does not read them
    assert shown(found, model="other") == ["x.py", "y.py"]
    assert shown(found) == ["x.py"]


def test_the_audits_of_a_view_are_asked_when_it_is_new_and_when_its_rows_change(found: ModelLake):
    found.models(sizes=VIEW.replace("5", "0"))
    assert "at_most_size: 1 rows" in found.apply("prod").failed["sizes"]
    found.models(sizes=VIEW)
    assert found.apply("prod").status == "succeeded"
    found.create("dev", base="prod")
    found.models(sizes=VIEW.replace("size FROM", "size + 9 AS size FROM"))
    assert found.apply("dev").status == "failed"
    promote(found.lake, "dev", "prod")
    assert found.ask("prod", "SELECT size FROM sizes") == [{"size": 1}]


def test_what_is_shown_and_did_not_change_is_not_audited_again(found: ModelLake):
    broken_by_others = "SELECT * FROM this WHERE size < (SELECT COUNT(*) FROM snapshots WHERE repo = 'b')"
    found.models(
        sizes=model_text(
            "SELECT repo, path, size FROM snapshots WHERE repo = 'a'", audits=f'\n  - few: "{broken_by_others}"'
        )
    )
    plan = found.plan("prod")
    assert [each.audit for each in found.application(plan).audits] == ["few"]
    assert found.application(found.plan("prod")).audits == []
    # Its own rows stay, and what else the audit reads moves.
    found.rows(SNAPSHOTS, [file("b", "x.py"), file("b", "y.py")])
    assert "few: 1 rows" in found.apply("prod").failed["sizes"]


@pytest.mark.parametrize(("first", "second"), [("children", "parents"), ("orders", "customers")])
def test_a_relationship_is_asked_whatever_the_order_of_the_models_names(found: ModelLake, first: str, second: str):
    for child, parent in ((first, second), (second, first)):
        audits = f"\n  - relationships: {{path: {parent}.path}}"
        found.models(
            **{
                child: model_text("SELECT repo, path FROM snapshots", audits=audits),
                parent: "SELECT repo, path FROM snapshots WHERE size < 2",
            }
        )
        found.create(child)
        assert found.apply(child).status == "succeeded"
        found.rows(SNAPSHOTS, [file("a", "x.py", 1), file("a", "y.py", 2)])
        for _ in range(2):
            assert "relationships_path: 1 rows" in found.apply(child).failed[child]
        found.rows(SNAPSHOTS, [file("a", "x.py", 1)])


def test_two_models_may_have_relationships_to_each_other(found: ModelLake):
    for one, other in (("ours", "theirs"), ("theirs", "ours")):
        audits = f"\n  - relationships: {{path: {other}.path}}"
        found.models(**{one: model_text("SELECT repo, path FROM snapshots", audits=audits)})
    assert found.apply("prod").status == "succeeded"


def test_an_audit_of_a_table_that_is_nowhere_is_told_with_the_nearest_name(found: ModelLake):
    found.models(sizes=SIZES.replace("at_most: {size: 5}", "relationships: {path: snapshot.path}"))
    assert "did you mean 'snapshots'?" in found.apply("prod").failed["sizes"]
