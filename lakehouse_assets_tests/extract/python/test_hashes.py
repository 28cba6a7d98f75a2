"""Which edit changes which fingerprint of which definition."""

import pytest

from lakehouse_assets_tests.extract.python.drawings import facts_of

BEFORE = '''"""Module."""
LIMIT = 10

class A(B):
    """Class."""
    size = 1

    @cached
    def m(self, a: int, b=1, *, c=None) -> str:
        """Method."""
        total = sum(x * 2 for x in a)
        return sorted(total, key=lambda t: t + 1)

    def other(self): pass

def f(): return 1
'''


def changed(old: str, new: str) -> set[str]:
    """Definitions by name whose signature (s) or body (b) differs after the edit."""
    assert old in BEFORE
    before, after = facts_of(BEFORE).defs, facts_of(BEFORE.replace(old, new, 1)).defs
    assert before["descriptor"] == after["descriptor"]
    return {
        f"{name}:{column[0]}"
        for column in ("signature_hash", "body_hash")
        for name, was, now in zip(before["name"], before[column], after[column], strict=True)
        if was != now
    }


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("LIMIT", "# a comment\n\n\nLIMIT"),
        ('"""Method."""', '"""Says something else, at great length: ' + "x" * 100 + '"""'),
        ('        """Method."""\n', ""),
        ('"""Module."""\n', ""),
        (
            "(self, a: int, b=1, *, c=None)",
            "(\n        self,\n        a: int,\n        b = 1,\n        *, c = None,\n    )",
        ),
        ("return 1", "return (1)  # one"),
        ("x * 2", "(x)*0x2"),
        ("def f(): return 1", "def f():\n\n    return 1"),
    ],
)
def test_comments_layout_and_docstrings_change_nothing(old: str, new: str):
    assert changed(old, new) == set()


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("LIMIT = 10", "LIMIT = 11", "<module>:b"),
        ("x * 2", "x * 3", "m:b"),
        ("x * 2", "x + 2", "m:b"),
        ("sorted(total", "sorted(x", "m:b"),
        ("t + 1", "t + 2", "m:b <lambda>:b"),
        ("b=1", "b=2", "m:b"),
        ("b=1", "b", "m:s m:b"),
        ("a: int", "a: float", "m:s"),
        ("-> str", "-> bytes", "m:s"),
        ("@cached", "@cached()", "m:s"),
        ("A(B)", "A(C)", "A:s"),
        ("size = 1", "size = 2", "A:b"),
        ("    def other(self): pass\n", "    def other(self): return 5\n", "other:b"),
        ("def other(self)", "def other(this)", "other:s"),
        ("def f(): return 1", "async def f(): return 1", "f:s <module>:b"),
    ],
)
def test_an_edit_changes_what_it_is_in_and_nothing_around(old: str, new: str, expected: str):
    assert changed(old, new) == set(expected.split())


def test_trees_with_the_same_words_in_another_shape_differ():
    sources = ("f(g(a), b)", "f(g(a, b))", "f(g)(a, b)", "f(g, a, b)")
    assert len({facts_of(source).defs["body_hash"][0] for source in sources}) == len(sources)


def test_long_literals_count_to_their_end():
    texts = ("x" * 200, "x" * 199 + "y")
    assert len({facts_of(f"a = {text!r}").defs["body_hash"][0] for text in texts}) == 2
    assert len({facts_of(f"a = {text!r}").defs["body_hash"][0] for text in (texts[0], texts[0].encode())}) == 2


def test_a_definition_that_moves_in_its_class_is_no_edit_of_itself():
    one = facts_of("class A:\n    x = 1\n    def m(self): pass\n").defs
    two = facts_of("class A:\n    def m(self): pass\n    x = 1\n").defs
    assert one["body_hash"][2] == two["body_hash"][2]
    assert one["body_hash"][1] != two["body_hash"][1]
