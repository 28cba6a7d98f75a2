"""A backfill of many small repositories: in batches of one run, against a run for each."""

import json
import os
import random
import subprocess
import tempfile
import time
from pathlib import Path

from lakehouse_assets.core.settings import load_settings
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.batching import BatchLimits
from lakehouse_assets.recipes.catalog import GRAPH_TABLES
from lakehouse_assets.recipes.git import GIT_TABLES
from lakehouse_assets_tests.bench.many import Files, many_repositories
from lakehouse_assets_tests.bench.measure import LAKEHOUSE, command, goal, heading, line

REPOSITORIES = 200
SINGLE = 5
FASTER = 10


def backfill() -> None:
    """Seconds for a repository and commits per table."""
    with tempfile.TemporaryDirectory() as folder:
        listing, _ = many_repositories(Path(folder), REPOSITORIES, _files)
        batches = -(-REPOSITORIES // BatchLimits().repositories)
        heading(f"backfill of {REPOSITORIES} repositories of 4 files each")
        together, apart = Path(folder) / "together", Path(folder) / "apart"
        for home in (together, apart):
            command(LAKEHOUSE, "repo", "add", "--from", str(listing), home=home)
        singles = [_seconds(apart, "sync", f"r{number:04}") for number in range(SINGLE)]
        single = sum(singles) / SINGLE
        seconds = _seconds(together, "backfill", "--all")
        line(f"a run for each, by {SINGLE} of them", single, note="a repository")
        each = seconds / REPOSITORIES
        faster = goal(single / each >= FASTER, f"at least {FASTER} × faster")
        line(f"in {batches} batches", each, against=("a run for each", single), note=f"a repository; {faster}")
        commits = {each.name: _commits(together, each.name) for each in (*GIT_TABLES, *GRAPH_TABLES)}
        most = max(commits.values())
        held = goal(most <= batches, f"at most {batches} commits a table")
        print(
            f"  commits per table: at most {most} ({max(commits, key=lambda name: commits[name])}); {held}", flush=True
        )


def _files(number: int) -> Files:
    chance = random.Random(number)
    functions = (f"def f{index}(x):\n    return x * {chance.randrange(99)}\n" for index in range(10))
    return {
        "README.md": f"# {number}\n",
        "pkg/__init__.py": "",
        "pkg/a.py": "\n\n".join(functions),
        "pkg/b.py": f"from pkg.a import f1\n\nvalue = f1({number})\n",
    }


def _seconds(home: Path, *words: str) -> float:
    env = os.environ | {"LAKEHOUSE_HOME": str(home)}
    started = time.perf_counter()
    done = subprocess.run([LAKEHOUSE, *words, "--json"], env=env, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - started
    if done.returncode or json.loads(done.stdout)["errors"]:
        raise RuntimeError(f"{' '.join(words)} failed:\n{done.stdout}{done.stderr}")
    return seconds


def _commits(home: Path, table: str) -> int:
    """Commits after the one that made the table."""
    os.environ["LAKEHOUSE_HOME"] = str(home)
    lake = Lake(load_settings().lake)
    contract = next(each for each in (*GIT_TABLES, *GRAPH_TABLES) if each.name == table)
    return lake.open(contract).version()
