"""Which comment documents what."""

import pytest

from lakehouse_assets_tests.extract.treesitter.support import definition, facts_of


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("/** Adds. */\nint f(void) { }", "Adds."),
        ("/**\n * Adds.\n *\n * Twice.\n */\nint f(void) { }", "Adds.\n\nTwice."),
        ("/// Adds.\n/// Twice.\nint f(void) { }", "Adds.\nTwice."),
        ("/** Adds. */\n__attribute__((cold)) static\nint f(void) { }", "Adds."),
        ("/** Apart. */\n\nint f(void) { }", None),
        ("/** Of x. */\nint x; int f(void) { }", None),
        ("int x; /** Of x. */\nint f(void) { }", None),
        ("/* Plain. */\nint f(void) { }", None),
    ],
)
def test_a_comment_right_before_a_function_documents_it(source: str, expected: str | None):
    assert definition(facts_of(source, "C"), "f().")["docstring"] == expected


def test_a_comment_documents_one_definition():
    facts = facts_of("/** A shop. */\nclass Shop(val name: String)\n", "Kotlin")
    assert facts.defs["docstring"] == [None, "A shop.", None]


def test_what_stands_between_may_be_attributes():
    facts = facts_of("/// A shop.\n#[derive(Debug)]\n#[repr(C)]\npub struct Shop;\n", "Rust")
    assert definition(facts, "Shop#")["docstring"] == "A shop."


def test_a_program_for_the_shell_is_not_documented_by_its_interpreter():
    assert definition(facts_of("#!/bin/sh\nf() { :; }\n", "Shell"), "f().")["docstring"] is None


def test_comments_are_left_out_of_signatures():
    facts = facts_of("int f(int a, /* how\n many */ int b) { }", "C")
    assert definition(facts, "f().")["signature"] == "int f(int a, int b)"
