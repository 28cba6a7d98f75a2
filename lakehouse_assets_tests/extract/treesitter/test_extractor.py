"""Rows: where nodes lie, what changes when lines come and go, and where reading ends."""

import subprocess
import sys

import pytest

from lakehouse_assets.core.settings import PROJECT_ROOT
from lakehouse_assets.extract.facts import Facts
from lakehouse_assets.extract.treesitter.extractor import Limits, extract_with_tree_sitter
from lakehouse_assets.extract.treesitter.walk import MOST_LEVELS
from lakehouse_assets_tests.extract.treesitter.support import check_form, definition, facts_of, rows, sources


def node(facts: Facts, kind: str, name: str | None = None) -> dict:
    found = [dict(zip(facts.nodes, row, strict=True)) for row in rows(facts, "nodes")]
    return next(one for one in found if one["kind"] == kind and (name is None or one["name"] == name))


def test_lines_in_a_definition_count_from_its_first():
    facts = facts_of("let a;\n\nfunction f() {\n  return\n    1;\n}\n", "JavaScript")
    one = node(facts, "number")
    assert (one["anchor"], one["line"], one["col"], one["end_line"], one["end_col"]) == (0, 2, 4, 2, 5)
    own = definition(facts, "f().")
    assert (own["line"], own["col"], own["end_line"], own["end_col"]) == (3, 0, 6, 1)


def test_lines_in_the_file_count_from_the_statement_at_the_top():
    facts = facts_of("\nif (x) {\n  y;\n}\n", "JavaScript")
    statement, inner = node(facts, "if_statement"), node(facts, "identifier", "y")
    assert (statement["anchor"], statement["line"], statement["end_line"]) == (0, 2, 4)
    assert (inner["anchor"], inner["line"], inner["col"]) == (statement["n"], 1, 2)


def test_the_file_itself_is_at_no_place():
    facts = facts_of("\n\n// c\nx;\n", "JavaScript")
    assert rows(facts, "nodes")[0] == (0, 0, "program", None, 0, 0, 0, 0, 0)
    assert (facts.defs["line"][0], facts.defs["end_line"][0], facts.lines) == (1, 4, 4)


def test_columns_are_bytes():
    assert node(facts_of("s = 'é'; after", "JavaScript"), "identifier", "after")["col"] == 10


def test_operators_are_told_by_the_operation():
    facts = facts_of("a + b; !c; d = e;", "JavaScript")
    assert node(facts, "binary_expression")["name"] == "+"
    assert node(facts, "unary_expression")["name"] == "!"


@pytest.mark.parametrize("language", sorted(sources()))
def test_a_line_at_the_top_changes_definitions_and_statements_at_the_top_only(language: str):
    source = sources()[language]
    before, after = facts_of(source, language), facts_of(_with_blank_line(source), language)
    assert (before.edges, before.props, before.summary) == (after.edges, after.props, after.summary)
    moved = set(rows(before, "nodes")) ^ set(rows(after, "nodes"))
    assert {(d, anchor) for d, _, _, _, anchor, *_ in moved} <= {(0, 0)}
    for column in ("descriptor", "signature", "signature_hash", "body_hash", "docstring"):
        assert before.defs[column] == after.defs[column]


def _with_blank_line(source: str) -> str:
    """Behind the first line, which may have to stay the first."""
    first, rest = source.split("\n", 1)
    return f"{first}\n\n{rest}"


def test_text_and_its_bytes_give_the_same():
    source = sources()["Go"]
    assert facts_of(source, "Go") == facts_of(source.encode(), "Go")


def test_a_text_with_half_characters_is_read():
    assert facts_of("x = '\ud800'", "Python").lines == 1


@pytest.mark.parametrize("language", sorted(sources()))
def test_no_text_is_no_error(language: str):
    facts = facts_of(b"", language)
    check_form(facts)
    assert (facts.status, facts.lines, facts.defs["kind"]) == ("ok", 0, ["module"])


def test_errors_are_told_with_their_place_and_the_rest_is_kept():
    facts = facts_of("int ok(void) { return 1; }\nint x = = 2;\nint also(void) { return ok(); }\n", "C")
    assert facts.status == "partial"
    assert facts.diagnostics[0].startswith("2:")
    assert {"ok().", "also()."} <= set(facts.defs["descriptor"])


def test_what_is_missing_is_named():
    assert facts_of("int f(void) { return 1 }", "C").diagnostics == ("1:22: missing ;",)


def test_too_many_bytes_are_not_read():
    facts = extract_with_tree_sitter("int x;\n" * 10, "C", Limits(max_bytes=20))
    check_form(facts)
    assert (facts.status, facts.parser, facts.lines) == ("cut_off", "none", 10)
    assert facts.defs["kind"] == ["module"]
    assert facts.summary["definitions"] == []
    assert "70 bytes" in facts.diagnostics[0]


def test_nodes_beyond_the_limit_are_left_out_and_the_rest_stays_whole():
    source = "int f(void) { return g(); }\n" * 20
    facts = extract_with_tree_sitter(source, "C", Limits(max_nodes=30))
    check_form(facts)
    assert facts.status == "cut_off"
    assert len(facts.nodes["d"]) == 30
    assert 1 < len(facts.defs["kind"]) < 20


def test_text_that_is_no_program_is_not_searched_for_one():
    facts = facts_of(b"(" * 20_000, "JavaScript")
    assert facts.status == "partial"
    assert "queries" in facts.diagnostics[-1]


@pytest.mark.parametrize("opening", ["(", "{", "[", "f(", "class A {", "a.b(", "-"])
@pytest.mark.parametrize("language", ["JavaScript", "Python", "C++", "Java"])
def test_deep_nesting_costs_no_stack(opening: str, language: str):
    check_form(facts_of(opening * 3_000, language))


def test_definitions_nest_only_so_deep():
    facts = facts_of("class A {" * 500 + "}" * 500, "Java")
    check_form(facts)
    assert len(facts.defs["kind"]) == MOST_LEVELS + 1
    assert node(facts, "class_declaration")["d"] == 1


def test_facts_are_the_same_whatever_the_hash_seed():
    code = (
        "import hashlib\n"
        "from lakehouse_assets_tests.extract.treesitter.support import facts_of, sources\n"
        "facts = [facts_of(source, language) for language, source in sorted(sources().items())]\n"
        "print(hashlib.sha256(repr(facts).encode()).hexdigest())"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            cwd=PROJECT_ROOT,
            env={"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(seen) == 1
