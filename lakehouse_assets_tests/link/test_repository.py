"""An update gives exactly what linking from scratch gives, and touches only what it must."""

import textwrap
from collections.abc import Mapping

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakehouse_assets.link.repository import LinkResult
from lakehouse_assets.link.state import LinkState
from lakehouse_assets_tests.support.linked import Linked, Row, kept, rows, state_of

MODULES = ("alpha", "beta", "pkg/__init__", "pkg/gamma", "pkg/delta", "tests/test_one")
NAMES = ("one", "two", "three")
CLASSES = ("Top", "Mid", "Leaf")
DOTTED = ("alpha", "beta", "pkg", "pkg.gamma", "pkg.delta", "nowhere", "os")

modules = st.sampled_from(MODULES)
names = st.sampled_from(NAMES)
classes = st.sampled_from(CLASSES)
dotted = st.sampled_from(DOTTED)
values = st.one_of(
    names,
    classes,
    st.builds("{}()".format, classes),
    st.builds("{}({})".format, names, st.one_of(names, classes)),
    st.builds("[{}, {}]".format, names, names),
    st.builds("{}.{}".format, st.sampled_from(["gamma", "delta", "beta"]), names),
)
statements = st.one_of(
    st.builds("from {} import {}".format, dotted, st.one_of(names, classes, st.sampled_from(["gamma", "delta"]))),
    st.builds("from {} import *".format, dotted),
    st.builds("import {}".format, dotted),
    st.builds("from . import {}".format, st.sampled_from(["gamma", "delta", "one"])),
    st.builds("from .gamma import {} as {}".format, names, names),
    st.builds("__all__ = [{!r}, {!r}]".format, st.one_of(names, classes), names),
    st.builds("{} = {}".format, names, values),
    st.builds("{}()".format, names),
    st.builds("{}.{}()".format, st.sampled_from(["one", "gamma", "pkg", "Leaf()"]), names),
    st.builds("def {}(arg=None):\n    arg()\n    return {}".format, names, values),
    st.builds("def {}(arg):\n    {}(arg)\n    return arg".format, names, names),
    st.builds("def {}(arg: {}):\n    arg.{}()".format, names, classes, names),
    st.builds("@{}\ndef {}():\n    pass".format, names, names),
    st.builds("for item in {}:\n    item()".format, values),
    st.builds(
        "class {}({}):\n    def {}(self):\n        self.held = {}\n        return self.{}()".format,
        classes,
        st.one_of(st.just(""), classes, st.builds("{}, {}".format, classes, classes)),
        names,
        values,
        names,
    ),
    st.builds(
        "class {}({}):\n    two = {}\n    def {}(self):\n        super().{}()\n        self.held()".format,
        *(classes, classes, values, names, names),
    ),
    st.just("# a comment"),
)
texts = st.lists(statements, min_size=0, max_size=6).map("\n".join)
trees = st.dictionaries(modules, texts, min_size=1, max_size=6)
edits = st.one_of(
    st.tuples(st.just("write"), modules, texts),
    st.tuples(st.just("append"), modules, statements),
    st.tuples(st.just("delete"), modules, st.just("")),
    st.tuples(st.just("rename"), modules, modules),
)


def edited(tree: Mapping[str, str], edit: tuple[str, str, str]) -> dict[str, str]:
    kind, module, given = edit
    changed = dict(tree)
    match kind:
        case "write":
            changed[module] = given
        case "append":
            changed[module] = f"{changed.get(module, '')}\n{given}"
        case "delete":
            changed.pop(module, None)
        case "rename" if module in changed:
            changed[given] = changed.pop(module)
    return changed


def files_of(tree: Mapping[str, str]) -> dict[str, str]:
    return {f"{module}.py": text for module, text in tree.items()}


def merged(before: dict[str, set[Row]], update: LinkResult) -> dict[str, set[Row]]:
    """Rows after an update: those of files that were not linked anew stay."""
    found: dict[str, set[Row]] = {}
    for table, new in rows(update).items():
        replaced = {*(update.modules if table == "module_index" else update.relinked), *update.gone}
        found[table] = {row for row in before[table] if row[1] not in replaced} | new
    return found


@settings(max_examples=150, deadline=None)
@given(trees, st.lists(edits, min_size=1, max_size=4))
def test_any_sequence_of_edits_ends_where_linking_from_scratch_ends(
    tree: dict[str, str], sequence: list[tuple[str, str, str]]
):
    first = Linked(files_of(tree)).result
    found = rows(first)
    state = state_of(first)
    for edit in sequence:
        tree = edited(tree, edit)
        update = Linked(files_of(tree), previous=state).result
        clean = Linked(files_of(tree)).result
        found = merged(found, update)
        state = state.updated(update.state, update.gone)
        assert found == rows(clean)
        assert kept(state) == kept(state_of(clean))
        assert set(update.relinked) <= set(clean.relinked)


@settings(max_examples=50, deadline=None)
@given(trees, st.randoms(use_true_random=False))
def test_the_order_in_which_files_come_does_not_show(tree: dict[str, str], random):
    files = files_of(tree)
    shuffled = list(files)
    random.shuffle(shuffled)
    assert rows(Linked(files).result) == rows(Linked({path: files[path] for path in shuffled}).result)


PROJECT = {
    "base.py": "class Base:\n    def go(self):\n        return helper()\ndef helper(): pass\n",
    "mid.py": "from base import Base\nclass Mid(Base): pass\n",
    "main.py": "from mid import Mid\ndef start():\n    Mid().go()\n",
    "apart.py": "def alone(): pass\n",
    "tool.py": "def each(call):\n    call()\n",
}


def relinked_by(change: Mapping[str, str | None]) -> dict[str, str]:
    before = Linked(PROJECT)
    after = {path: text for path, text in {**PROJECT, **change}.items() if text is not None}
    return Linked(after, previous=state_of(before.result)).result.relinked


def test_an_edit_in_a_body_relinks_the_file_alone():
    assert relinked_by(
        {"base.py": PROJECT["base.py"].replace("return helper()", "x = len('')\n        return helper()")}
    ) == {"base.py": "edited"}


@pytest.mark.parametrize("path", sorted(PROJECT))
def test_a_comment_relinks_nothing(path: str):
    assert relinked_by({path: "# said\n" + PROJECT[path]}) == {}


def test_another_docstring_relinks_nothing():
    before = Linked({"a.py": 'def f():\n    "Said."\n    f()\n'})
    after = Linked({"a.py": 'def f():\n    "Said otherwise."\n    f()\n'}, previous=state_of(before.result))
    assert after.result.relinked == {}


def test_no_edit_relinks_and_loads_nothing():
    before = Linked(PROJECT)
    again = Linked(PROJECT, previous=state_of(before.result))
    assert again.result.relinked == {}
    assert again.sources.loaded == []


def test_a_new_method_relinks_those_that_looked_for_its_name():
    change = {"mid.py": "from base import Base\nclass Mid(Base):\n    def go(self): pass\n"}
    assert set(relinked_by(change)) == {"mid.py", "main.py", "base.py"}
    other = {"mid.py": "from base import Base\nclass Mid(Base):\n    def other(self): pass\n"}
    assert set(relinked_by(other)) == {"mid.py"}


def test_a_new_module_relinks_the_import_that_found_none_before():
    files = {"main.py": "import later\nlater.run()\n", "apart.py": ""}
    before = Linked(files)
    assert before.calls("main") == {"later.run"}
    after = Linked({**files, "later.py": "def run(): pass\n"}, previous=state_of(before.result))
    assert set(after.result.relinked) == {"main.py", "later.py"}
    assert after.how("`main.py`/", "`later.py`/run().") == ("module", "certain")


def test_a_function_handed_over_relinks_the_file_that_calls_it():
    change = {"apart.py": "from tool import each\ndef alone(): pass\neach(alone)\n"}
    assert set(relinked_by(change)) == {"apart.py", "tool.py"}


def test_a_file_that_is_edited_beside_the_point_and_woken_by_another_is_kept_once():
    """An edit that leaves a summary equal makes nothing; what another file hands over wakes the file all the same."""
    state = state_of(Linked(PROJECT).result)
    change = {
        **PROJECT,
        "tool.py": "# A comment.\n" + PROJECT["tool.py"],
        "apart.py": "from tool import each\ndef alone(): pass\neach(alone)\n",
    }
    update = Linked(change, previous=state).result
    assert sorted(update.state.files["path"]) == ["apart.py", "tool.py"]
    assert kept(state.updated(update.state, update.gone)) == kept(state_of(Linked(change).result))


def test_a_deleted_file_goes_and_its_importers_are_relinked():
    before = Linked(PROJECT)
    left = {path: text for path, text in PROJECT.items() if path != "mid.py"}
    after = Linked(left, previous=state_of(before.result)).result
    assert after.gone == {"mid.py"}
    # The base was told that one of its methods runs with a Mid, which it no longer does.
    assert set(after.relinked) == {"main.py", "base.py"}


def test_an_update_loads_only_what_it_reads():
    files = {f"m{i}.py": textwrap.dedent(f"def f{i}(): pass\n") for i in range(40)}
    files["main.py"] = "from m1 import f1\nf1()\n"
    before = Linked(files)
    files["main.py"] = "from m1 import f1\nf1()\nf1()\n"
    after = Linked(files, previous=state_of(before.result))
    assert set(after.sources.loaded) == {"main.py", "m1.py"}


def test_a_file_that_cannot_be_parsed_has_no_rows_and_stops_nothing():
    found = Linked({"broken.py": "def (", "main.py": "import broken\nbroken.run()\n"})
    assert "broken.py" in found.result.relinked
    assert "broken.py" not in found.result.links["path"]
    assert found.imports("main.py")["broken"] == ("first_party", "broken", "broken.py")


def test_state_comes_back_from_arrays_as_it_was():
    result = Linked(PROJECT).result
    tables = {
        table: {
            name: pa.array(column, pa.int64() if name in ("key", "hash", "rounds", "summary") else pa.string())
            for name, column in columns.items()
        }
        for table, columns in result.state.tables().items()
    }
    change = {**PROJECT, "mid.py": "class Mid:\n    def go(self): pass\n"}
    plain = Linked(change, previous=state_of(result)).result
    from_arrays = Linked(change, previous=LinkState(tables)).result
    assert rows(plain) == rows(from_arrays)
    assert plain.relinked == from_arrays.relinked
