"""What a commit costs where many repositories share a lake: each adds entries to the logs that the others read.

LAKEHOUSE_BENCH_SHARED says how many repositories (100). Half of them get a commit, which one `sync --all` takes; a
one-file update of another repository is measured before that and after it.
"""

import os
import tempfile
from pathlib import Path

import pygit2

from lakehouse_assets_tests.bench.generated import (
    commit_file,
    edited,
    generated_contents,
    generated_repository,
    path_of,
)
from lakehouse_assets_tests.bench.measure import LAKEHOUSE, command, heading
from lakehouse_assets_tests.bench.scale_facts import Shared, keep_shared
from lakehouse_assets_tests.bench.scale_page import write_page
from lakehouse_assets_tests.bench.synced import measured, sync

REPOSITORIES = 100
_FILES = 5
_UPDATES = 3


def shared() -> None:
    """Seconds of an update before and after the commits of others; writes docs/scale.md."""
    count = int(os.environ.get("LAKEHOUSE_BENCH_SHARED") or REPOSITORIES)
    with tempfile.TemporaryDirectory() as folder:
        done = _measured(Path(folder), count)
    keep_shared(done)
    heading(f"a lake that {count} repositories share")
    print(
        f"  an update took {done.before_seconds:.2f} s, and {done.after_seconds:.2f} s after {done.commits} commits of"
    )
    print(f"  others, which took {done.together_seconds:.1f} s and left {done.entries:,} log entries", flush=True)
    write_page()


def _measured(folder: Path, count: int) -> Shared:
    home, listing = folder / "home", folder / "repositories.tsv"
    names = [f"r{number:05}" for number in range(count)]
    sources = {
        name: generated_repository(folder / "sources" / f"{name}.git", files=_FILES, seed=number)
        for number, name in enumerate(names)
    }
    listing.write_text("".join(f"{name}\t{folder / 'sources' / name}.git\n" for name in names))
    command(LAKEHOUSE, "repo", "add", "--from", str(listing), home=home)
    command(LAKEHOUSE, "backfill", "--all", home=home)
    before = _update_seconds(home, sources[names[0]], first=1)
    others = names[1 : 1 + count // 2]
    for number, name in enumerate(others, 1):
        _edit(sources[name], seed=number, revision=1)
    entries = _entries(home)
    together = measured(home, "sync", "--all")
    entries = _entries(home) - entries
    return Shared(
        repositories=count,
        commits=len(others),
        before_seconds=round(before, 2),
        after_seconds=round(_update_seconds(home, sources[names[0]], first=1 + _UPDATES), 2),
        together_seconds=round(together.seconds, 1),
        entries=entries,
        load=round(os.getloadavg()[0], 1),
    )


def _update_seconds(home: Path, source: pygit2.Repository, *, first: int) -> float:
    """The middle of some one-file updates of the first repository."""
    laps: list[float] = []
    for revision in range(first, first + _UPDATES):
        _edit(source, seed=0, revision=revision)
        laps.append(sync(home, "r00000").seconds)
    return sorted(laps)[len(laps) // 2]


def _edit(source: pygit2.Repository, *, seed: int, revision: int) -> None:
    path = path_of(_FILES // 2)
    text = edited(generated_contents(_FILES, seed=seed)[path], 10_000 + revision)
    commit_file(source, path, text, f"edit {revision}")


def _entries(home: Path) -> int:
    return sum(path.stem.isdecimal() for path in (home / "lake").glob("*/_delta_log/*.json"))
