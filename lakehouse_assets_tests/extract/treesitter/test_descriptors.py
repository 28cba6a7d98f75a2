"""Descriptors are unique in a file and stay as they are."""

from hypothesis import given
from hypothesis import strategies as st

from lakehouse_assets.extract.treesitter.descriptors import SUFFIXES, Descriptors, piece
from lakehouse_assets_tests.extract.treesitter.support import facts_of


def test_a_repeated_definition_is_numbered():
    facts = facts_of("class A { void f() {} void f(int x) {} void f(long x) {} int f; }", "Java")
    assert facts.defs["descriptor"][2:] == ["A#f().", "A#f(+1).", "A#f(+2).", "A#f."]


def test_a_name_that_is_no_word_is_quoted():
    assert piece("method", "a`b", None, ()) == ("`a``b`", "().")
    assert facts_of('x = { "a b"() {} };', "JavaScript").defs["descriptor"] == ["", "`a b`()."]


def test_what_adds_to_a_type_is_told_from_the_type():
    facts = facts_of("struct S; impl S {} impl A for S {} impl A for S {}", "Rust")
    assert facts.defs["descriptor"] == ["", "S#", "impl#[S]", "impl#[S][A]", "impl#[S][A](+1)"]


@given(st.lists(st.tuples(st.sampled_from(sorted(SUFFIXES)), st.sampled_from(["f", "f(+1)", "g"])), max_size=30))
def test_no_two_definitions_share_a_descriptor(definitions: list[tuple[str, str]]):
    unique = Descriptors()
    given_ones = [unique.unique("A#", *piece(kind, name, None, ())) for kind, name in definitions]
    assert len(set(given_ones)) == len(given_ones)
    assert "" not in given_ones
