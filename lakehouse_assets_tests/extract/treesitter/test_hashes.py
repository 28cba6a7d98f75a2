"""An edit shows in the hashes of what was edited, and nowhere else."""

import pytest

from lakehouse_assets_tests.extract.treesitter.support import facts_of

SOURCE = """
class Shop {
  limit = 1;
  sell(a, b) { return a + b; }
  close() { list.map((x) => x + 1); }
}
"""


def changed(before: str, after: str, language: str = "JavaScript") -> set[tuple[str, str]]:
    """Which hashes of which definitions differ; definitions that only one has count with both."""
    first, second = facts_of(before, language), facts_of(after, language)
    found: set[tuple[str, str]] = set()
    for column in ("signature_hash", "body_hash"):
        old = dict(zip(first.defs["descriptor"], first.defs[column], strict=True))
        new = dict(zip(second.defs["descriptor"], second.defs[column], strict=True))
        found |= {(own, column.partition("_")[0]) for own in old.keys() | new.keys() if old.get(own) != new.get(own)}
    return found


@pytest.mark.parametrize(
    ("old", "new"),
    [("a + b", "a   +\n  b"), ("a + b", "a /* sum */ + b"), ("sell(", "// sells\n  sell("), ("class", "\n\nclass")],
)
def test_layout_and_comments_change_nothing(old: str, new: str):
    assert changed(SOURCE, SOURCE.replace(old, new)) == set()


def test_an_edit_in_a_method_is_no_edit_of_its_class():
    assert changed(SOURCE, SOURCE.replace("a + b", "a - b")) == {("Shop#sell().", "body")}


def test_parameters_are_part_of_the_signature():
    assert changed(SOURCE, SOURCE.replace("sell(a, b)", "sell(a, b, c)")) == {("Shop#sell().", "signature")}


def test_a_value_is_part_of_the_body():
    assert changed(SOURCE, SOURCE.replace("limit = 1", "limit = 2")) == {("Shop#limit.", "body")}


def test_an_edit_in_a_lambda_is_one_of_what_is_around_it():
    expected = {("Shop#close().", "body"), ("Shop#close().<lambda1>.", "body")}
    assert changed(SOURCE, SOURCE.replace("x + 1", "x + 2")) == expected


def test_a_new_method_is_an_edit_of_its_class():
    after = SOURCE.replace("close()", "open() {}\n  close()")
    assert changed(SOURCE, after) == {("Shop#", "body"), ("Shop#open().", "signature"), ("Shop#open().", "body")}


def test_a_new_base_is_part_of_the_signature():
    assert changed(SOURCE, SOURCE.replace("Shop {", "Shop extends Base {")) == {("Shop#", "signature")}


def test_tokens_that_flow_together_differ_from_those_that_do_not():
    assert changed("int f(void) { return a - -b; }", "int f(void) { return a --b; }", "C") == {("f().", "body")}


def test_where_layout_is_syntax_it_counts():
    before = "def f():\n    if a:\n        b()\n    c()\n"
    after = "def f():\n    if a:\n        b()\n        c()\n"
    assert changed(before, after, "Python") == {("f().", "body")}


def test_a_docstring_counts_nowhere():
    before = 'def f():\n    """One."""\n    return 1\n'
    assert changed(before, before.replace("One", "Two"), "Python") == set()


def test_what_moves_keeps_its_hashes():
    first = facts_of("function f(a) { return a; }", "JavaScript")
    second = facts_of("class A {}\n\nif (x) {\n  function f(a) { return a; }\n}", "JavaScript")
    for column in ("signature_hash", "body_hash"):
        assert first.defs[column][1] == second.defs[column][2]
