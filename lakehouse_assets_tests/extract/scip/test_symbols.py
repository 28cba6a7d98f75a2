"""Symbols in SCIP's grammar."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakehouse_assets.extract.scip.symbols import (
    definition_descriptors,
    external_descriptors,
    fault,
    name,
    symbol_prefix,
)
from lakehouse_assets.extract.symbols import symbol_of


@pytest.mark.parametrize(
    "symbol",
    [
        "local 12",
        "scip-python python flask 1 `src.flask.app`/Flask#run().",
        "scip-typescript npm . . `a b`/f(+1).(x)",
        "s . . . m!",
        "s . . . a/B#[T]",
        "s  x . a  b . x:",
    ],
)
def test_symbols_of_the_grammar_are_accepted(symbol: str):
    assert fault(symbol) is None


@pytest.mark.parametrize(
    "symbol",
    ["", "local ", "local a b", "s . . .", "s . . . ", "s . . x.", "s . . . a b.", "s . . . a", "s . . . `a`."],
)
def test_symbols_outside_the_grammar_are_told(symbol: str):
    assert fault(symbol)


@pytest.mark.parametrize(
    ("own", "descriptors"),
    [
        ("", "`a/b.py`/"),
        ("Class#", "`a/b.py`/Class#"),
        ("Class#method().", "`a/b.py`/Class#method()."),
        ("func(+1).", "`a/b.py`/func(+1)."),
        ("Class(+1)#m().", "`a/b.py`/`Class(+1)`#m()."),
        ("outer().<lambda1>.", "`a/b.py`/outer().`<lambda1>`."),
        ("größe().", "`a/b.py`/`größe`()."),
        ("impl#[Vec][`a b`]", "`a/b.py`/impl#[Vec][`a b`]"),
        ("f(declared).", "`a/b.py`/f(declared)."),
        ("odd(", "`a/b.py`/`odd(`."),
    ],
)
def test_symbols_of_definitions_become_descriptors(own: str, descriptors: str):
    assert definition_descriptors("a/b.py", f"`a/b.py`/{own}") == descriptors


@given(st.text(min_size=1), st.text())
def test_any_definition_gets_a_symbol_of_the_grammar(path: str, own: str):
    assert fault(symbol_prefix("python", "repo", "") + definition_descriptors(path, symbol_of(path, own))) is None


@given(st.text(min_size=1))
def test_any_external_name_gets_a_symbol_of_the_grammar(dotted: str):
    package, descriptors = external_descriptors(dotted)
    assert fault(symbol_prefix("python", package, "") + descriptors) is None


def test_external_names_are_told_apart_by_package():
    assert external_descriptors("<builtin>.len") == ("builtins", "len.")
    assert external_descriptors("os.path.join") == ("os", "os/path/join.")
    assert external_descriptors("requests") == ("requests", "requests.")


def test_names_are_quoted_only_where_they_have_to_be():
    assert name("a_b") == "a_b"
    assert name("a`b") == "`a``b`"
