"""What became of each definition, from the extracts of two texts."""

import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakehouse_assets.change.moves import FilePair
from lakehouse_assets.extract.extractor import extract
from lakehouse_assets.extract.packing import pack, unpack
from lakehouse_assets.lake.changed_definitions import compare_definitions, paired_definitions

BEFORE = """
import os

class Shop:
    rate = 1

    def total(self, items):
        return sum(items)

    def close(self):
        return os.getpid()

def main(argv):
    shop = Shop()
    return shop.total(argv)
"""


def definitions(text: str | None):
    """As an asset has them: extracted, packed, unpacked."""
    if text is None:
        return None
    facts = extract(textwrap.dedent(text), "Python")
    assert facts.status == "ok"
    (table,) = unpack(pack(facts), tables=("defs",)).values()
    return {name: table[name].to_pylist() for name in table.column_names}


def pair(old: str | None, new: str | None, path: str = "shop.py", old_path: str | None = None) -> FilePair:
    return FilePair(path=path, old_path=old_path or path, old=definitions(old), new=definitions(new))


def definition_changes(files: list[FilePair]) -> list[dict]:
    return compare_definitions(paired_definitions(files, "shop", "c1", "c2")).to_pylist()


def descriptor(symbol: str) -> str:
    """What stands behind the path."""
    return symbol.rpartition("`/")[2] or "<module>"


def told(changes: list[dict]) -> dict[str, str]:
    return {descriptor(each["symbol"]): each["change"] for each in changes}


def edit(*replacements: tuple[str, str]) -> dict[str, str]:
    text = BEFORE
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    return told(definition_changes([pair(BEFORE, text)]))


@pytest.mark.parametrize(
    "replacement",
    [
        pytest.param(("import os", "# why\n\n\nimport os"), id="a comment and lines at the top"),
        pytest.param(("return sum(items)", "# why\n        return sum(items)"), id="a comment in a body"),
        pytest.param(("return sum(items)", "return (sum(\n            items))"), id="another layout"),
        pytest.param(("def main(argv):", 'def main(argv):\n    """Run."""'), id="a docstring"),
    ],
)
def test_comments_layout_and_docstrings_change_no_definition(replacement: tuple[str, str]):
    assert edit(replacement) == {}


def test_a_body_edit_changes_its_definition_alone():
    assert edit(("return sum(items)", "return sum(items) + 1")) == {"Shop#total().": "body_changed"}


def test_a_signature_edit_is_told_as_such_even_if_the_body_changed_too():
    assert edit(("(self, items)", "(self, items, tax)")) == {"Shop#total().": "signature_changed"}
    text = BEFORE.replace("(self, items)", "(self, goods)").replace("sum(items)", "sum(goods)")
    (change,) = definition_changes([pair(BEFORE, text)])
    assert (change["change"], change["body_differs"]) == ("signature_changed", True)


def test_a_class_attribute_is_the_class_s_body():
    assert edit(("rate = 1", "rate = 2")) == {"Shop#": "body_changed"}


def test_a_lambda_is_part_of_the_definition_around_it():
    old, new = "def f(x):\n    return map(lambda y: y, x)\n", "def f(x):\n    return map(lambda y: -y, x)\n"
    assert told(definition_changes([pair(old, new)])) == {"f().": "body_changed"}


def test_definitions_come_and_go():
    changes = edit(("    def close(self):\n        return os.getpid()\n", ""), ("def main", "def run"))
    assert changes["Shop#close()."] == "removed"
    assert (changes["main()."], changes["run()."]) == ("removed", "added")


def test_a_new_and_a_deleted_file_add_and_remove_all_they_define():
    every = {"<module>", "Shop#", "Shop#total().", "Shop#close().", "main()."}
    assert told(definition_changes([pair(None, BEFORE)])) == dict.fromkeys(every, "added")
    assert told(definition_changes([pair(BEFORE, None)])) == dict.fromkeys(every, "removed")


def test_in_a_renamed_file_everything_has_moved_but_what_changed():
    text = BEFORE.replace("sum(items)", "sum(items) + 1")
    changes = definition_changes([pair(BEFORE, text, "till.py", "shop.py")])
    assert told(changes) == {
        "<module>": "moved",
        "Shop#": "moved",
        "Shop#total().": "body_changed",
        "Shop#close().": "moved",
        "main().": "moved",
    }
    assert {(each["old_path"], each["path"]) for each in changes} == {("shop.py", "till.py")}
    assert {each["old_symbol"][:10] + each["symbol"][:10] for each in changes} == {"`shop.py`/`till.py`/"}


def test_a_definition_that_passes_its_neighbours_has_moved_and_they_have_not():
    functions = [f"def f{number}():\n    return {number}\n" for number in range(5)]
    reordered = [functions[4], *functions[:4]]
    changes = told(definition_changes([pair("".join(functions), "".join(reordered))]))
    assert changes == {"<module>": "body_changed", "f4().": "moved"}


def test_a_definition_that_moves_to_another_file_has_moved():
    helper = "def helper(x):\n    return x + 1\n"
    changes = definition_changes(
        [pair("X = 1\n" + helper, "X = 1\n", "a.py"), pair("Y = 1\n", "Y = 1\n" + helper, "b.py")]
    )
    (moved,) = [each for each in changes if each["change"] == "moved"]
    assert (moved["path"], moved["old_path"], descriptor(moved["symbol"])) == ("b.py", "a.py", "helper().")
    assert {each["change"] for each in changes} == {"moved", "body_changed"}


def test_a_function_that_becomes_a_method_has_moved():
    old, new = (
        "def f():\n    return 1\n\nclass C:\n    x = 1\n",
        "class C:\n    x = 1\n\n    def f():\n        return 1\n",
    )
    (moved,) = [each for each in definition_changes([pair(old, new)]) if each["change"] == "moved"]
    assert (descriptor(moved["old_symbol"]), descriptor(moved["symbol"])) == ("f().", "C#f().")


def test_a_second_definition_of_one_name_is_one_of_its_own():
    old = "def f():\n    return 1\n"
    assert told(definition_changes([pair(old, old + "def f():\n    return 2\n")]))["f(+1)."] == "added"


NAMES = "abcd"
BODIES = st.dictionaries(st.sampled_from(NAMES), st.tuples(st.sampled_from(["", "x"]), st.integers(0, 2)))


def source(functions: dict[str, tuple[str, int]]) -> str:
    return "X = 1\n" + "".join(f"def {name}({args}):\n    return {body}\n" for name, (args, body) in functions.items())


@settings(deadline=None)  # a query waits for a core like everything else
@given(old=BODIES, new=BODIES)
def test_changes_tell_exactly_what_differs(old, new):
    changes = [each for each in definition_changes([pair(source(old), source(new))]) if each["kind"] != "module"]
    kinds = {each["change"] for each in changes}
    by_kind = {kind: {each["name"] for each in changes if each["change"] == kind} for kind in kinds}
    both = old.keys() & new.keys()
    assert by_kind.get("added", set()) == new.keys() - old.keys()
    assert by_kind.get("removed", set()) == old.keys() - new.keys()
    assert by_kind.get("signature_changed", set()) == {name for name in both if old[name][0] != new[name][0]}
    same_signature = {name for name in both if old[name][0] == new[name][0]}
    assert by_kind.get("body_changed", set()) == {name for name in same_signature if old[name] != new[name]}
    in_order = [name for name in old if name in both] == [name for name in new if name in both]
    if in_order:
        assert "moved" not in by_kind


@settings(deadline=None)  # a query waits for a core like everything else
@given(functions=BODIES)
def test_equal_definitions_have_no_changes(functions):
    assert definition_changes([pair(source(functions), "# a comment\n\n" + source(functions))]) == []
