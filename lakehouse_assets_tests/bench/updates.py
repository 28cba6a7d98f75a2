"""What an update costs: edits of several kinds on flask and on django, against the full build of each."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from lakehouse_assets_tests.bench.inputs import commit, repository
from lakehouse_assets_tests.bench.measure import LAKEHOUSE, command, goal, heading, line, timed
from lakehouse_assets_tests.bench.synced import Sync, sync

EDITED = {"django": ("db/models/base.py", "def refresh_from_db"), "flask": ("app.py", "def run")}
"""Path's end and the method that is edited."""
WIDELY_USED = {"django": ("utils/translation/__init__.py", "def gettext_lazy"), "flask": ("helpers.py", "def url_for")}

Edit = Callable[[Path], None]


def updates() -> None:
    """One kind of edit after the other, each a commit and a sync of its own."""
    bodies: dict[str, float] = {}
    for name in ("flask", "django"):
        with tempfile.TemporaryDirectory() as folder:
            home, source = Path(folder) / "home", repository(name, Path(folder))
            command(LAKEHOUSE, "repo", "add", name, str(source), home=home)
            heading(f"updates of {name}")
            built = sync(home, name)
            line("full build, session start apart", built.seconds)
            for label, edit in _edits(name).items():
                edit(source)
                commit(source, label)
                done = sync(home, name)
                _told(label, done, built)
                if label == "one line in a body":
                    bodies[name] = done.seconds
            again = timed(lambda home=home: command(LAKEHOUSE, "sync", "--all", home=home), repeat=3)
            line("nothing new", again, against=("build", built.seconds), note=goal(again < 2, "below 2 s"))
            if name == "django":
                line(
                    "body edit: share of the build",
                    bodies[name],
                    against=("build", built.seconds),
                    note=goal(bodies[name] <= 0.05 * built.seconds, "at most 0.05"),
                )
    line(
        "body edit, django against flask",
        bodies["django"],
        against=("flask", bodies["flask"]),
        note=goal(bodies["django"] <= 1.5 * bodies["flask"], "at most 1.5"),
    )


def _edits(name: str) -> dict[str, Edit]:
    edited, head = EDITED[name]
    wide, wide_head = WIDELY_USED[name]

    def new_file(path: Path) -> None:
        (_find(path, edited).parent / "added_here.py").write_text("def added():\n    return 1\n")

    def rename(path: Path) -> None:
        made = _find(path, edited).parent / "added_here.py"
        made.rename(made.with_name("renamed_here.py"))

    return {
        "one line in a body": lambda path: _insert_in_body(_find(path, edited), head),
        "a comment at the top": lambda path: _prepend(_find(path, edited), "# A comment.\n"),
        "a signature that many use": lambda path: _add_parameter(_find(path, wide), wide_head),
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


def _told(label: str, done: Sync, built: Sync) -> None:
    rows = sum(done.rows.values())
    line(label, done.seconds, against=("build", built.seconds), note=f"{rows:,} rows changed")
