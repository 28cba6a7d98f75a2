"""Random lives of repositories that import each other: small real programs, and every kind of edit to them.

All repositories take their paths from one list, so that several may offer the same module.
A file is a list of statements, so that an edit can add, drop, move or turn one without parsing. A step is one commit
on the newest commit or, as after a force-push or on another branch, on an earlier one; some steps make no commit and
only go back and forth between those that are there.
"""

from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import strategies as st

from lakehouse_assets_tests.support.repos import Change, RepoBuilder

Tree = dict[str, tuple[str, ...]]
"""Statements by path."""

PATHS = (
    "alpha.py",
    "beta.py",
    "pkg/__init__.py",
    "pkg/gamma.py",
    "pkg/delta.py",
    "src/deep.py",
    "src/kit/__init__.py",
    "kit/gamma.py",
    "tool.pyw",
    "web/page.js",
    "odd\u2028.py",
    "kit/\x85.py",
    "pkg\x1e/__init__.py",
    "pkg\x1e/gamma.py",
)
"""With characters that git takes in names, and that other programs take for the end of a line or of a part."""
PACKAGES = ("pkg", "kit", "src/kit", "src/pkg", "pkg\x1e", "src/kit\u2028")
NAMES = ("one", "two", "three")
CLASSES = ("Top", "Mid", "Leaf")
MODULES = ("alpha", "beta", "pkg", "pkg.gamma", "pkg.delta", "deep", "kit", "kit.gamma", "tool", "nowhere", "os")
BROKEN = "def ("
AUTHOR = "An\u2028n\x85 <ann@example.org>".encode()

names = st.sampled_from(NAMES)
classes = st.sampled_from(CLASSES)
modules = st.sampled_from(MODULES)
values = st.one_of(
    names,
    st.builds("{}()".format, classes),
    st.builds("{}({})".format, names, st.one_of(names, classes)),
    st.builds("{}.{}".format, st.sampled_from(["gamma", "pkg", "beta", "kit"]), names),
)
bases = st.lists(classes, max_size=2, unique=True).map(", ".join)
statements = st.one_of(
    st.builds("from {} import {}".format, modules, st.one_of(names, classes, st.sampled_from(["gamma", "delta"]))),
    st.builds("from {} import *".format, modules),
    st.builds("import {}".format, modules),
    st.builds("from .{} import {}".format, st.sampled_from(["gamma", "delta", ""]), st.one_of(names, classes)),
    st.builds("__all__ = [{!r}, {!r}]".format, st.one_of(names, classes), names),
    st.builds("{} = {}".format, names, values),
    st.builds("{}()".format, names),
    st.builds("{}().{}()".format, classes, names),
    st.builds("def {}(arg=None):\n    arg()\n    return {}".format, names, values),
    st.builds("def {}(arg: {}):\n    arg.{}()\n    {}(arg)".format, names, classes, names, names),
    st.builds("@{}\ndef {}():\n    pass".format, names, names),
    st.builds("class {}({}):\n    def {}(self):\n        self.held = {}".format, classes, bases, names, values),
    st.builds(
        "class {}({}):\n    two = {}\n\n    def {}(self):\n        self.{}()\n        super().{}()".format,
        classes,
        bases,
        values,
        names,
        names,
        names,
    ),
)
contents = st.lists(statements, min_size=1, max_size=5).map(tuple)
places = st.integers(0, len(PATHS) - 1)


@dataclass(frozen=True)
class Edit:
    """What is done to one file; `other` and `statement` are used by some kinds only."""

    kind: str
    path: int
    place: int
    other: int
    statement: str


KINDS = (
    "write",
    "insert",
    "insert",
    "replace",
    "drop",
    "move a definition",
    "turn the bases",
    "export others",
    "export again",
    "delete",
    "rename",
    "rename the package",
    "comment",
    "layout",
    "docstring",
    "break",
    "repair",
)
edits = st.builds(Edit, st.sampled_from(KINDS), places, places, places, statements)


trees = st.dictionaries(st.sampled_from(PATHS), contents, min_size=2, max_size=7)


def edited(tree: Tree, edit: Edit) -> Tree:
    """The tree after an edit; one that finds nothing to work on changes nothing."""
    path, other = PATHS[edit.path % len(PATHS)], PATHS[edit.other % len(PATHS)]
    held = tree.get(path, ())
    at = edit.place % (len(held) or 1)
    match edit.kind:
        case "write":
            return {**tree, path: (edit.statement,)}
        case "insert":
            return {**tree, path: (*held[:at], edit.statement, *held[at:])}
        case "export again":
            package = f"{PACKAGES[edit.other % len(PACKAGES)]}/__init__.py"
            return {**tree, package: (*tree.get(package, ()), f"from .gamma import {NAMES[edit.place % 3]}")}
        case "rename the package":
            old, new = (f"{PACKAGES[number % len(PACKAGES)]}/" for number in (edit.path, edit.other))
            return {new + name[len(old) :] if name.startswith(old) else name: text for name, text in tree.items()}
        case "delete" if len(tree) > 1:
            return {name: text for name, text in tree.items() if name != path}
        case _ if not held:
            return tree
        case "replace":
            return {**tree, path: (*held[:at], edit.statement, *held[at + 1 :])}
        case "drop":
            return {**tree, path: (*held[:at], *held[at + 1 :])}
        case "move a definition":
            left = {**tree, path: (*held[:at], *held[at + 1 :])}
            return {**left, other: (*left.get(other, ()), held[at])}
        case "export others":
            kept = tuple(each for each in held if not each.startswith("__all__"))
            return {**tree, path: (*kept, f"__all__ = [{NAMES[edit.place % 3]!r}, {CLASSES[edit.other % 3]!r}]")}
        case "turn the bases":
            return {**tree, path: tuple(map(_turned, held))}
        case "rename":
            return {**{name: text for name, text in tree.items() if name != path}, other: held}
        case "comment":
            return {**tree, path: (f"# said {edit.place}", *held)}
        case "layout":
            return {**tree, path: (*held[:at], "\n", *held[at:])}
        case "docstring":
            return {**tree, path: (f'"""Told {edit.place}."""', *held)}
        case "break":
            return {**tree, path: (*held, BROKEN)}
        case "repair":
            return {**tree, path: tuple(each for each in held if each != BROKEN)}
    return tree


def _turned(statement: str) -> str:
    head, open_, rest = statement.partition("(")
    if not head.startswith("class ") or ", " not in rest.partition(")")[0]:
        return statement
    inside, close, end = rest.partition(")")
    return head + open_ + ", ".join(reversed(inside.split(", "))) + close + end


@dataclass
class Life:
    """One repository as commits make it."""

    path: Path
    start: Tree
    builder: RepoBuilder = field(init=False)
    _commits: list[tuple[str, Tree]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.builder = RepoBuilder(self.path)
        self._commit(self.start, None)

    def take(self, back: int, edits: tuple[Edit, ...]) -> None:
        """Commit edits on the commit so many before the newest; without edits, move the head there."""
        commit, tree = self._commits[max(0, len(self._commits) - 1 - back)]
        for edit in edits:
            tree = edited(tree, edit)
        if edits:
            self._commit(tree, commit)
        else:
            self.builder.repository.references.create("refs/heads/main", commit, force=True)

    def _commit(self, tree: Tree, parent: str | None) -> None:
        before = dict(self._commits)[parent] if parent else {}
        changes: dict[str | bytes, Change] = {path: None for path in before if path not in tree}
        changes |= {path: "\n".join(held) + "\n" for path, held in tree.items() if before.get(path) != held}
        parents = [parent] if parent else []
        made = self.builder.commit(changes, parents=parents, author=AUTHOR, message=f"{len(self._commits)}")
        self._commits.append((made, tree))
