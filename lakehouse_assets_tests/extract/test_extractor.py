"""Every language goes to the extractor that reads it, and versions are the language's own."""

import pytest

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
