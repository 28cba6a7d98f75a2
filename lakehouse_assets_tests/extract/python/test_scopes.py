"""Names belong where the compiler says they do; CPython's own symbol tables are the judge."""

import argparse
import ast
import enum
import inspect
import inspect as inspect_module
import json.decoder
import symtable
import textwrap
from types import ModuleType

import pytest

from lakehouse_assets.extract.python.numbering import number
from lakehouse_assets.extract.python.scopes import Scope, Scopes, build_scopes


def scopes_of(text: str) -> tuple[ast.Module, Scopes]:
    tree = ast.parse(textwrap.dedent(text))
    number(tree)
    return tree, build_scopes(tree)


def owner(text: str, name: str, use: str) -> Scope | None:
    """The scope that owns `name` where it is used as the only argument of a call of `use`."""
    tree, scopes = scopes_of(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == use:
            argument = node.args[0]
            assert isinstance(argument, ast.Name)
            assert argument.id == name
            return scopes.lookup(scopes.of(argument), name)
    raise AssertionError(f"no call of {use}")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("x = 1\ndef f():\n    use(x)", "module"),
        ("x = 1\ndef f():\n    use(x)\n    x = 2", "function"),
        ("x = 1\ndef f():\n    global x\n    x = 2\n    def g():\n        use(x)", "module"),
        ("def f():\n    x = 1\n    def g():\n        nonlocal x\n        x = 2\n        use(x)", "function"),
        ("class C:\n    x = 1\n    use(x)", "class"),
        ("class C:\n    x = 1\n    def f(self):\n        use(x)", None),
        ("class C:\n    x = 1\n    y = [use(x) for z in [1]]", None),
        ("class C:\n    x = 1\n    y = [1 for z in use(x)]", "class"),
        ("class C:\n    x = 1\n    f = lambda: use(x)", None),
        ("class C:\n    x = 1\n    def f(self, y=use(x)): pass", "class"),
        ("class C:\n    x = 1\n    @use(x)\n    def f(self): pass", "class"),
        ("class C:\n    x = 1\n    def f(self, y: use(x)): pass", "class"),
        ("class C:\n    x = 1\n    class D(use(x)): pass", "class"),
        ("y = [use(x) for x in z]", "comprehension"),
        ("y = [x for x in use(x)]", None),
        ("def f():\n    y = [(x := 1) for z in w]\n    use(x)", "function"),
        ("def f(z):\n    match z:\n        case {'a': 1, **x}: use(x)", "function"),
        ("def f(z):\n    match z:\n        case [1, *x]: use(x)", "function"),
        ("def f(z):\n    match z:\n        case str() as x: use(x)", "function"),
        ("try: pass\nexcept E as x: use(x)", "module"),
        ("import x.y.z\nuse(x)", "module"),
        ("import y.x\nuse(x)", None),
        ("import y.z as x\nuse(x)", "module"),
        ("from y import z as x\nuse(x)", "module"),
        ("from y import *\nuse(x)", None),
        ("f = lambda x, /, *y: use(x)", "lambda"),
        ("def f(*x):\n    use(x)", "function"),
        ("with a as (b, [x, *c]): use(x)", "module"),
        ("for o[i], x in y: use(x)", "module"),
        ("def f():\n    use(x)\n    del x", "function"),
        ("def f():\n    x: int\n    use(x)", "function"),
        ("use(len)".replace("len", "x"), None),
    ],
)
def test_a_name_belongs_to_the_scope_that_the_language_says(text: str, kind: str | None):
    found = owner(text, "x", "use")
    assert (found.kind if found else None) == kind


def test_a_binding_under_global_or_nonlocal_is_listed_where_the_name_lives():
    _, scopes = scopes_of(
        """
        def f():
            global a
            a = 1
            b = 1
            def g():
                nonlocal b
                b = 2
        """
    )
    assert [type(node).__name__ for node in scopes.module.bindings["a"]] == ["Name"]
    assert len(scopes.by_definition[1].bindings["b"]) == 2
    assert "b" not in scopes.by_definition[2].bindings


def test_star_imports_are_kept_with_their_scope():
    _, scopes = scopes_of("from a import *\nfrom b import c")
    assert [alias.name for alias in scopes.module.stars] == ["*"]
    assert list(scopes.module.bindings) == ["c"]


@pytest.mark.parametrize("module", [argparse, enum, inspect_module, json.decoder], ids=lambda m: m.__name__)
def test_local_global_and_free_names_agree_with_the_compiler_on_real_modules(module: ModuleType):
    text = inspect.getsource(module)
    tree, scopes = scopes_of(text)
    named: dict[int, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            named.setdefault(scopes.of(node).index, set()).add(node.id)
    opened: dict[tuple[int, str], list[Scope]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda):
            line = node.lineno
            name = "lambda" if isinstance(node, ast.Lambda) else node.name
            opened.setdefault((line, name), []).append(scopes.opened_by(node))
    compared = 0
    waiting = list(symtable.symtable(text, "m", "exec").get_children())
    while waiting:
        table = waiting.pop()
        waiting.extend(table.get_children())
        found = opened.get((table.get_lineno(), table.get_name()), [])
        if len(found) != 1:
            continue
        scope = found[0]
        for symbol in table.get_symbols():
            name = symbol.get_name()
            if name not in named.get(scope.index, ()) or name == "__class__":
                continue
            where = scopes.lookup(scope, name)
            assert (where is scope) == symbol.is_local(), (table.get_name(), name)
            if symbol.is_free():
                assert where is not None
                assert where.kind in ("function", "lambda", "comprehension")
            if symbol.is_global():
                assert where is None or where.kind == "module"
            compared += 1
    assert compared > 50
