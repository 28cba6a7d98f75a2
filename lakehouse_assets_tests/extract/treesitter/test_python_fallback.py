"""Python that the running interpreter refuses is read with the grammar: the same definitions under the same names."""

import pytest

from lakehouse_assets.core.settings import PROJECT_ROOT
from lakehouse_assets.extract.python.extractor import extract_python
from lakehouse_assets_tests.extract.treesitter.support import facts_of

OWN_SOURCES = sorted((PROJECT_ROOT / "lakehouse_assets" / "extract").rglob("*.py"))


@pytest.mark.parametrize("path", OWN_SOURCES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_grammar_finds_the_definitions_that_the_interpreter_finds(path):
    source = path.read_bytes()
    deep, shallow = extract_python(source), facts_of(source, "Python")
    assert (deep.parser, shallow.parser, shallow.status) == ("ast", "tree-sitter", "ok")
    for column in ("parent", "kind", "name", "descriptor"):
        assert shallow.defs[column] == deep.defs[column]


@pytest.mark.parametrize(
    "source",
    [
        "def f():\n    print 'old'\n",
        "type Pair[T] = tuple[T, T]\ndef f[T](x: T) -> T: ...\n",
        "def f():\n    return f'{x!r:{'>'}}' f\"{d[\"k\"]}\"\n",
    ],
    ids=["Python 2", "type parameters", "quotes within quotes"],
)
def test_syntax_of_other_versions_is_read(source: str):
    facts = facts_of(source, "Python")
    assert facts.defs["descriptor"] == ["", "f()."]
    assert facts.status == "ok"
