"""Languages are data: grammars that are pinned, query files that compile."""

import subprocess
import sys
import tomllib

import pytest
from tree_sitter import Language, Query

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.settings import PROJECT_ROOT
from lakehouse_assets.extract.languages import language_names
from lakehouse_assets.extract.treesitter.captures import CAPTURES
from lakehouse_assets.extract.treesitter.descriptors import SUFFIXES
from lakehouse_assets.extract.treesitter.grammars import GRAMMARS_FILE, QUERIES, SUPPORTED, grammar_of, libraries

ENTRIES = tomllib.loads(GRAMMARS_FILE.read_text("utf-8"))


def capture_names(query: Query) -> set[str]:
    return {query.capture_name(number) for number in range(int(query.capture_count))}  # pyright: ignore[reportArgumentType]


def test_languages_have_the_names_that_files_are_classified_by():
    assert set(language_names()) >= SUPPORTED
    assert {"Python", "JavaScript", "TypeScript", "TSX", "Java", "Go", "Rust", "C", "C++"} <= SUPPORTED


@pytest.mark.parametrize("language", sorted(SUPPORTED))
def test_the_queries_of_a_language_compile_and_use_known_captures(language: str):
    names = capture_names(grammar_of(language).query)
    kinds = {name.removeprefix("definition.") for name in names if name.startswith("definition.")}
    assert kinds <= set(SUFFIXES)
    assert {name for name in names if not name.startswith(("definition.", "_"))} <= CAPTURES
    assert "function" in kinds or "method" in kinds
    assert {"call", "import", "import.module", "local", "name"} <= names


@pytest.mark.parametrize("language", sorted(SUPPORTED))
def test_the_facts_of_a_language_name_kinds_that_its_grammar_has(language: str):
    grammar = grammar_of(language)
    kinds = set(grammar.kinds.values())
    assert grammar.identifiers <= kinds
    assert {kind for kind, _ in grammar.not_references} <= kinds
    assert {field for _, field in grammar.not_references} <= set(grammar.fields)


def test_every_query_file_belongs_to_a_language():
    assert {path.name.removesuffix(".scm") for path in QUERIES.iterdir()} == {
        name for entry in ENTRIES.values() for name in entry["queries"]
    }


def test_grammars_are_pinned_to_what_is_installed():
    project = tomllib.loads((PROJECT_ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    constraints = (PROJECT_ROOT / "constraints.txt").read_text("utf-8").splitlines()
    for wheel, version in libraries().items():
        assert f"{wheel}=={version}" in project
        assert f"{wheel}=={version}" in constraints


def test_an_unknown_language_is_refused_with_what_can_be_used():
    with pytest.raises(BadInputError, match="Rust"):
        grammar_of("Klingon")


def test_only_the_grammar_that_is_asked_for_is_loaded():
    code = (
        "from lakehouse_assets.extract.treesitter.extractor import extract_with_tree_sitter\n"
        "import sys\n"
        "extract_with_tree_sitter('int x;', 'C')\n"
        "print(*sorted(name for name in sys.modules if name.startswith('tree_sitter_')))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PROJECT_ROOT)
    assert {name.partition(".")[0] for name in out.stdout.split()} == {"tree_sitter_c"}


def test_a_query_that_names_no_node_of_the_grammar_does_not_compile():
    import tree_sitter_c

    with pytest.raises(ValueError, match="nonsense"):
        Query(Language(tree_sitter_c.language()), "(nonsense) @name")
