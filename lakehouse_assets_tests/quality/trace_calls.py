"""Runs pytest and writes down which of a folder's functions call which: `trace_calls.py OUT ROOT PYTEST_ARGS...`.

Needs nothing but pytest, so that any environment can run it. A function is known by its file, the line that its code
starts on (its first decorator's) and its name; comprehensions count as the code around them.
"""

import inspect
import json
import sys
import threading
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

Key = tuple[str, int, str]
RESUMED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
INNER = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")


class Tracer:
    def __init__(self, root: str) -> None:
        self._root = root
        self._keys: dict[CodeType, Key | None] = {}
        self.edges: set[tuple[CodeType, CodeType]] = set()

    def key(self, code: CodeType) -> Key | None:
        """None for what is not in the folder."""
        if code not in self._keys:
            name = code.co_filename
            inside = name.startswith(self._root) and "/site-packages/" not in name
            self._keys[code] = (name[len(self._root) :], code.co_firstlineno, code.co_name) if inside else None
        return self._keys[code]

    def __call__(self, frame: FrameType, event: str, arg: Any) -> None:
        if event != "call":
            return
        code = frame.f_code
        # Bodies of modules and classes run without being called, and generators when they are first asked for a value.
        called = code.co_flags & inspect.CO_OPTIMIZED and not code.co_flags & RESUMED
        if not called or code.co_name in INNER or self.key(code) is None:
            return
        caller = frame.f_back
        while caller is not None and caller.f_code.co_name in INNER:
            caller = caller.f_back
        if caller is not None and self.key(caller.f_code) is not None:
            self.edges.add((caller.f_code, code))


def main(out: str, root: str, arguments: list[str]) -> int:
    import pytest

    tracer = Tracer(str(Path(root).resolve()) + "/")
    threading.setprofile(tracer)
    sys.setprofile(tracer)
    try:
        status = pytest.main(arguments)
    finally:
        sys.setprofile(None)
    edges = sorted({(*(tracer.key(a) or ()), *(tracer.key(b) or ())) for a, b in tracer.edges})
    Path(out).write_text(json.dumps(edges))
    return int(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
