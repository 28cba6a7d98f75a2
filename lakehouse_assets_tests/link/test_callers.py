"""Who runs a call, judged by running it: decorators, default values and bases are evaluated in the scope around."""

import sys
import textwrap
from types import FrameType
from typing import Any

from lakehouse_assets_tests.support.linked import Linked

SOURCE = textwrap.dedent(
    """
    def mark(*_): return lambda f: f
    def plain(f): return f
    def value(): return 1
    def base(): return object
    def inner(): return 2

    @mark(value())
    def decorated(x=value(), *, y=inner()):
        return inner()

    class Thing(base()):
        size = value()

        @plain
        def method(self, z=value()):
            def nested(w=inner()):
                return value()
            return nested()

    def outer():
        @mark(inner())
        def local(v=value()):
            return inner()
        return local()

    keep = lambda a=value(): inner()

    decorated()
    Thing().method()
    outer()
    keep()
    """
)
NAMED = {"main.mark", "main.plain", "main.value", "main.base", "main.inner"}


def observed() -> set[tuple[str, str]]:
    """Caller and callee of every call that happens; the body of a class runs as the class."""
    found: set[tuple[str, str]] = set()

    names: dict[Any, str] = {}

    def walk(code: Any, name: str) -> None:
        """Dotted names of code objects; lambdas are counted where they stand."""
        names[code] = name
        lambdas = 0
        for each in code.co_consts:
            if hasattr(each, "co_name"):
                lambdas += each.co_name == "<lambda>"
                own = f"<lambda{lambdas}>" if each.co_name == "<lambda>" else each.co_name
                walk(each, f"{name}.{own}")

    def profile(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_back is not None and frame.f_code in names and frame.f_back.f_code in names:
            found.add((names[frame.f_back.f_code], names[frame.f_code]))

    code = compile(SOURCE, "main", "exec")
    walk(code, "main")
    sys.setprofile(profile)
    try:
        exec(code, {"__name__": "main"})
    finally:
        sys.setprofile(None)
    return found


def test_calls_in_heads_are_run_by_the_scope_around_as_an_execution_shows():
    told = Linked({"main.py": SOURCE}).callers()
    assert {pair for pair in told if pair[1] in NAMED} == {pair for pair in observed() if pair[1] in NAMED}
