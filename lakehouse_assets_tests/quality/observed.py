"""Calls that were observed at run time, in the names of a call graph."""

import ast
import json
from pathlib import Path

from lakehouse_assets.link.local import Sources
from lakehouse_assets.link.modules import ModuleIndex

Edge = tuple[str, str]


def names_by_place(sources: Sources) -> dict[tuple[str, int, str], str]:
    """Dotted names of functions by file, line that their code starts on, and plain name; a class's body is its
    surroundings'."""
    index = ModuleIndex(sources.blobs)
    names: dict[tuple[str, int, str], str] = {}

    def walk(path: str, node: ast.AST, around: str, lambdas: list[int]) -> None:
        for child in ast.iter_child_nodes(node):
            match child:
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                    line = min([child.lineno, *(decorator.lineno for decorator in child.decorator_list)])
                    name = f"{around}.{child.name}"
                    names[path, line, child.name] = around if isinstance(child, ast.ClassDef) else name
                    walk(path, child, name, [0])
                case ast.Lambda():
                    lambdas[0] += 1
                    name = f"{around}.<lambda{lambdas[0]}>"
                    names.setdefault((path, child.lineno, "<lambda>"), name)
                    walk(path, child, name, [0])
                case _:
                    walk(path, child, around, lambdas)

    for path, text in sources.texts.items():
        if path.endswith(".py"):
            module = index.name_of(path)
            names[path, 1, "<module>"] = names[path, 0, "<module>"] = module
            walk(path, ast.parse(text), module, [0])
    return names


def observed(sources: Sources, trace: Path) -> set[Edge]:
    """Edges of a trace; what was made at run time (by `exec`, say) has no place in the text and is left out."""
    names = names_by_place(sources)
    found: set[Edge] = set()
    for path, line, name, path_there, line_there, name_there in json.loads(trace.read_text()):
        caller, callee = names.get((path, line, name)), names.get((path_there, line_there, name_there))
        if caller is not None and callee is not None:
            found.add((caller, callee))
    return found
