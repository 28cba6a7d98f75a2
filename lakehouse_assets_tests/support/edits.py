"""Random lives of two repositories that import each other: small real programs, and every kind of edit to them.

A file is a list of statements, so that an edit can add, drop, move or turn one without parsing. A step is one commit
on the newest commit or, as after a force-push or on another branch, on an earlier one; some steps make no commit and
only go back and forth between those that are there.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import strategies as st

from lakehouse_assets_tests.support.repos import Change, RepoBuilder

Tree = dict[str, tuple[str, ...]]
"""Statements by path."""

APP, LIB = "app", "lib"
PATHS: Mapping[str, tuple[str, ...]] = {
    APP: ("alpha.py", "beta.py", "pkg/__init__.py", "pkg/gamma.py", "pkg/delta.py", "src/deep.py", "web/page.js"),
    LIB: ("shared/__init__.py", "shared/one.py", "shared/two.py", "beta.py", "top.py"),
}
NAMES = ("one", "two", "three")
CLASSES = ("Top", "Mid", "Leaf")
MODULES = ("alpha", "beta", "pkg", "pkg.gamma", "pkg.delta", "deep", "shared", "shared.one", "top", "nowhere", "os")
BROKEN = "def ("

names = st.sampled_from(NAMES)
classes = st.sampled_from(CLASSES)
modules = st.sampled_from(MODULES)
values = st.one_of(
    names,
    st.builds("{}()".format, classes),
    st.builds("{}({})".format, names, st.one_of(names, classes)),
    st.builds("{}.{}".format, st.sampled_from(["gamma", "shared", "beta", "top"]), names),
)
bases = st.lists(classes, max_size=2, unique=True).map(", ".join)
statements = st.one_of(
    st.builds("from {} import {}".format, modules, st.one_of(names, classes, st.sampled_from(["gamma", "one"]))),
    st.builds("from {} import *".format, modules),
    st.builds("import {}".format, modules),
    st.builds("from .{} import {}".format, st.sampled_from(["gamma", "delta", "one", ""]), st.one_of(names, classes)),
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
places = st.integers(0, 7)


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
    "comment",
    "layout",
    "docstring",
    "break",
    "repair",
)
edits = st.builds(Edit, st.sampled_from(KINDS), places, places, places, statements)


@dataclass(frozen=True)
class Step:
    """`back` says on which commit, counted from the newest, it builds; without edits the head only moves there."""

    repo: str
    back: int
    edits: tuple[Edit, ...]
    sync: str


steps = st.builds(
    Step,
    st.sampled_from([APP, APP, LIB]),
    st.sampled_from([0, 0, 0, 0, 1, 2, 3]),
    st.lists(edits, max_size=3).map(tuple),
    st.sampled_from(["own", "own", "both", "no"]),
)
trees = st.fixed_dictionaries(
    {name: st.dictionaries(st.sampled_from(paths), contents, min_size=2) for name, paths in PATHS.items()}
)


def edited(tree: Tree, repo: str, edit: Edit) -> Tree:
    """The tree after an edit; one that finds nothing to work on changes nothing."""
    paths = PATHS[repo]
    path, other = paths[edit.path % len(paths)], paths[edit.other % len(paths)]
    held = tree.get(path, ())
    at = edit.place % (len(held) or 1)
    match edit.kind:
        case "write":
            return {**tree, path: (edit.statement,)}
        case "insert":
            return {**tree, path: (*held[:at], edit.statement, *held[at:])}
        case "export again":
            package = next(each for each in paths if each.endswith("/__init__.py"))
            inside = "gamma" if repo == APP else "one"
            return {**tree, package: (*tree.get(package, ()), f"from .{inside} import {NAMES[edit.place % 3]}")}
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
    """One repository as steps make it."""

    path: Path
    name: str
    start: Tree
    builder: RepoBuilder = field(init=False)
    _commits: list[tuple[str, Tree]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.builder = RepoBuilder(self.path)
        self._commit(self.start, None)

    def take(self, step: Step) -> None:
        commit, tree = self._commits[max(0, len(self._commits) - 1 - step.back)]
        for edit in step.edits:
            tree = edited(tree, self.name, edit)
        if step.edits:
            self._commit(tree, commit)
        else:
            self.builder.repository.references.create("refs/heads/main", commit, force=True)

    def _commit(self, tree: Tree, parent: str | None) -> None:
        before = dict(self._commits)[parent] if parent else {}
        changes: dict[str | bytes, Change] = {path: None for path in before if path not in tree}
        changes |= {path: "\n".join(held) + "\n" for path, held in tree.items() if before.get(path) != held}
        made = self.builder.commit(changes, parents=[parent] if parent else [], message=f"{len(self._commits)}")
        self._commits.append((made, tree))
