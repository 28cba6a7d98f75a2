"""Any bytes, and real files after an accident: facts come out, the same each time, and hold together."""

import argparse
import dataclasses
import inspect
import json.decoder

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakehouse_assets.extract.packing import pack, unpack
from lakehouse_assets.extract.python.extractor import extract_python
from lakehouse_assets_tests.extract.python.invariants import check_facts

SOURCES = [inspect.getsource(module).encode() for module in (argparse, dataclasses, inspect, json.decoder)]
WORDS = [
    *("def", "f", "(", ")", ":", "class", "A", "lambda", "x", "=", "1", "if", "else", "for", "in", "while", "try"),
    *("except", "except*", "finally", "with", "as", "match", "case", "_", "*", "**", "->", "async", "await", "yield"),
    *("return", "break", "continue", "global", "nonlocal", "import", "from", ".", ",", "[", "]", "{", "}", ":=", "+"),
    *("-", "not", "and", "or", "is", "'text'", "f'{x}'", "@", "del", "raise", "assert", "pass", "True", "type", "[T]"),
    *(";", "#", "\t", "\n", "\n    "),
]


def check(source: bytes | str) -> None:
    facts = extract_python(source)
    check_facts(facts)
    assert extract_python(source) == facts
    assert unpack(pack(facts), ["nodes"])["nodes"].num_rows == len(facts.nodes["n"])


@st.composite
def accidents(draw: st.DrawFn) -> bytes:
    """A stretch of a real file with bytes flipped, lost, or doubled."""
    source = draw(st.sampled_from(SOURCES))
    start = draw(st.integers(0, len(source) - 1))
    data = bytearray(source[start : start + draw(st.integers(1, 3000))])
    for _ in range(draw(st.integers(0, 6))):
        at = draw(st.integers(0, len(data)))
        size = draw(st.integers(1, 40))
        match draw(st.sampled_from(["flip", "lose", "double", "cut"])):
            case "flip":
                data[at : at + 1] = bytes([draw(st.integers(0, 255))])
            case "lose":
                del data[at : at + size]
            case "double":
                data[at:at] = data[at : at + size]
            case _:
                del data[at + 200 :]
    return bytes(data)


def sentences() -> st.SearchStrategy[str]:
    """Words of the language in any order: some parse, most nearly do."""
    return st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join)


quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
long = settings(max_examples=3000, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@quick
@given(st.binary(max_size=300))
def test_any_bytes_give_facts(source: bytes):
    check(source)


@quick
@given(st.text(st.characters(), max_size=300))
def test_any_text_gives_facts(source: str):
    check(source)


@quick
@given(accidents())
def test_a_damaged_file_gives_facts(source: bytes):
    check(source)


@quick
@given(sentences())
def test_any_words_of_the_language_give_facts(source: str):
    check(source)


@pytest.mark.slow
@long
@given(st.one_of(st.binary(max_size=1000), st.text(max_size=1000), accidents(), sentences()))
def test_thousands_of_sources_give_facts(source: bytes | str):
    check(source)
