"""How cost grows: full builds and one-file updates of repositories of more and more files, and of more repositories.

The sizes are LAKEHOUSE_BENCH_FILES and LAKEHOUSE_BENCH_REPOSITORIES, numbers with commas between; none to leave one
out. What was measured is kept beside docs/scale.md, so that a long run can be done in parts: a size that is measured
again replaces what was known of it. Generated code is more alike than real code, so django is built as well: what lies
past one machine is worked out from that.
"""

import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa
import pygit2
from deltalake import DeltaTable

from lakehouse_assets_tests.bench.generated import (
    commit_file,
    edited,
    generated_contents,
    generated_repository,
    path_of,
)
from lakehouse_assets_tests.bench.inputs import commit, repository
from lakehouse_assets_tests.bench.measure import LAKEHOUSE, command, goal, heading
from lakehouse_assets_tests.bench.scale_facts import EXPONENTS, REAL, Measured, keep_measured, known, slope
from lakehouse_assets_tests.bench.scale_page import write_page
from lakehouse_assets_tests.bench.synced import Sync, ask, measured, sync

FILES = (10, 100, 1_000, 10_000)
REPOSITORIES = (1, 10, 100, 1_000)
_FILES_EACH = 5
_UPDATES = 3


def growth() -> None:
    """Seconds, memory and Delta files by size, with the exponents; writes docs/scale.md."""
    kinds: dict[str, tuple[Sequence[int], Callable[[Path, int], Measured]]] = {
        "files": (_sizes("LAKEHOUSE_BENCH_FILES", FILES), _of_files),
        "repositories": (_sizes("LAKEHOUSE_BENCH_REPOSITORIES", REPOSITORIES), _of_repositories),
    }
    if any(sizes for sizes, _ in kinds.values()):
        heading("django, for the cost of real code")
        with tempfile.TemporaryDirectory() as folder:
            done = _of_django(Path(folder))
        keep_measured(done)
        _print(done)
    for kind, (sizes, measure) in kinds.items():
        if sizes:
            heading(f"growth by {kind}")
        for size in sizes:
            with tempfile.TemporaryDirectory() as folder:
                done = measure(Path(folder), size)
            keep_measured(done)
            _print(done)
        held = known(kind)
        if len(held) > 1:
            for which, (label, most) in EXPONENTS.items():
                found = slope(held[-2:], which)
                print(f"  exponent of {label} {found:.2f}; {goal(found <= most, f'at most {most}')}", flush=True)
    write_page()


def _print(done: Measured) -> None:
    print(
        f"  {done.size:>6,} {done.kind:<13} build {done.build_seconds:8.1f} s {done.build_memory / 2**20:7,.0f} MiB, "
        f"  update {done.update_seconds:6.2f} s "
        f"{done.update_memory / 2**20:7,.0f} MiB   {done.delta_files:,} Delta files, {done.nodes:,} nodes",
        flush=True,
    )


def _of_django(folder: Path) -> Measured:
    home, source = folder / "home", repository("django", folder)
    command(LAKEHOUSE, "repo", "add", "django", str(source), home=home)
    built = sync(home, "django")
    updates: list[Sync] = []
    for number in range(_UPDATES):
        with (source / "django" / "utils" / "text.py").open("a") as file:
            file.write(f"\n\ndef measured_{number}():\n    return slugify({number})\n")
        commit(source, f"edit {number}")
        updates.append(sync(home, "django"))
    files = ask(home, "SELECT count(*) AS n FROM snapshots")[0]["n"]
    return _measured(REAL, files, home, built, updates)


def _of_files(folder: Path, size: int) -> Measured:
    home, path = folder / "home", folder / "made.git"
    repository = generated_repository(path, files=size)
    command(LAKEHOUSE, "repo", "add", "made", str(path), home=home)
    built = sync(home, "made")
    return _measured("files", size, home, built, _updates(home, "made", repository, size))


def _of_repositories(folder: Path, size: int) -> Measured:
    home, listing = folder / "home", folder / "repositories.tsv"
    names = [f"r{number:05}" for number in range(size)]
    made = [
        generated_repository(folder / "sources" / f"{name}.git", files=_FILES_EACH, seed=number)
        for number, name in enumerate(names)
    ]
    listing.write_text("".join(f"{name}\t{folder / 'sources' / name}.git\n" for name in names))
    command(LAKEHOUSE, "repo", "add", "--from", str(listing), home=home)
    built = measured(home, "backfill", "--all")
    return _measured("repositories", size, home, built, _updates(home, names[0], made[0], _FILES_EACH))


def _updates(home: Path, name: str, repository: pygit2.Repository, files: int) -> list[Sync]:
    """One file edited in the body of a function, in the middle of the repository, and again."""
    path = path_of(files // 2)
    seed = int(name[1:]) if name[1:].isdecimal() else 1
    text = generated_contents(files, seed=seed)[path]
    done: list[Sync] = []
    for revision in range(1, _UPDATES + 1):
        commit_file(repository, path, edited(text, 10_000 + revision), f"edit {revision}")
        done.append(sync(home, name))
    return done


def _measured(kind: str, size: int, home: Path, built: Sync, updates: Sequence[Sync]) -> Measured:
    middle = sorted(updates, key=lambda each: each.seconds)[len(updates) // 2]
    tables = {log.parent.name: DeltaTable(log.parent) for log in (home / "lake").glob("*/_delta_log")}
    actions = {name: pa.table(table.get_add_actions(flatten=True)) for name, table in tables.items()}
    return Measured(
        kind=kind,
        size=size,
        build_seconds=round(built.seconds, 2),
        build_memory=built.memory,
        update_seconds=round(middle.seconds, 3),
        update_memory=max(each.memory for each in updates),
        delta_files=sum(each.num_rows for each in actions.values()),
        delta_bytes=sum(sum(each["size_bytes"].to_pylist()) for each in actions.values()),
        nodes=sum(actions["nodes"]["num_records"].to_pylist()),
        edges=sum(actions["edges"]["num_records"].to_pylist()),
        load=round(os.getloadavg()[0], 1),
        link_seconds=round(built.steps.get("linking", 0.0), 2),
    )


def _sizes(variable: str, usual: Sequence[int]) -> list[int]:
    given = os.environ.get(variable)
    if given is None:
        return list(usual)
    return [int(text) for text in given.split(",") if text.strip()]
