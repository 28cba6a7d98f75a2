"""Updates in one process that stays, as `lakehouse replay` makes them: a repository's name in, a line of JSON out.

Loading Python's modules and opening Dagster's storage is the start of such a session, as starting Spark is.
"""

import json
import sys
import time

from lakehouse_assets.cli.progress import Progress
from lakehouse_assets.cli.runs import running, sync_job
from lakehouse_assets.cli.sync import sync_plan
from lakehouse_assets.core.diagnostics import collecting
from lakehouse_assets.core.settings import load_settings

READY = "ready"


def serve() -> None:
    settings = load_settings()
    out = sys.stdout  # what a step prints is Dagster's
    with running(settings, Progress(quiet=True)) as run:
        sync_job()
        print(READY, file=out, flush=True)
        for line in sys.stdin:
            with collecting() as told:
                started = time.perf_counter()
                plan = sync_plan(settings, (line.strip(),))
                done = run({each.repository.name: each.head.commit_sha for each in plan.stale})
                seconds = time.perf_counter() - started
            spark = sum(float(each.values.get("seconds") or 0) for each in told if each.part == "spark")
            answer = {"seconds": seconds - spark, "spark": spark, "steps": done[0].seconds}
            print(json.dumps(answer), file=out, flush=True)


if __name__ == "__main__":
    serve()
