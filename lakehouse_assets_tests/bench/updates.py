"""What an update costs: edits of several kinds on flask and on django, against the full build of each.

Build and updates are made in one session that stays; the last body edit is made by a command of its own as well,
which pays for loading Python's modules. What an update takes whatever it changes is measured by a commit that changes
no file, and told step by step.
"""

import json
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from lakehouse_assets_tests.bench.inputs import commit, repository
from lakehouse_assets_tests.bench.measure import LAKEHOUSE, command, goal, heading, line, timed
from lakehouse_assets_tests.bench.synced import Session, Sync, ask, sync
from lakehouse_assets_tests.support.command import java_was_started, without_java

EDITED = {"django": ("db/models/base.py", "def refresh_from_db"), "flask": ("app.py", "def run")}
"""Path's end and the method that is edited."""
WIDELY_USED = {"django": ("utils/encoding.py", "def force_str"), "flask": ("helpers.py", "def url_for")}
BODY, SIGNATURE = "one line in a body", "a signature that many use"
NO_FILE = "a commit that changes no file"
_LAPS = 3
"""Body edits, of which the middle one counts: the first of a session also loads what links and parses."""

Edit = Callable[[Path], None]


def updates() -> None:
    """One kind of edit after the other, each a commit and a sync of its own."""
    bodies: dict[str, float] = {}
    for name in ("flask", "django"):
        with tempfile.TemporaryDirectory() as folder:
            home, source = Path(folder) / "home", repository(name, Path(folder))
            command(LAKEHOUSE, "repo", "add", name, str(source), home=home)
            heading(f"updates of {name}")
            with Session(home) as session:
                built = session.sync(name)
                line("full build, session start apart", built.seconds, note=f"{sum(built.rows.values()):,} rows")
                for label, edit in _edits(name).items():
                    laps: list[Sync] = []
                    for _ in range(_LAPS if label == BODY else 1):
                        edit(source)
                        commit(source, label)
                        laps.append(session.sync(name))
                    done = sorted(laps, key=lambda each: each.seconds)[len(laps) // 2]
                    _told(label, done, built)
                    if label == BODY:
                        bodies[name] = done.seconds
                    if label == SIGNATURE:
                        _importers(home, name, done, built)
                _largest_file(home, name, source, session, built)
            _edits(name)[BODY](source)
            commit(source, BODY)
            _told(f"{BODY}, by a command of its own", sync(home, name), built)
            _nothing_new(home, Path(folder), built)
    line(
        "body edit: share of django's build",
        bodies["django"],
        against=("build", built.seconds),
        note=goal(bodies["django"] <= 0.05 * built.seconds, "at most 0.05"),
    )
    line(
        "body edit, django against flask",
        bodies["django"],
        against=("flask", bodies["flask"]),
        note=goal(bodies["django"] <= 1.5 * bodies["flask"], "at most 1.5"),
    )


def _told(label: str, done: Sync, built: Sync) -> None:
    """Seconds against the build, rows, files of tables, files of the repository, and seconds by step and by phase."""
    touched = sum(row["files_touched"] for row in done.writes)
    pruned = sum(row["files_total"] for row in done.writes) - touched
    linked = next((row["owners_made"] for row in done.writes if row["asset"] == "links"), 0)
    line(label, done.seconds, against=("build", built.seconds), note=f"{sum(done.rows.values()):,} rows changed")
    print(f"    files linked anew: {linked}; files of tables: {touched} touched, {pruned} pruned", end="")
    print(f"; session start {done.session:.1f} s" if done.session else "; no session")
    around = done.seconds - sum(done.steps.values())
    steps = sorted(done.steps.items(), key=lambda pair: -pair[1])
    print(f"    seconds: {around:.2f} around the steps (plan, Dagster); ", end="")
    print(", ".join(f"{step} {seconds:.2f}" for step, seconds in steps))
    phases: dict[str, float] = {}
    for row in done.writes:
        for phase, seconds in json.loads(row["seconds"]).items():
            phases[phase] = phases.get(phase, 0.0) + seconds
    print("    of the writes: " + ", ".join(f"{phase} {seconds:.2f}" for phase, seconds in sorted(phases.items())))


def _importers(home: Path, name: str, done: Sync, built: Sync) -> None:
    """How many files import the edited module, directly or through others, against how many were linked anew."""
    path = next(
        path
        for row in done.writes
        if row["asset"] == "links"
        for path, reason in json.loads(row["owners"] or "{}").items()
        if reason == "edited"
    )
    query = (
        "WITH RECURSIVE uses AS (SELECT DISTINCT path, target_path FROM imports_resolved "
        f"WHERE target_repo = '{name}' AND target_path IS NOT NULL), wide AS (SELECT path FROM uses "
        f"WHERE target_path = '{path}' UNION SELECT u.path FROM uses u JOIN wide w ON u.target_path = w.path) "
        "SELECT count(DISTINCT path) AS n FROM wide"
    )
    count = ask(home, query)[0]["n"]
    linked = next(row["owners_made"] for row in done.writes if row["asset"] == "links")
    less = goal(linked < count and done.seconds < built.seconds, "fewer, and less than the build")
    print(f"    {path} has {count:,} transitive importers; {linked:,} files were linked anew   {less}")


def _largest_file(home: Path, name: str, source: Path, session: Session, built: Sync) -> None:
    """A comment line at its top: rows in proportion to its definitions, not to its nodes (G9)."""
    largest = ask(
        home,
        "SELECT n.path, count(*) AS nodes, (SELECT count(*) FROM definitions d WHERE d.repo = n.repo AND "
        f"d.path = n.path) AS defs FROM nodes n WHERE n.repo = '{name}' AND n.path LIKE '%.py' "
        "GROUP BY n.repo, n.path ORDER BY nodes DESC LIMIT 1",
    )[0]
    _prepend(source / largest["path"], "# A comment.\n")
    commit(source, "a comment in the largest file")
    done = session.sync(name)
    _told("a comment at the top of the largest file", done, built)
    graph = {table: done.rows.get(table, 0) for table in ("definitions", "nodes", "edges", "props", "links")}
    held = goal(sum(graph.values()) <= 3 * largest["defs"], "at most 3 rows for each of its definitions")
    print(f"    {largest['path']}: {largest['defs']:,} definitions, {largest['nodes']:,} nodes; ", end="")
    print(", ".join(f"{rows:,} rows of {table}" for table, rows in graph.items()) + f"   {held}")


def _nothing_new(home: Path, folder: Path, built: Sync) -> None:
    no_java = without_java(folder)
    again = timed(lambda: command(LAKEHOUSE, "sync", "--all", home=home, **no_java), repeat=3)
    held = goal(again < 2 and not java_was_started(folder), "below 2 s, no JVM")
    line("nothing new", again, against=("build", built.seconds), note=held)


def _edits(name: str) -> dict[str, Edit]:
    edited, head = EDITED[name]
    wide, wide_head = WIDELY_USED[name]

    def new_file(path: Path) -> None:
        (_find(path, edited).parent / "added_here.py").write_text("def added():\n    return 1\n")

    def rename(path: Path) -> None:
        made = _find(path, edited).parent / "added_here.py"
        made.rename(made.with_name("renamed_here.py"))

    def no_file(path: Path) -> None:
        subprocess.run(["git", "-C", str(path), "commit", "-q", "--allow-empty", "-m", NO_FILE], check=True)

    return {
        NO_FILE: no_file,
        BODY: lambda path: _insert_in_body(_find(path, edited), head),
        "a comment at the top": lambda path: _prepend(_find(path, edited), "# A comment.\n"),
        SIGNATURE: lambda path: _add_parameter(_find(path, wide), wide_head),
        "a new file": new_file,
        "a rename": rename,
    }


def _find(source: Path, end: str) -> Path:
    return min(
        path for path in source.rglob(Path(end).name) if str(path).endswith(f"/{end}") and "test" not in str(path)
    )


def _insert_in_body(path: Path, head: str) -> None:
    """A statement before the first `return` or at the end of the method's first line that is indented deeper."""
    lines = path.read_text().splitlines(keepends=True)
    at = next(number for number, text in enumerate(lines) if text.lstrip().startswith(f"{head}("))
    indent = len(lines[at]) - len(lines[at].lstrip())
    end = next(
        number
        for number in range(at + 1, len(lines))
        if lines[number].strip()
        and len(lines[number]) - len(lines[number].lstrip()) <= indent
        and not lines[number].lstrip().startswith(")")
    )
    lines.insert(end - 1 if not lines[end - 1].strip() else end, f"{' ' * (indent + 4)}print('edited')\n")
    path.write_text("".join(lines))


def _prepend(path: Path, text: str) -> None:
    path.write_text(text + path.read_text())


def _add_parameter(path: Path, head: str) -> None:
    """One more parameter behind the first."""
    text = path.read_text()
    at = text.index(f"{head}(") + len(head) + 1
    end = min(text.index(mark, at) for mark in (",", ")") if mark in text[at:])
    path.write_text(f"{text[:end]}, added=None{text[end:]}")
