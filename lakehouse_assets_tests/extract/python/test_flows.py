"""Summaries: small, the same for the same text, and without anything that a comment could change."""

import json
import textwrap

from hypothesis import given, settings
from hypothesis import strategies as st

from lakehouse_assets.extract.python.extractor import extract_python
from lakehouse_assets.extract.python.flows_tables import Fun, Imp


def summary(text: str) -> dict:
    return extract_python(textwrap.dedent(text)).summary


def test_a_summary_survives_json():
    found = summary("import os\nclass A(os.PathLike):\n    x: int = 3\n    def f(self, *a, b=1, **c): yield self.x\n")
    assert json.loads(json.dumps(found)) == found


def test_comments_docstrings_and_layout_do_not_show():
    plain = summary('def f(a):\n    "Said."\n    return g(a, 1)\n')
    other = summary('# said\n\n\ndef f(\n    a,\n):\n    "Said otherwise."\n\n    return g(\n        a, 1\n    )\n')
    assert plain == other


def test_imports_say_how_they_were_made():
    found = summary(
        """
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            from a import one
        try:
            from b import two
        except ImportError:
            from c import two
        if x:
            import d.e as f
        from .g import *
        """
    )
    flags = {found["strings"][row[3]]: row[6] for row in found["imports"]}
    assert flags == {
        "typing": 0,
        "a": Imp.TYPE_CHECKING,
        "b": Imp.OPTIONAL,
        "c": Imp.OPTIONAL,
        "d.e": Imp.CONDITIONAL,
        "g": Imp.STAR,
    }


def test_functions_say_what_they_are():
    found = summary(
        """
        class A:
            @property
            def a(self): ...
            @a.setter
            def a(self, v): ...
            @staticmethod
            def b(): ...
            @classmethod
            def c(cls): ...
            async def d(self): ...
            def e(self): yield
            @other
            def f(self): ...
        def outer(f):
            def wrapper(*args):
                return f(*args)
            return wrapper
        g = lambda: 1
        """
    )
    flags = {found["descriptors"][row[0]]: row[1] & ~Fun.METHOD for row in found["functions"]}
    assert flags == {
        "A#a().": Fun.PROPERTY,
        "A#a(+1).": Fun.ACCESSOR,
        "A#b().": Fun.STATIC,
        "A#c().": Fun.CLASS,
        "A#d().": Fun.ASYNC,
        "A#e().": Fun.GENERATOR,
        "A#f().": Fun.REPLACED,
        "outer().": 0,
        "outer().wrapper().": Fun.FORWARDS,
        "<lambda1>.": Fun.LAMBDA,
    }


def test_all_is_taken_as_far_as_it_can_be_told():
    assert summary("x = 1")["all"] is None
    assert summary("__all__ = ['a', *b.__all__]")["all"] == {"names": ["a"], "modules": [[0, "b"]], "unknown": False}
    assert summary("__all__ = sorted(globals())")["all"]["unknown"]
    assert summary("__all__ = ['a']\n__all__.extend(['b'])")["all"]["names"] == ["a", "b"]


def test_a_long_chain_of_operators_is_no_deep_recursion():
    assert summary("x = " + " + ".join(["a"] * 900))["form"] == "flows"


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="abc()[]{}:=,.*@ \n\t'\"0+-<>", max_size=80))
def test_any_text_gives_a_summary_or_none(text: str):
    found = extract_python(text).summary
    assert found == extract_python(text).summary
