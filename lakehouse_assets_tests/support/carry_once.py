"""The whole way of a table in a process of its own, which a test may kill at any of its points.

`python -m lakehouse_assets_tests.support.carry_once` reads a project as JSON and carries its first table.
"""

import json
import os
import subprocess
import sys

from lakehouse_assets.contracts.ingest import SqlProject
from lakehouse_assets.core.effects import KILL_AT, EffectPoint
from lakehouse_assets.core.settings import Settings, load_settings
from lakehouse_assets.sources.sql.whole_way import deliver_table, ingest_table


def carry_and_kill(settings: Settings, project: SqlProject, point: EffectPoint) -> int:
    """The exit code of the process."""
    env = os.environ | {KILL_AT: point, "LAKEHOUSE_HOME": str(settings.home)}
    done = subprocess.run(
        [sys.executable, "-m", __name__],
        input=project.model_dump_json(),
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode


def _main() -> None:
    project = SqlProject.model_validate(json.load(sys.stdin))
    ingest_table(load_settings(), project, project.ingest[0])
    deliver_table(load_settings(), project, project.deliver[0])


if __name__ == "__main__":
    _main()
