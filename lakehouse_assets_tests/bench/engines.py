"""Where an update should run: the same one in its own process and on Spark, one beside the other."""

import os
import shutil
import tempfile
from functools import partial
from pathlib import Path

from lakehouse_assets.plan.engine import MANY_CHANGES
from lakehouse_assets_tests.bench.generated import commit_contents, generated_contents, generated_repository, with_call
from lakehouse_assets_tests.bench.measure import LAKEHOUSE, command, heading, line, timed

FILES = int(os.environ.get("LAKEHOUSE_BENCH_ENGINES", "2000"))
CHANGED = (1, MANY_CHANGES // 2, MANY_CHANGES, 2 * MANY_CHANGES, FILES)


def engines() -> None:
    """Seconds of builds and of updates of more and more files, as commands, from two lakes that are equal."""
    with tempfile.TemporaryDirectory() as folder:
        home, bare = Path(folder) / "home", Path(folder) / "bare.git"
        repository = generated_repository(bare, files=FILES)
        contents = generated_contents(FILES)
        command(LAKEHOUSE, "repo", "add", "repo", str(bare), home=home)
        heading(f"a repository of {FILES:,} files, by where its runs work")
        lakes = {engine: Path(folder) / engine for engine in ("local", "spark")}
        for engine, place in lakes.items():
            shutil.copytree(home, place)
            line(f"first build, {engine}", timed(partial(_sync, place, engine)))
        for revision, count in enumerate(CHANGED, 1):
            for path in list(contents)[:count]:
                if "def function_" in contents[path]:  # `__init__.py` has none
                    contents[path] = with_call(contents[path], revision)
            commit_contents(repository, contents, f"{count} files")
            here, there = (timed(partial(_sync, place, engine)) for engine, place in lakes.items())
            line(f"{count:,} changed files, local", here)
            line(f"{count:,} changed files, spark", there, against=("local", here))


def _sync(home: Path, engine: str) -> None:
    command(LAKEHOUSE, "sync", "repo", home=home, LAKEHOUSE_ENGINE=engine, LAKEHOUSE_SPARK="in-process")
