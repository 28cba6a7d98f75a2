"""References within a file, drawn as use@line -> binding@line."""

import pytest

from lakehouse_assets_tests.extract.python.drawings import named

CASES = {
    "a use refers to the first binding of its scope": ("x = 1\nx = 2\nprint(x)", "x@3 -> x@1"),
    "a definition is preferred to other bindings": ("f = None\ndef f(): pass\nf()", "f@3 -> f@2"),
    "a closure refers to the variable around it": (
        "def f(x):\n    def g():\n        return x\n    return g",
        "x@3 -> x@1, g@4 -> g@2",
    ),
    "a method does not see its class's names": (
        "x = 1\nclass C:\n    x = 2\n    def m(self):\n        return x",
        "x@5 -> x@1",
    ),
    "a class body sees its own names": ("x = 1\nclass C:\n    x = 2\n    y = x", "x@4 -> x@3"),
    "a comprehension's variable hides the one around": (
        "x = 1\n[x for x in x]\nx",
        "x@2 -> x@1, x@2 -> x@2, x@3 -> x@1",
    ),
    "an import is a binding": ("import a.b\nfrom c import d as e\na, e", "a@3 -> a.b@1, e@3 -> d as e@2"),
    "a write to a global refers to the module's variable": (
        "x = 1\ndef f():\n    global x\n    x = 2",
        "x@4 -> x@1",
    ),
    "a write to a nonlocal refers to the variable around": (
        "def f():\n    x = 1\n    def g():\n        nonlocal x\n        x += 1",
        "x@5 -> x@2",
    ),
    "decorators, bases and annotations are seen from outside": (
        "def d(f): pass\nclass B: pass\n@d\nclass C(B):\n    def m(self, b: B) -> B: pass",
        "d@3 -> d@1, B@4 -> B@2, B@5 -> B@2",
    ),
    "built-in names refer to nothing here": ("print(len)", ""),
}


@pytest.mark.parametrize("name", CASES)
def test_a_name_refers_to_what_the_language_binds_it_to(name: str):
    source, expected = CASES[name]
    assert named(source, "REF") == set(filter(None, expected.split(", ")))
