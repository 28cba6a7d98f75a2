"""Whatever the bytes are, there are facts, in form."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakehouse_assets.extract.treesitter.grammars import SUPPORTED
from lakehouse_assets_tests.extract.treesitter.support import check_form, facts_of, sources

LANGUAGES = sorted(SUPPORTED)
SOURCES = {language: source.encode() for language, source in sources().items()}

pieces = st.one_of(
    st.binary(max_size=4),
    st.sampled_from(
        [b"{", b"}", b"(", b")", b"\n", b'"', b"'", b"`", b"/*", b"*/", b"\\", b"${", b"<<A\n", b"\x00", b"#", b"\t"]
    ),
)


@st.composite
def mutated(draw: st.DrawFn, source: bytes) -> bytes:
    """The source with some parts taken out, doubled, or replaced by pieces that open and close things."""
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(source)))
        end = min(len(source), start + draw(st.integers(0, 60)))
        match draw(st.integers(0, 3)):
            case 0:
                source = source[:start] + source[end:]
            case 1:
                source = source[:start] + draw(pieces) + source[start:]
            case 2:
                source = source[:end] + source[start:]
            case _:
                source = source[:start] + draw(pieces) + source[end:]
    return source


@pytest.mark.parametrize("language", LANGUAGES)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_a_mutated_program_gives_facts_in_form(language: str, data: st.DataObject):
    raw = data.draw(mutated(SOURCES[language]))
    facts = facts_of(raw, language)
    check_form(facts)
    assert (facts.status == "ok") == (facts.diagnostics == ())


@pytest.mark.parametrize("language", LANGUAGES)
@settings(max_examples=25, deadline=None)
@given(raw=st.binary(max_size=300))
def test_any_bytes_give_facts_in_form(language: str, raw: bytes):
    facts = facts_of(raw, language)
    check_form(facts)
    assert facts == facts_of(raw, language)
