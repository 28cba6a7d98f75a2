"""The cold build of django's graph, against parsing the same files, and what the graph takes on disk."""

import ast
import os
import subprocess
import tempfile
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from lakehouse_assets_tests.bench.inputs import commit, given, repository
from lakehouse_assets_tests.bench.measure import LAKEHOUSE, command, goal, heading, line, timed
from lakehouse_assets_tests.bench.synced import ask, sync

MOST_TIMES_THE_FLOOR = 40
MOST_MEMORY = 4_500_000_000
JOERN_SECONDS = 1_334
"""Joern's frontend, overlays, types and data flow on the files of django's repository, measured once on one core."""


def graph() -> None:
    """Cold build, fork, rename, questions."""
    with tempfile.TemporaryDirectory() as folder:
        home, source = Path(folder) / "home", repository("django", Path(folder))
        files = [path for path in source.rglob("*.py") if path.is_file()]
        heading(f"cold build of django's graph: {len(files):,} Python files")
        floor = timed(lambda: _parse_all(files), repeat=3)
        command(LAKEHOUSE, "repo", "add", "django", str(source), home=home)
        built = sync(home, "django")
        line("ast.parse of all files, on all cores", floor)
        line(
            "the whole build, session start apart",
            built.seconds,
            against=("ast.parse", floor),
            note=goal(built.seconds <= MOST_TIMES_THE_FLOOR * floor, f"at most {MOST_TIMES_THE_FLOOR} ×"),
        )
        if given("django"):
            line(
                "  the same against Joern's figure",
                built.seconds,
                against=("Joern", JOERN_SECONDS),
                note=goal(built.seconds * 8 <= JOERN_SECONDS, "at most an eighth"),
            )
        else:
            print("  Joern's figure is of django's whole repository: LAKEHOUSE_BENCH_DJANGO=clone measures against it")
        line("session start", built.session)
        held = goal(built.memory <= MOST_MEMORY, "at most 4.5 GB")
        print(f"  peak memory of all processes: {built.memory / 1e9:.2f} GB   {held}")
        for asset, seconds in sorted(built.by_asset.items(), key=lambda pair: -pair[1]):
            line(f"  written: {asset}", seconds, note=f"{built.rows[asset]:,} rows")
        _sizes(home)
        _questions(home)
        known = ask(home, "SELECT count(*) AS n FROM extracts")[0]["n"]
        command(LAKEHOUSE, "repo", "add", "fork", str(source), home=home)
        line("a fork of it", sync(home, "fork").seconds, against=("build", built.seconds), note=_extracted(home, known))
        first = next(path for path in sorted(source.iterdir()) if (path / "__init__.py").exists())
        subprocess.run(["git", "-C", str(source), "mv", first.name, f"{first.name}_moved"], check=True)
        commit(source, "move a directory")
        line(
            "its largest folder renamed",
            sync(home, "django").seconds,
            against=("build", built.seconds),
            note=_extracted(home, known),
        )


def _parse_all(files: list[Path]) -> None:
    with ProcessPoolExecutor(max_workers=os.cpu_count()) as pool:
        for _ in pool.map(_parse, files, chunksize=32):
            pass


def _parse(path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(path.read_bytes())
        except (SyntaxError, ValueError):
            return


def _sizes(home: Path) -> None:
    from lakehouse_assets.contracts.edges import EDGES
    from lakehouse_assets.contracts.nodes import NODES
    from lakehouse_assets.lake.tables import Lake

    for contract in (NODES, EDGES):
        size = Lake(home / "lake").size(contract)
        rows = size.rows or 1
        each = f"{size.bytes / rows:.1f} bytes each, {size.files} files"
        print(f"  {contract.name}: {rows:,} rows, {size.bytes / 1e6:.1f} MB, {each}")
    for row in ask(home, "SELECT kind, count(*) AS n FROM edges GROUP BY ALL ORDER BY n DESC"):
        print(f"    {row['kind']:<10} {row['n']:>10,}")


def _questions(home: Path) -> None:
    for words in (
        ("callers", "get_object_or_404"),
        ("definitions", "Model.save"),
        ("importers", "django.db.models"),
        ("references", "QuerySet.filter"),
        ("callees", "Model.save"),
    ):
        taken = timed(lambda words=words: command(LAKEHOUSE, *words, home=home), repeat=3)
        line(f"lakehouse {' '.join(words)}", taken, note=goal(taken < 1, "below 1 s"))


def _extracted(home: Path, known: object) -> str:
    new = ask(home, "SELECT count(*) AS n FROM extracts")[0]["n"]
    return goal(new == known, "nothing extracted")
