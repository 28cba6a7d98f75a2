"""`python -m lakehouse_assets_tests.bench [NAME…]`: all measurements, or some."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pygit2

from lakehouse_assets.core.settings import load_settings
from lakehouse_assets_tests.bench.backfill import backfill
from lakehouse_assets_tests.bench.engines import engines
from lakehouse_assets_tests.bench.explorer import explorer
from lakehouse_assets_tests.bench.generated import generated_repository
from lakehouse_assets_tests.bench.graph import graph
from lakehouse_assets_tests.bench.growth import growth
from lakehouse_assets_tests.bench.ingest import ingest
from lakehouse_assets_tests.bench.measure import LAKEHOUSE, command, heading, line, pick, timed
from lakehouse_assets_tests.bench.partitions import partitions
from lakehouse_assets_tests.bench.shared import shared
from lakehouse_assets_tests.bench.soak import soak
from lakehouse_assets_tests.bench.updates import updates
from lakehouse_assets_tests.bench.upsert import memory, upsert
from lakehouse_assets_tests.bench.writers import writers
from lakehouse_assets_tests.support.command import java_was_started, without_java
from lakehouse_assets_tests.support.places import local

FILES = 2000


def no_op() -> None:
    """A sync with nothing new, against `git status`."""
    with tempfile.TemporaryDirectory() as folder:
        home, source = Path(folder) / "home", Path(folder) / "work"
        bare = Path(folder) / "bare.git"
        generated_repository(bare, files=FILES, commits=5)
        subprocess.run(["git", "clone", "-q", str(bare), str(source)], check=True)
        command(LAKEHOUSE, "repo", "add", "work", str(source), home=home)
        command(LAKEHOUSE, "sync", "work", home=home)
        heading(f"no-op sync of a repository of {FILES} files")
        no_java = without_java(Path(folder))
        status = timed(lambda: command("git", "-C", str(source), "status", home=home), repeat=5)
        python = timed(lambda: command(sys.executable, "-c", "pass", home=home), repeat=5)
        again = timed(lambda: command(LAKEHOUSE, "sync", "--all", home=home, **no_java), repeat=5)
        line("git status", status)
        line("starting Python", python, against=("git status", status))
        java = "a JVM was started" if java_was_started(Path(folder)) else "no JVM was started"
        line("lakehouse sync --all, nothing new", again, against=("git status", status), note=java)


def session() -> None:
    """Start of a session and its first query, by profile, each in a process of its own."""
    code = (
        "import time; t = time.perf_counter()\n"
        "from lakehouse_assets.core.settings import load_settings\n"
        "from lakehouse_assets.lake.session import runtime_for\n"
        "runtime = runtime_for(load_settings()); s = runtime.session; a = time.perf_counter() - t\n"
        "s.range(1000).selectExpr('sum(id)').collect(); b = time.perf_counter() - t - a\n"
        "runtime.stop(); print(a, b)"
    )
    heading("session start")
    starts: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as home:
        for profile in ("update", "bulk"):
            env = os.environ | {"LAKEHOUSE_HOME": home, "LAKEHOUSE_PROFILE": profile, "LAKEHOUSE_SPARK": "in-process"}
            out = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
            start, query = map(float, out.stdout.split())
            starts[profile] = start
            line(f"{profile}: session", start, against=("update", starts["update"]))
            line(f"{profile}: first query", query)


def blobs() -> None:
    """Contents into the table `blobs` in a warm session, against pygit2 alone."""
    from lakehouse_assets.contracts.blobs import BLOBS
    from lakehouse_assets.core.repository import Repository
    from lakehouse_assets.lake.batch import Batch
    from lakehouse_assets.lake.missing_contents import missing_on_spark
    from lakehouse_assets.lake.session import runtime_for
    from lakehouse_assets.lake.tables import Lake
    from lakehouse_assets.lake.upsert import UpsertService
    from lakehouse_assets.recipes.git import git_key
    from lakehouse_assets.sources.head import resolve_head
    from lakehouse_assets.sources.reads import Reading, snapshots_table
    from lakehouse_assets.sources.spark_reads import blobs_frame

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bare.git"
        source = generated_repository(path, files=FILES, commits=1)
        os.environ["LAKEHOUSE_HOME"] = folder
        settings = load_settings()
        runtime = runtime_for(settings)
        spark = runtime.session
        repository = Repository(name="generated", location=str(path), kind="local_git")
        reading = Reading(repository=repository, git_dir=path, head=resolve_head(repository, settings.mirrors))

        def build(number: int) -> int:
            lake = Lake(local(settings.lake) / str(number))
            missing = missing_on_spark(spark, lake, snapshots_table([reading]))
            frame = blobs_frame(missing, [reading], slices=settings.cores)
            batch = Batch(rows=frame, keys=(git_key(BLOBS, repository, reading.head.commit_sha),))
            service = UpsertService(lake, spark=lambda: spark)
            return service.write(BLOBS, batch, {repository.name: ()}, run_id="bench").rows_inserted

        build(0)
        heading(f"{FILES} contents into `blobs`, session warm")
        alone = timed(lambda: _read_all(source), repeat=3)
        rows = build(1)
        table = timed(lambda: build(2))
        line("pygit2 alone, one core", alone, note=f"{FILES / alone:,.0f} a second")
        line("into the table", table, against=("pygit2", alone), note=f"{rows / table:,.0f} a second")
        runtime.stop()


def _read_all(repository: pygit2.Repository) -> int:
    waiting: list[pygit2.Tree] = [repository.head.peel(pygit2.Tree)]
    size = 0
    while waiting:
        for entry in waiting.pop():
            if isinstance(entry, pygit2.Tree):
                waiting.append(entry)
            else:
                size += len(repository.odb.read(entry.id)[1])
    return size


BENCHMARKS = {
    "no-op": no_op,
    "session": session,
    "blobs": blobs,
    "upsert": upsert,
    "writers": writers,
    "memory": memory,
    "graph": graph,
    "updates": updates,
    "ingest": ingest,
    "backfill": backfill,
    "partitions": partitions,
    "engines": engines,
    "explorer": explorer,
    "growth": growth,
    "shared": shared,
    "soak": soak,
}

if __name__ == "__main__":
    for name in pick(sys.argv[1:], BENCHMARKS):
        BENCHMARKS[name]()
