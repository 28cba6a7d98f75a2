"""A Python file in, facts out, whatever the file is."""

import gc
import sys

import pytest

from lakehouse_assets.extract.python.extractor import extract_python
from lakehouse_assets.extract.python.limits import Limits
from lakehouse_assets_tests.extract.python.drawings import facts_of
from lakehouse_assets_tests.extract.python.invariants import check_facts

SOURCE = '''"""About the module."""
import os

@decorated(1)
class A(Base, metaclass=Meta):
    size: int = 3

    def run(self, a, /, b=2, *c, d: str = "x", **e) -> "A":
        """What it does."""
        return [lambda q=a: q + 1 for z in b]

    def run(self):
        yield

async def main(*, x):
    def inner(): pass
'''


def column(facts, table: str, name: str) -> list:
    return getattr(facts, table)[name]


def test_definitions_have_names_places_and_signatures():
    facts = facts_of(SOURCE)
    check_facts(facts)
    assert column(facts, "defs", "kind") == [
        "module",
        "class",
        "function",
        "lambda",
        "function",
        "function",
        "function",
    ]
    assert column(facts, "defs", "descriptor") == [
        "",
        "A#",
        "A#run().",
        "A#run().<lambda1>.",
        "A#run(+1).",
        "main().",
        "main().inner().",
    ]
    assert column(facts, "defs", "parent") == [-1, 0, 1, 2, 1, 0, 5]
    assert column(facts, "defs", "line") == [1, 5, 8, 10, 12, 15, 16]
    assert column(facts, "defs", "signature") == [
        None,
        "(Base, metaclass=Meta)",
        "(self, a, /, b=2, *c, d: str = 'x', **e) -> 'A'",
        "(q=a)",
        "(self)",
        "(*, x)",
        "()",
    ]
    assert column(facts, "defs", "docstring")[:3] == ["About the module.", None, "What it does."]


def test_properties_say_what_neither_names_nor_edges_do():
    facts = facts_of(SOURCE)
    props = {(facts.defs["name"][d], name, value) for d, _, name, value in zip(*facts.props.values(), strict=True)}
    assert props == {
        ("A", "decorator", "decorated(1)"),
        ("A", "bases", "Base"),
        ("A", "annotation", "int"),
        ("run", "annotation", "str"),
        ("run", "returns", "'A'"),
        ("run", "is_generator", "true"),
        ("main", "is_async", "true"),
    }


def test_a_yield_makes_a_generator_of_the_function_that_evaluates_it():
    facts = facts_of("def f():\n    def g(x=(yield)): pass\ndef h():\n    lambda: (yield)\n")
    generators = {
        facts.defs["descriptor"][d]
        for d, name in zip(facts.props["d"], facts.props["name"], strict=True)
        if name == "is_generator"
    }
    assert generators == {"f().", "h().<lambda1>."}


def test_a_name_that_is_not_ascii_is_quoted_in_its_descriptor():
    assert facts_of("class Größe: pass").defs["descriptor"][1] == "`Größe`#"


@pytest.mark.parametrize(
    ("source", "kind", "name"),
    [
        ("a + b", "BinOp", "+"),
        ("a < b is not c", "Compare", "< is not"),
        ("not a", "UnaryOp", "not"),
        ("a or b", "BoolOp", "or"),
        ("a //= b", "AugAssign", "//="),
        ("a.b", "Attribute", "b"),
        ("f(k=1)", "keyword", "k"),
        ("from ..a.b import c as d", "ImportFrom", "..a.b"),
        ("from ..a.b import c as d", "alias", "c as d"),
        ("'text'", "Constant", "'text'"),
        (f"'{'x' * 100}'", "Constant", f"'{'x' * 60}'…"),
        ("0x" + "f" * 5000, "Constant", "0x" + "f" * 58 + "…"),
        ("global a, b", "Global", "a, b"),
        ("f'{a!r}'", "FormattedValue", "!r"),
    ],
)
def test_a_node_is_called_by_its_name_operator_or_value(source: str, kind: str, name: str):
    nodes = facts_of(source).nodes
    assert (kind, name) in set(zip(nodes["kind"], nodes["name"], strict=True))


def test_syntax_of_other_versions_is_read_by_another_parser_and_labelled():
    for source in (
        "print 'hello'\ndef f(): pass\n",
        "def f(): pass\nx = t'{a}'\n" if sys.version_info < (3, 14) else "",
    ):
        facts = extract_python(source or "exec 'x'\ndef f(): pass\n")
        check_facts(facts)
        assert facts.parser == "tree-sitter"
        assert "f" in facts.defs["name"]
        assert facts.diagnostics


def test_an_error_is_said_with_its_place_and_the_rest_is_recovered():
    facts = extract_python("def f():\n    return 1\n\ndef g(:\n    pass\n\ndef h():\n    return 2\n")
    check_facts(facts)
    assert facts.status == "partial"
    assert facts.diagnostics[0].startswith("4:6: ")
    assert "f" in facts.defs["name"]


@pytest.mark.parametrize(
    "source",
    [
        "",
        b"",
        "\x00",
        "x = '\ud800'",
        "x = '\\ud800'\ndef f():\n    '\\udfff'\n",
        b"\xff\xfe\x00",
        b"\xef\xbb\xbfx = 1\n",
        "\ufeffx = 1",
        b"# coding: latin-1\nx = '\xe4'\n",
        "x = 1\r\ny = 2\rz = 3",
        "\x0c\nx = 1\x1a",
        "'''",
        "(" * 300,
        "-" * 5000 + "1",
        "lambda: " * 500 + "1",
        "a" + ".b" * 5000,
        "x = " + "[" * 150 + "]" * 150,
        "if a: pass\n" + "elif a: pass\n" * 900,
        "def f():\n" + "".join(" " * (i + 1) + "if a:\n" for i in range(90)) + " " * 91 + "b",
        "@(yield)\ndef f(x=(yield)): pass",
        "@'constant'\ndef f(): pass",
        "lambda: 1",
        "class C[T]: pass\ntype X[T] = list[T]\ndef f[T: int](x: T) -> T: return x\n",
        "x = 0x" + "f" * 5000 + "\ndef f(x=0x" + "f" * 5000 + "): pass",
        "return\nbreak\ncontinue\nyield\nawait x\nnonlocal y\nglobal z",
        "from x import *\nimport a.b.c\n__all__ = ['a']",
    ],
)
def test_nothing_that_a_file_says_raises(source: bytes | str):
    facts = extract_python(source)
    check_facts(facts)
    assert extract_python(source) == facts


def test_lines_are_counted_as_the_language_does():
    assert [extract_python(text).lines for text in ("", "a", "a\n", "a\r\nb\rc\n", "a\x0cb\u2028c")] == [0, 1, 1, 3, 1]


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (Limits(characters=10), "longer than 10 characters"),
        (Limits(nodes=10), "more than 10 nodes"),
        (Limits(flow_edges=10), "more than 10 edges of data flow"),
        (Limits(seconds=-1.0), "processor time"),
    ],
)
def test_what_takes_too_much_is_cut_off_and_says_so(limits: Limits, reason: str):
    facts = extract_python("def f(a):\n    if a:\n        a += 1\n    return a\n" * 200, limits)
    check_facts(facts)
    assert facts.status == "cut_off"
    assert reason in facts.diagnostics[0]
    assert facts.defs["kind"][0] == "module"


def test_the_process_is_left_as_it_was():
    before = sys.getrecursionlimit(), gc.isenabled()
    extract_python("x = 1")
    extract_python("x = (")
    assert (sys.getrecursionlimit(), gc.isenabled()) == before
