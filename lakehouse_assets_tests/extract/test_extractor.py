"""Every language goes to the extractor that reads it, and versions are the language's own."""

import pytest

from lakehouse_assets.core.text import lines_of
from lakehouse_assets.extract.extractor import LANGUAGES, extract, extractor_version


@pytest.mark.parametrize(
    ("language", "source", "parser"),
    [("Python", "def f(): pass", "ast"), ("Go", "package a\nfunc f() {}", "tree-sitter")],
)
def test_a_language_is_read_by_its_extractor(language: str, source: str, parser: str):
    facts = extract(source, language)
    assert (facts.language, facts.parser, facts.status) == (language, parser, "ok")
    assert "f" in facts.defs["name"]


def test_languages_have_versions_of_their_own():
    versions = {language: extractor_version(language) for language in LANGUAGES}
    assert len(set(versions.values())) == len(LANGUAGES)
    assert versions["Python"] == extractor_version.__wrapped__("Python")


@pytest.mark.parametrize("language", ["Python", "JavaScript"])
def test_lines_are_counted_alike_in_all_languages(language: str):
    texts = {"Python": "def {}(): pass", "JavaScript": "function {}() {{}}"}
    ends = ["\n", "\r\n", "\r", "\n\x0c\n", "\n"]
    text = "".join(texts[language].format(f"f{i}") + end for i, end in enumerate(ends))
    facts = extract(text, language)
    assert facts.defs["line"][1:] == [1, 2, 3, 4, 6]
    assert facts.lines == len(lines_of(text)) == 6


def test_definitions_nested_too_deeply_are_cut_off_and_labelled():
    many = "\n".join(f"x{i} = " + "lambda: " * 101 + "1" for i in range(3))
    facts = extract(many, "Python")
    assert (facts.status, len(facts.defs["kind"])) == ("cut_off", 1)
    assert facts.diagnostics == ("1:0: has definitions nested more than 100 levels deep",)
    assert extract("x = " + "lambda: " * 100 + "1", "Python").status == "ok"
