"""The shape that PyCG's tools read."""

import pytest

from lakehouse_assets.link.callgraph import dotted, outside
from lakehouse_assets_tests.support.linked import Linked


@pytest.mark.parametrize(
    ("descriptor", "name"),
    [
        ("", "pkg.mod"),
        ("func().", "pkg.mod.func"),
        ("Class#method().", "pkg.mod.Class.method"),
        ("outer().inner().", "pkg.mod.outer.inner"),
        ("outer().<lambda1>.", "pkg.mod.outer.<lambda1>"),
        ("func(+1).", "pkg.mod.func"),
    ],
)
def test_descriptors_become_dotted_names(descriptor: str, name: str):
    assert dotted("pkg.mod", descriptor) == name


def test_methods_of_built_in_types_are_named_as_pycg_names_them():
    assert outside("<builtin>.str.join") == "<**PyStr**>.join"
    assert outside("<builtin>.len") == "<builtin>.len"
    assert outside("os.path.join") == "os.path.join"


def test_every_function_and_module_is_a_key_and_so_is_everything_called():
    found = Linked({"main.py": "def f():\n    len('')\nclass A:\n    f()\n    def m(self): pass\ng = lambda: f()\n"})
    assert found.graph == {
        "main": {"main.f"},
        "main.f": {"<builtin>.len"},
        "main.A.m": set(),
        "main.<lambda1>": {"main.f"},
        "<builtin>.len": set(),
    }
