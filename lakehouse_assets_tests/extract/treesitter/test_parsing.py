"""A parser goes on where it was interrupted, and is stopped, wherever it is, when it takes too much."""

import pytest

from lakehouse_assets.extract.treesitter import extractor
from lakehouse_assets.extract.treesitter.apart import read_apart
from lakehouse_assets.extract.treesitter.extractor import Limits, extract_with_tree_sitter
from lakehouse_assets.extract.treesitter.grammars import grammar_of, set_timeout
from lakehouse_assets.extract.treesitter.parsing import parse
from lakehouse_assets_tests.extract.treesitter.support import check_form, facts_of, sources

SLOW = b"'" * 50_001
"""Takes seconds as JavaScript, and its double four times that."""

HUGE = b"x=>" * 4_000
"""Takes gigabytes as Java, most of them in one step at the end."""


def test_a_parser_that_is_interrupted_goes_on_where_it_was():
    raw = (sources()["Java"] * 300).encode()
    grammar = grammar_of("Java")
    whole = parse(raw, grammar, 100.0)
    set_timeout(grammar.parser, 0.002)
    interrupted = 0
    while True:
        try:
            tree = grammar.parser.parse(raw)
            break
        except ValueError:
            interrupted += 1
    assert interrupted > 0
    assert whole is not None
    assert str(tree.root_node) == str(whole.root_node)


def test_a_parser_that_takes_too_long_leaves_no_trace():
    grammar = grammar_of("JavaScript")
    assert parse(SLOW, grammar, 0.05) is None
    assert facts_of("f();", "JavaScript").summary["calls"] == [[0, 2, "f", None]]


def test_a_text_that_takes_too_long_is_cut_off():
    facts = extract_with_tree_sitter(SLOW, "JavaScript", Limits(seconds=0.1, seconds_per_megabyte=0.0))
    check_form(facts)
    assert (facts.status, facts.defs["kind"]) == ("cut_off", ["module"])
    assert "0.10 s" in facts.diagnostics[0]


def test_a_text_that_takes_too_much_memory_is_cut_off():
    facts = extract_with_tree_sitter(HUGE, "Java", Limits(memory=1024**3))
    check_form(facts)
    assert facts.status == "cut_off"
    assert "1024 MB" in facts.diagnostics[0]


def test_a_program_is_read_in_this_process(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(extractor, "read_apart", None)
    for language, source in sources().items():
        assert extract_with_tree_sitter(source, language).status == "ok"


def test_a_text_that_is_read_apart_gives_the_same_facts():
    for language in ("Go", "TypeScript"):
        source = sources()[language]
        assert read_apart(source.encode(), language, Limits()) == facts_of(source, language)
