"""Control flow, statement by statement, drawn by lines: each case is a function that begins in line 1."""

import pytest

from lakehouse_assets_tests.extract.python.drawings import drawn

CASES = {
    "one statement follows the other": (
        "def f():\n    a\n    b",
        "in -> 2, 2 -> 3, 3 -> out",
    ),
    "a branch without an else is passed by": (
        "def f():\n    if a:\n        b\n    c",
        "in -> 2, 2 -true-> 3, 2 -false-> 4, 3 -> 4, 4 -> out",
    ),
    "an elif is an if in the else": (
        "def f():\n    if a:\n        b\n    elif c:\n        d\n    else:\n        e",
        "in -> 2, 2 -true-> 3, 2 -false-> 4, 4 -true-> 5, 4 -false-> 7, 3 -> out, 5 -> out, 7 -> out",
    ),
    "a loop comes back to its head, and else runs when it ends by itself": (
        "def f():\n    for a in b:\n        if c:\n            break\n        d\n    else:\n        e\n    g",
        "in -> 2, 2 -true-> 3, 3 -true-> 4, 3 -false-> 5, 5 -> 2, 2 -false-> 7, 7 -> 8, 4 -> 8, 8 -> out",
    ),
    "continue goes to the head": (
        "def f():\n    while a:\n        if b:\n            continue\n        c",
        "in -> 2, 2 -true-> 3, 3 -true-> 4, 4 -> 2, 3 -false-> 5, 5 -> 2, 2 -false-> out",
    ),
    "while True is left by break alone": (
        "def f():\n    while True:\n        if a:\n            break\n    b",
        "in -> 2, 2 -true-> 3, 3 -true-> 4, 3 -false-> 2, 4 -> 5, 5 -> out",
    ),
    "what follows a return has no way in": (
        "def f():\n    return a\n    b",
        "in -> 2, 2 -> out, 3 -> out",
    ),
    "an assertion may fail": (
        "def f():\n    assert a\n    b",
        "in -> 2, 2 -true-> 3, 2 -false-> out, 3 -> out",
    ),
    "handlers are tried one after the other, and else runs outside of them": (
        "def f():\n    try:\n        a()\n    except B:\n        c\n    except D:\n        e\n"
        "    else:\n        g\n    h",
        "in -> 2, 2 -> 3, 3 -exception-> 4, 4 -true-> 5, 4 -false-> 6, 6 -true-> 7, 6 -exception-> out, "
        "3 -> 9, 5 -> 10, 7 -> 10, 9 -> 10, 10 -> out",
    ),
    "a bare except lets nothing through": (
        "def f():\n    try:\n        a()\n    except:\n        b",
        "in -> 2, 2 -> 3, 3 -exception-> 4, 4 -true-> 5, 3 -> out, 5 -> out",
    ),
    "what is raised in a handler leaves the try": (
        "def f():\n    try:\n        a()\n    except B:\n        raise",
        "in -> 2, 2 -> 3, 3 -exception-> 4, 4 -true-> 5, 4 -exception-> out, 5 -exception-> out, 3 -> out",
    ),
    "a return passes through finally": (
        "def f():\n    try:\n        return a\n    finally:\n        b",
        "in -> 2, 2 -> 3, 3 -> 5, 5 -return-> out",
    ),
    "break and continue pass through finally, back into their loop": (
        "def f():\n    for a in b:\n        try:\n            if c:\n                break\n            continue\n"
        "        finally:\n            d\n    e",
        "in -> 2, 2 -true-> 3, 3 -> 4, 4 -exception-> 8, 4 -true-> 5, 4 -false-> 6, 5 -> 8, 6 -> 8, "
        "8 -break-> 9, 8 -continue-> 2, 8 -exception-> out, 2 -false-> 9, 9 -> out",
    ),
    "what is raised passes inner finally blocks on its way to an outer handler": (
        "def f():\n    try:\n        try:\n            a()\n        finally:\n            b\n    except C:\n        d",
        "in -> 2, 2 -> 3, 3 -> 4, 4 -> 6, 4 -exception-> 6, 6 -exception-> 7, 7 -true-> 8, 7 -exception-> out, "
        "6 -> out, 8 -> out",
    ),
    "several of except* may run": (
        "def f():\n    try:\n        a()\n    except* B:\n        c\n    except* D:\n        e",
        "in -> 2, 2 -> 3, 3 -exception-> 4, 4 -true-> 5, 4 -false-> 6, 5 -> 6, 6 -true-> 7, 6 -exception-> out, "
        "3 -> out, 7 -> out",
    ),
    "a with block is run through": (
        "async def f():\n    async with a as b:\n        c\n    d",
        "in -> 2, 2 -> 3, 3 -> 4, 4 -> out",
    ),
    "cases are tried in order, and a match may match none": (
        "def f():\n    match a:\n        case 1:\n            b\n        case [c] if d:\n            e\n    g",
        "in -> 2, 2 -> 3, 3 -true-> 4, 3 -false-> 5, 5 -true-> 6, 5 -false-> 7, 4 -> 7, 6 -> 7, 7 -> out",
    ),
    "a case that takes anything is the last": (
        "def f():\n    match a:\n        case 1:\n            b\n        case _:\n            c",
        "in -> 2, 2 -> 3, 3 -true-> 4, 3 -false-> 5, 5 -true-> 6, 4 -> out, 6 -> out",
    ),
    "a yield is passed by": (
        "def f():\n    yield a\n    b",
        "in -> 2, 2 -> 3, 3 -> out",
    ),
    "a nested definition is one statement": (
        "def f():\n    a\n    def g():\n        b\n    c",
        "in -> 2, 2 -> 3, 3 -> 5, 5 -> out",
    ),
    "a class body is run through": (
        "class f:\n    a = 1\n    def g(self):\n        b\n    c = 2",
        "in -> 2, 2 -> 3, 3 -> 5, 5 -> out",
    ),
    "a lambda evaluates its expression": (
        "lambda: a",
        "in -> 1, 1 -> out",
    ),
    "a plain assignment in a try raises nothing": (
        "def f():\n    try:\n        a = None\n        b()\n    except C:\n        pass",
        "in -> 2, 2 -> 3, 3 -> 4, 4 -exception-> 5, 5 -true-> 6, 5 -exception-> out, 4 -> out, 6 -> out",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_control_goes_where_the_language_says(name: str):
    source, expected = CASES[name]
    assert drawn(source, "CFG") == set(expected.split(", "))
