"""What a run of Dagster tells of what its parts noticed."""

import logging
from pathlib import Path
from typing import Any

from dagster import materialize
from deltalake import write_deltalake

from lakehouse_assets.assets.change.file_changes import file_changes
from lakehouse_assets.contracts.file_changes import FILE_CHANGES
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.io_manager import DeltaIOManager
from lakehouse_assets.lake.resources import LakehouseResource
from lakehouse_assets_tests.support.git_assets import ASSETS, GitAssets, NoSpark
from lakehouse_assets_tests.support.repos import RepoBuilder, registered


def test_the_log_of_a_run_says_that_a_change_feed_could_not_be_read_and_why(settings: Settings, tmp_path: Path):
    repo = RepoBuilder(tmp_path / "shop")
    git = GitAssets(settings, registered(repo.path, name="shop"))
    lakehouse, spark = LakehouseResource(), NoSpark()
    made: Any = file_changes

    def run() -> list[str]:
        """Sync up to what changed; the warnings in the log."""
        git.run()
        done = materialize(
            [*ASSETS, made],
            selection=[made.key],
            instance=git.instance,
            partition_key="shop",
            resources={
                "lakehouse": lakehouse,
                "spark": spark,
                "delta": DeltaIOManager(lakehouse=lakehouse, spark=spark),
            },
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
        )
        assert done.success
        logged = [entry for entry in git.instance.all_logs(done.run_id) if int(entry.level) >= logging.WARNING]
        return [entry.user_message for entry in logged]

    repo.commit({"a.py": "x = 1\n"})
    assert run() == []
    table = git.lake.open(SNAPSHOTS)
    write_deltalake(table, git.lake.read(SNAPSHOTS), mode="overwrite")
    repo.commit({"a.py": "x = 2\n"})
    (said,) = run()
    assert said.startswith("snapshots: it was overwritten as a whole, so that its change feed does not tell")
    assert [(row["path"], row["change"]) for row in git.lake.rows(FILE_CHANGES)] == [("a.py", "modified")]
