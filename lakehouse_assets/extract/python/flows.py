"""What linking needs to know of a Python file: imports, names, classes, functions, and how values flow in it.

The flow program is a flat list of operations over numbered variables (see `flows_tables.Op`). It says what the file
does with values whatever they are; linking runs it with values from other files. Cost: one walk, and some eight
kilobytes of JSON for a file of average size.
"""

import ast
from collections.abc import Sequence
from typing import Any

from lakehouse_assets.extract.python.flows_names import DEFINITIONS, FLOW, IMPORTS, REFERENCES
from lakehouse_assets.extract.python.flows_statements import Statements
from lakehouse_assets.extract.python.flows_tables import NOTHING, Fun, Op
from lakehouse_assets.extract.python.scopes import Scopes
from lakehouse_assets.extract.python.walk import Definition

FORM = "flows"
_KIND_NUMBERS: dict[type, int] = {ast.Module: 0, ast.ClassDef: 1, ast.Lambda: 3}


def summarize(
    tree: ast.Module,
    definitions: Sequence[Definition],
    parents: Sequence[int],
    scopes: Scopes,
    descriptors: Sequence[str],
) -> dict[str, Any]:
    """The summary of a numbered tree, as JSON-like values.

    `definitions` holds, by number, kind (0 module, 1 class, 2 function, 3 lambda) and parent. Variables are numbers
    below `variables`. `names` and each class's members say of a name: variable, definitions, imports, references,
    and whether anything else is bound to it.
    """
    reader = Statements(scopes)
    reader.body(tree.body)
    functions: list[list[Any]] = []
    while reader.later:
        node = reader.later.pop()
        reader.scope = scopes.opened_by(node)
        reader.latest = {}
        reader.stored = {}
        reader.ops += (Op.FRAME, node.d)
        functions.append(_function(reader, node, definitions, parents))
    functions.sort(key=lambda row: row[0])
    for row in functions:  # a generator may be told only by what nested reading found
        row[2] = reader.returns.get(row[0], NOTHING)
        row[3] = reader.yields.get(row[0], NOTHING)
    by_owner: dict[int, dict[str, list[Any]]] = {}
    for (index, name), known in reader.known.items():
        facts = [
            reader.base(scopes.all[index], name),
            known[DEFINITIONS],
            known[IMPORTS],
            known[REFERENCES],
            int(bool(known[FLOW])),
        ]
        by_owner.setdefault(index, {})[name] = facts
    classes = [
        _class(reader, node, by_owner.get(scopes.opened_by(node).index, {}))
        for node in definitions
        if isinstance(node, ast.ClassDef)
    ]
    return {
        "form": FORM,
        "descriptors": list(descriptors),
        "definitions": [[_KIND_NUMBERS.get(node.__class__, 2) for node in definitions], list(parents)],
        "strings": list(reader.strings),
        "constants": list(reader.constants),
        "annotations": reader.annotations,
        "imports": reader.imports,
        "uses": reader.uses,
        "names": by_owner.get(0, {}),
        "all": reader.all_names,
        "classes": classes,
        "functions": functions,
        "variables": reader.variables,
        "ops": reader.ops,
    }


def _function(reader: Statements, node: Any, definitions: Sequence[Definition], parents: Sequence[int]) -> list[Any]:
    """d, flags, return and yield variables, then name, kind and variable of each parameter, flat.

    Kinds: 0 positional only, 1 positional or keyword, 2 `*`, 3 keyword only, 4 `**`.
    """
    args = node.args
    scope = reader.scope
    is_lambda = node.__class__ is ast.Lambda
    flags = reader.flags.get(node.d, 0)
    if is_lambda:
        flags |= Fun.LAMBDA
    elif definitions[parents[node.d]].__class__ is ast.ClassDef:
        flags |= Fun.METHOD
    if node.__class__ is ast.AsyncFunctionDef:
        flags |= Fun.ASYNC
    parameters: list[int] = []
    outer = scope.parent or scope
    kinds = [(p, 0) for p in args.posonlyargs] + [(p, 1) for p in args.args]
    kinds += [(args.vararg, 2)] + [(p, 3) for p in args.kwonlyargs] + [(args.kwarg, 4)]
    for parameter, kind in kinds:
        if parameter is None:
            continue
        variable = reader.base(scope, parameter.arg)
        parameters += (reader.string(parameter.arg), kind, variable)
        if parameter.annotation is not None and kind not in (2, 4):
            said = reader.annotation(parameter.annotation, outer)
            if said != NOTHING:
                reader.ops += (Op.ANNOTATE, variable, said)
    if is_lambda:
        value = reader.value(node.body)
        if value != NOTHING:
            reader.ops += (Op.COPY, reader.result(reader.returns), value)
    else:
        if node.returns is not None:
            said = reader.annotation(node.returns, outer)
            if said != NOTHING:
                reader.ops += (Op.ANNOTATE, reader.result(reader.returns), said)
        reader.body(node.body)
    if node.d in reader.generators:
        flags |= Fun.GENERATOR
    elif reader.forwards.get(node.d):
        flags |= Fun.FORWARDS
    return [node.d, int(flags), NOTHING, NOTHING, *parameters]


def _class(reader: Statements, node: ast.ClassDef, members: dict[str, list[Any]]) -> list[Any]:
    """d, bases, metaclass and members; a base that is no plain reference is None."""
    scope = reader.scopes.of(node)
    bases: list[Any] = []
    metaclass = None
    for base in node.bases:
        plain: Any = base.value if isinstance(base, ast.Subscript | ast.Starred) else base
        bases.append(reader.reference(plain, scope))
    for keyword in node.keywords:
        if keyword.arg == "metaclass":
            metaclass = reader.reference(keyword.value, scope)
    return [node.d, bases, metaclass, members]  # pyright: ignore[reportAttributeAccessIssue]
