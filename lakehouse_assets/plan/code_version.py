"""The version of code from what it means: comments, docstrings and layout don't count.

The version of a function is the fingerprint of its module and of every module of this project that
the module imports, directly or not, each as a normalized syntax tree, with the versions of the
libraries and the data files that shape the result.
"""

import ast
import importlib.util
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from lakehouse_assets.core.hashing import fingerprint

_PROJECT = "lakehouse_assets"


def code_version(
    *functions: Callable[..., Any],
    libraries: Sequence[str] = (),
    data_files: Sequence[Path] = (),
    parameters: Sequence[str] = (),
) -> str:
    """Fingerprint of what decides the functions' results, their input apart."""
    modules = _reached(function.__module__ for function in functions)
    parts = [text for name in sorted(modules) for text in (name, _read(name).meaning)]
    parts += [text for name in libraries for text in (name, version(name))]
    parts += [path.read_text() for path in data_files]
    return fingerprint([*parts, *parameters])


def normalized_source(source: str) -> str:
    """Source text as its syntax tree, without docstrings and positions."""
    return _normalized_tree(ast.parse(source))


def _normalized_tree(tree: ast.Module) -> str:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body
            if body and isinstance(body[0], ast.Expr) and _is_text(body[0].value):
                node.body = body[1:]
    return ast.dump(tree, annotate_fields=False)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _reached(names: Iterable[str]) -> set[str]:
    reached: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting.extend(_read(name).imports)
    return reached


@dataclass(frozen=True, kw_only=True)
class _Module:
    """A module of this project as far as code versions go."""

    meaning: str
    imports: tuple[str, ...]


@cache
def _read(module: str) -> _Module:
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"{module} has no source to take a code version from", name=module)
    tree = ast.parse(Path(spec.origin).read_text())
    return _Module(imports=_project_imports(tree), meaning=_normalized_tree(tree))


def _project_imports(tree: ast.Module) -> tuple[str, ...]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.add(node.module)
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
    return tuple(name for name in sorted(found) if name.startswith(f"{_PROJECT}.") and _is_module(name))


def _is_module(name: str) -> bool:
    parent = importlib.util.find_spec(name.rpartition(".")[0])
    if parent is None or parent.submodule_search_locations is None:
        return False  # a name inside a module, not a module
    return importlib.util.find_spec(name) is not None
