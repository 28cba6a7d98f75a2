"""Environments side by side: what is shared, what is built, what each shows, and what happens when two meet."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from lakehouse_assets.contracts.pipeline_executions import PIPELINE_EXECUTIONS
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.core.effects import KILL_AT
from lakehouse_assets.core.errors import BadInputError, LakeStateError
from lakehouse_assets.lake.environment_changes import drop_environment, promote, rollback
from lakehouse_assets.lake.model_plans import check_unmoved
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.models.environment import differences
from lakehouse_assets_tests.support.model_lake import ModelLake, file
from lakehouse_assets_tests.support.models import model_text

SIZES = "SELECT repo, path, size FROM snapshots"
LARGE = "SELECT repo, path FROM sizes WHERE size > 1"
PER_REPO = model_text(SIZES, materialization="by_partition", partition_by="[repo]")


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> ModelLake:
    """`sizes` of two repositories, partition by partition, and `large` over it, applied in prod."""
    home = tmp_path_factory.mktemp("built")
    found = ModelLake(Lake(home / "lake"), home / "models")
    found.rows(SNAPSHOTS, [file("a", "x.py", 1), file("a", "y.py", 2), file("b", "z.py", 3)])
    found.models(sizes=PER_REPO, large=LARGE)
    found.create("prod")
    assert found.ran("prod") == ["large", "sizes"]
    return found


@pytest.fixture
def built(once: ModelLake, tmp_path: Path) -> ModelLake:
    return once.copy(tmp_path)


def large(lake: ModelLake, environment: str) -> list[str]:
    return [row["path"] for row in lake.ask(environment, "SELECT path FROM large ORDER BY path")]


def test_an_environment_over_a_built_lake_writes_no_data_file(built: ModelLake):
    before = built.data_files()
    built.create("dev", base="prod")
    assert built.data_files() == before
    assert large(built, "dev") == large(built, "prod") == ["y.py", "z.py"]
    assert differences(built.environment("dev"), built.environment("prod")) == ()


def test_promoting_computes_nothing_and_can_be_taken_back(built: ModelLake):
    built.create("dev", base="prod")
    built.models(large=LARGE.replace("1", "2"))
    assert built.ran("dev") == ["large"]
    assert (large(built, "dev"), large(built, "prod")) == (["z.py"], ["y.py", "z.py"])
    before = built.data_files()
    done = promote(built.lake, "dev", "prod")
    assert (done.status, done.run) == ("succeeded", ())
    assert large(built, "prod") == ["z.py"]
    rollback(built.lake, "prod")
    assert large(built, "prod") == ["y.py", "z.py"]
    rollback(built.lake, "prod")
    assert large(built, "prod") == ["z.py"]
    assert built.data_files() == before


def test_a_model_by_partition_over_a_table_without_rows_is_empty_until_rows_come(tmp_path: Path):
    found = ModelLake(Lake(tmp_path / "lake"), tmp_path / "models")
    found.models(sizes=PER_REPO, large=LARGE)
    found.create("prod")
    assert found.ran("prod") == ["large", "sizes"]
    assert large(found, "prod") == []
    assert found.ran("prod") == []
    found.rows(SNAPSHOTS, [file("a", "y.py", 2)])
    assert found.ran("prod") == ["large", "sizes"]
    assert large(found, "prod") == ["y.py"]


def test_new_rows_are_built_where_they_came_and_shown_where_they_were_asked_for(built: ModelLake):
    built.create("dev", base="prod")
    built.rows(SNAPSHOTS, [file("a", "x.py", 9), file("a", "y.py", 2)])
    plan = built.plan("dev")
    (sizes, whole) = plan.steps
    assert (sizes.action, sorted(sizes.parts), sizes.reason) == ("refresh", ["a"], "snapshots moved")
    assert (whole.action, whole.reason) == ("refresh", "sizes moved")
    assert sorted(built.carry_out(plan).run) == ["large", "sizes"]
    assert large(built, "dev") == ["x.py", "y.py", "z.py"]
    # The tables are shared, the environment is not: prod shows what it was applied with.
    assert large(built, "prod") == ["y.py", "z.py"]
    assert built.ask("prod", "SELECT max(size) AS n FROM snapshots WHERE repo = 'a'") == [{"n": 2}]
    assert built.ran("prod") == []
    assert large(built, "prod") == ["x.py", "y.py", "z.py"]


def test_rows_that_come_out_equal_stop_the_wave(built: ModelLake):
    built.rows(SNAPSHOTS, [file("a", "x.py", 1, mode="100755"), file("a", "y.py", 2)])
    done = built.apply("prod")
    assert done.run == ("sizes",)
    assert done.skipped == {"large": "its inputs came out as they were"}


def test_a_new_column_does_not_rebuild_those_who_read_the_others(built: ModelLake):
    built.models(sizes=PER_REPO.replace("size FROM", "size, mode FROM"))
    assert built.ran("prod") == ["sizes"]
    assert built.ran("prod") == []
    built.rows(SNAPSHOTS, [file("b", "z.py", 1)])
    assert built.ran("prod") == ["large", "sizes"]
    assert large(built, "prod") == ["y.py"]


def test_a_repository_that_is_gone_takes_its_rows_along(built: ModelLake):
    built.rows(SNAPSHOTS, [], "b")
    assert built.ran("prod") == ["large", "sizes"]
    assert large(built, "prod") == ["y.py"]


def test_incremental_equals_clean(built: ModelLake, tmp_path: Path):
    built.rows(SNAPSHOTS, [file("a", "n.py", 7)])
    built.rows(SNAPSHOTS, [file("c", "m.py", 8)])
    built.ran("prod")
    clean = ModelLake(Lake(tmp_path / "clean"), built.folder)
    clean.rows(SNAPSHOTS, [file("a", "n.py", 7), file("b", "z.py", 3), file("c", "m.py", 8)])
    clean.create("prod")
    clean.ran("prod")
    query = (
        "SELECT s.repo, s.path, s.size, l.path AS large FROM sizes s LEFT JOIN large l USING (repo, path) ORDER BY ALL"
    )
    assert built.ask("prod", query) == clean.ask("prod", query)


def test_rows_by_key_stay_when_the_query_no_longer_gives_them(built: ModelLake):
    built.models(seen=model_text(SIZES, materialization="by_key"))
    built.ran("prod")
    built.rows(SNAPSHOTS, [file("a", "x.py", 5)])
    built.ran("prod")
    rows = built.ask("prod", "SELECT path, size FROM seen ORDER BY path")
    assert [(row["path"], row["size"]) for row in rows] == [("x.py", 5), ("y.py", 2), ("z.py", 3)]


def test_a_view_is_read_through_and_never_stored(built: ModelLake):
    built.models(grown=model_text("SELECT repo, path, size + 1 AS more FROM sizes", materialization="view", key=None))
    built.models(top="SELECT repo, path, more FROM grown WHERE more > 2")
    assert built.ran("prod") == ["top"]
    assert built.ask("prod", "SELECT count(*) AS n FROM grown JOIN top USING (repo, path)") == [{"n": 2}]
    built.rows(SNAPSHOTS, [file("b", "z.py", 1)])
    assert built.ran("prod") == ["large", "sizes", "top"]


def test_only_what_is_chosen_is_taken_and_what_follows_from_it_follows(built: ModelLake):
    built.create("dev", base="prod")
    built.models(sizes=PER_REPO.replace("size FROM", "size + 1 AS size FROM"), other=SIZES)
    assert [step.name for step in built.plan("dev", select=["other"]).running] == ["other"]
    assert built.ran("dev", select=["sizes"]) == ["large", "sizes"]
    assert sorted(built.environment("dev").models) == ["large", "sizes"]
    assert built.ran("dev") == ["other"]


def test_what_is_not_chosen_is_not_refreshed(built: ModelLake):
    built.rows(SNAPSHOTS, [file("a", "x.py", 9)])
    plan = built.plan("prod", select=["large"])
    assert {step.name: step.reason for step in plan.steps}["sizes"] == "it was not chosen"
    assert built.ran("prod", select=["large"]) == []
    assert large(built, "prod") == ["y.py", "z.py"]
    assert built.ran("prod", select=["+large"]) == ["large", "sizes"]
    assert large(built, "prod") == ["x.py", "z.py"]


def test_of_two_applies_at_once_one_wins_and_the_other_is_told_why(built: ModelLake):
    built.models(large=LARGE.replace("1", "2"))
    first, second = built.plan("prod"), built.plan("prod")
    won = built.carry_out(first)
    with pytest.raises(LakeStateError, match=rf"another apply \(execution {won.id}\) made revision 3 meanwhile"):
        built.carry_out(second)
    told = {row["status"] for row in built.lake.rows(PIPELINE_EXECUTIONS)}
    assert told == {"succeeded", "refused"}
    assert large(built, "prod") == ["z.py"]


def test_of_two_processes_that_apply_at_the_same_moment_one_wins_and_nothing_is_built_double(
    built: ModelLake, tmp_path: Path
):
    built.models(large=LARGE.replace("1", "2"))
    code = (
        "import sys, time; from pathlib import Path\n"
        "from lakehouse_assets.core.errors import LakeStateError\n"
        "from lakehouse_assets.lake.tables import Lake\n"
        "from lakehouse_assets_tests.support.model_lake import ModelLake\n"
        "lake, models, ready, go = map(Path, sys.argv[1:])\n"
        "mine = ModelLake(Lake(lake), models); plan = mine.plan('prod'); ready.touch()\n"
        "while not go.exists(): time.sleep(0.001)\n"
        "try: print(mine.carry_out(plan).status)\n"
        "except LakeStateError as error: print(error)\n"
    )
    ready, go = [tmp_path / "one", tmp_path / "two"], tmp_path / "go"
    command = [sys.executable, "-c", code, str(built.lake.root), str(built.folder)]
    both = [subprocess.Popen([*command, str(each), str(go)], stdout=subprocess.PIPE, text=True) for each in ready]
    while not all(each.exists() for each in ready):
        assert all(each.poll() is None for each in both)
        time.sleep(0.01)
    go.touch()
    refused, won = sorted((each.communicate(timeout=120)[0].strip() for each in both), key=lambda said: len(said) < 20)
    assert won == "succeeded"
    assert "made revision 3 meanwhile" in refused
    assert "what was built stays" in refused
    assert large(built, "prod") == ["z.py"]
    assert built.ran("prod") == []


def test_what_would_take_an_environment_back_in_time_is_not_promoted(built: ModelLake):
    built.create("dev", base="prod")
    built.models(large=LARGE.replace("1", "2"))
    built.ran("dev", select=["large"])
    built.rows(SNAPSHOTS, [file("a", "x.py", 9)])
    built.ran("prod", select=["sizes"])
    with pytest.raises(BadInputError, match="graph_versions, sizes, snapshots are from before those that prod shows"):
        promote(built.lake, "dev", "prod")
    built.ran("dev")
    assert promote(built.lake, "dev", "prod").status == "succeeded"
    assert large(built, "prod") == ["x.py", "z.py"]


def test_a_plan_that_was_looked_at_is_refused_once_something_moved(built: ModelLake):
    looked_at = built.plan("prod").id
    check_unmoved(built.plan("prod"), looked_at)
    built.rows(SNAPSHOTS, [file("a", "x.py", 9)])
    with pytest.raises(LakeStateError, match="what the tables hold moved since"):
        check_unmoved(built.plan("prod"), looked_at)
    looked_at = built.plan("prod").id
    built.models(large=LARGE.replace("1", "2"))
    with pytest.raises(LakeStateError, match="the models or what was chosen of them"):
        check_unmoved(built.plan("prod"), looked_at)
    looked_at = built.plan("prod").id
    built.ran("prod")
    with pytest.raises(LakeStateError, match="the environment and"):
        check_unmoved(built.plan("prod"), looked_at)


def test_a_kill_before_the_environment_moves_leaves_it_and_nothing_is_built_twice(built: ModelLake):
    built.models(large=LARGE.replace("1", "2"))
    code = (
        "import sys; from pathlib import Path; from lakehouse_assets.lake.tables import Lake\n"
        "from lakehouse_assets_tests.support.model_lake import ModelLake\n"
        "ModelLake(Lake(Path(sys.argv[1])), Path(sys.argv[2])).apply('prod')"
    )
    command = [sys.executable, "-c", code, str(built.lake.root), str(built.folder)]
    killed = subprocess.run(command, env=os.environ | {KILL_AT: "apply: before environment"}, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert large(built, "prod") == ["y.py", "z.py"]
    before = built.data_files()
    done = built.apply("prod")
    assert (done.status, done.run) == ("succeeded", ())
    assert done.skipped["large"] == "this version is built already"
    assert built.data_files() == before
    assert large(built, "prod") == ["z.py"]


def test_a_model_that_fails_stops_those_after_it_and_the_environment_stays(built: ModelLake):
    wrong = model_text("SELECT repo, path, size FROM sizes", key="[repo]")  # two rows of one repository
    built.models(wrong=wrong, after="SELECT repo, 'p' AS path FROM wrong", fine="SELECT repo, path FROM sizes")
    done = built.apply("prod")
    assert (done.status, done.run) == ("failed", ("fine",))
    assert "more than once" in done.failed["wrong"]
    assert done.failed["after"] == "not run, because wrong failed"
    assert "wrong" not in built.environment("prod").members


def test_an_audit_that_finds_rows_keeps_the_environment_back_and_hides_what_is_sensitive(built: ModelLake):
    audited = model_text(
        "SELECT repo, path, size FROM sizes",
        audits="[at_most: {size: 2}, unique: [repo, path], no_z: \"SELECT * FROM this WHERE path = 'z.py'\"]",
        columns="{path: {sensitive: true}}",
    )
    built.models(checked=audited)
    done = built.apply("prod")
    assert done.status == "failed"
    assert "at_most_size: 1 rows, such as [{'repo': 'b', 'path': '(redacted)', 'size': 3}]" in done.failed["checked"]
    assert "no_z: 1 rows" in done.failed["checked"]
    assert "unique" not in done.failed["checked"]
    built.models(checked=audited.replace("size: 2", "size: 3").replace("'z.py'", "'y'"))
    assert built.ran("prod") == []  # it is built already, and only what is asked of it has changed


def test_every_execution_is_told(built: ModelLake):
    (row,) = built.lake.rows(PIPELINE_EXECUTIONS)
    assert (row["environment"], row["status"], row["models_run"]) == ("prod", "succeeded", ["sizes", "large"])
    assert '"engine":"duckdb"' in row["metrics"]


def test_what_an_environment_leaves_open_it_has_from_its_base_over_several_levels(built: ModelLake):
    built.create("dev", base="prod", owner="ann")
    built.create("trial", base="dev", description="A try.")
    from lakehouse_assets.lake.environments import Environments
    from lakehouse_assets.models.environment import inherited

    there = Environments(built.lake).all()
    assert inherited(there, there["trial"]).owner == "ann"
    assert there["trial"].members == there["prod"].members
    with pytest.raises(BadInputError, match="base of trial"):
        drop_environment(built.lake, "dev")
    drop_environment(built.lake, "trial")
    drop_environment(built.lake, "dev")
    assert list(Environments(built.lake).all()) == ["prod"]
    assert built.create("dev", base="prod").revision == 3  # numbers go on, so that no two revisions are confused


@pytest.mark.parametrize(
    ("name", "more", "seen"),
    [
        ("prod", {}, "there is one of that name"),
        ("No Good", {}, "lower-case"),
        ("dev", {"base": "prd"}, "there is none of that name"),
    ],
)
def test_an_environment_that_cannot_be_is_refused(built: ModelLake, name: str, more: dict[str, str], seen: str):
    with pytest.raises(BadInputError, match=seen):
        built.create(name, **more)


def test_a_plan_says_what_it_will_read(built: ModelLake):
    built.rows(SNAPSHOTS, [file("a", "x.py", 9)])
    sizes = next(step for step in built.plan("prod").steps if step.name == "sizes")
    assert sizes.rows_to_read == 1
    assert replace(sizes, rows_to_read=None).runs
    # What is yet to be made has about as many rows as it has now; of what is new, nobody knows.
    built.models(first="SELECT repo, path FROM sizes", second="SELECT repo, path FROM first")
    reads = {step.name: step.rows_to_read for step in built.plan("prod").steps}
    assert (reads["large"], reads["first"], reads["second"]) == (3, 3, None)


def test_what_is_built_from_a_model_that_was_not_chosen_is_built_from_what_the_ledger_says(built: ModelLake):
    built.create("dev", base="prod")
    built.rows(SNAPSHOTS, [file("a", "x.py", 9)])
    assert built.ran("dev", select=["sizes"]) == ["sizes"]
    # In prod `sizes` was not chosen, and shows what it did; `large` follows the table, which dev has brought on.
    assert built.ran("prod", select=["large"]) == ["large"]
    assert built.ask("prod", "SELECT path FROM sizes ORDER BY path") == [{"path": p} for p in ("x.py", "y.py", "z.py")]
    assert large(built, "prod") == ["x.py", "z.py"]
    assert built.ran("dev") == []
    assert large(built, "dev") == ["x.py", "z.py"]


def test_what_reads_rows_that_a_model_by_key_kept_is_built_again_when_they_go(built: ModelLake):
    kept = model_text(SIZES, materialization="by_key")
    built.models(seen=kept, after="SELECT repo, path FROM seen")
    built.ran("prod")
    built.rows(SNAPSHOTS, [file("b", "other.py", 5)])
    assert built.ran("prod") == ["after", "large", "seen", "sizes"]
    built.models(after="SELECT repo, path FROM seen WHERE size > 0")
    assert built.ran("prod") == ["after"]
    built.models(seen=model_text(SIZES))
    assert built.ran("prod") == ["after", "seen"]
    assert built.ask("prod", "SELECT path FROM after EXCEPT SELECT path FROM seen") == []
    assert built.ran("prod") == []


MIXING = model_text(
    "SELECT repo, path, COUNT(*) OVER () AS n FROM snapshots", materialization="by_partition", partition_by="[repo]"
)


def test_a_partition_is_the_same_whether_it_is_built_alone_or_with_others(built: ModelLake):
    built.models(counted=MIXING)
    done = built.apply("prod")
    assert "partition by partition, because of COUNT(*) OVER ()" in str(done.metrics)
    query = "SELECT repo, path, n FROM counted ORDER BY ALL"
    together = built.ask("prod", query)
    assert [(row["path"], row["n"]) for row in together] == [("x.py", 2), ("y.py", 2), ("z.py", 1)]
    built.rows(SNAPSHOTS, [file("b", "z.py", 9)])
    assert "counted" in built.ran("prod")
    assert built.ask("prod", query) == together


def test_rows_of_another_partition_than_they_were_made_from_are_refused(built: ModelLake):
    turned = "SELECT CASE WHEN repo = 'a' THEN 'b' ELSE 'a' END AS repo, path FROM snapshots"
    built.models(turned=model_text(turned, materialization="by_partition", partition_by="[repo]"))
    done = built.apply("prod")
    assert done.status == "failed"
    assert "outside the run's partitions" in done.failed["turned"]
