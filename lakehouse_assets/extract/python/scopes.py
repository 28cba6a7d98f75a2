"""Which scope a name belongs to, by the language's own rules, for a whole file in one walk.

Needs the numbers of `numbering.number`. Nodes other than constants get one more attribute, `s`, the number of the scope
that they are evaluated in: an integer, not the scope itself, so that tree and scopes form no cycle and a tree is
freed at once.
"""

import ast
from dataclasses import dataclass, field
from typing import Any, Literal

ScopeKind = Literal["module", "class", "function", "lambda", "comprehension", "type_parameters"]
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


@dataclass(kw_only=True, slots=True)
class Scope:
    """One namespace. `bindings` holds, per name, the nodes that bind it, in the order of the text.

    A binding under `global` or `nonlocal` is listed in the scope that owns the name, not where it is written.
    """

    index: int
    kind: ScopeKind
    d: int
    """The definition that makes the scope; of a comprehension or type parameters, the one around them."""
    parent: "Scope | None"
    bindings: dict[str, list[ast.AST]] = field(default_factory=dict)
    global_names: set[str] = field(default_factory=set)
    nonlocal_names: set[str] = field(default_factory=set)
    stars: list[ast.alias] = field(default_factory=list)
    """The `*` of `from m import *` in this scope: any name may come from there."""


class Scopes:
    """All scopes of a file; `all[0]` is the module's."""

    def __init__(self) -> None:
        self.all: list[Scope] = []
        self.by_definition: dict[int, Scope] = {}
        """The scope that definition d opens."""
        self._opened: dict[tuple[int, int], Scope] = {}

    @property
    def module(self) -> Scope:
        return self.all[0]

    def of(self, node: ast.AST) -> Scope:
        """The scope that a node stands in: a definition's name is bound here, a Name is looked up from here."""
        return self.all[node.s]  # pyright: ignore[reportAttributeAccessIssue]

    def opened_by(self, node: ast.AST) -> Scope:
        """The scope that a definition's body or a comprehension's element is evaluated in."""
        n: int = node.n  # pyright: ignore[reportAttributeAccessIssue]
        d: int = node.d  # pyright: ignore[reportAttributeAccessIssue]
        return self.by_definition[d] if n == 0 else self._opened[d, n]

    def lookup(self, scope: Scope, name: str) -> Scope | None:
        """The scope whose binding a use of `name` in `scope` sees; None for a built-in or unbound name."""
        at: Scope | None = scope
        skip_classes = False
        while at is not None:
            if name in at.global_names:
                return self.module if name in self.module.bindings else None
            kind = at.kind
            if name in at.bindings and not (skip_classes and kind == "class"):
                return at
            # A class's names are seen by its body and by the type parameters in it, never by functions in it.
            skip_classes = skip_classes or kind != "type_parameters"
            at = at.parent
        return None

    def add(self, kind: ScopeKind, d: int, parent: Scope | None) -> Scope:
        scope = Scope(index=len(self.all), kind=kind, d=d, parent=parent)
        self.all.append(scope)
        return scope

    def open(self, node: Any, kind: ScopeKind, parent: Scope) -> Scope:
        scope = self.add(kind, node.d, parent)
        if node.n == 0 and kind != "type_parameters":
            self.by_definition[node.d] = scope
        else:
            self._opened[node.d, node.n] = scope
        return scope


# Fields that hold child nodes, per node class: names, contexts, operators and constants hold none.
_BARE_FIELDS = {"ctx", "op", "ops", "kind", "type_comment", "type_ignores", "simple", "is_async", "conversion", "level"}
_TEXT_FIELDS = {"id", "arg", "attr", "module", "asname"}


def _child_fields(cls: type[ast.AST]) -> tuple[str, ...]:
    fields = tuple(name for name in cls._fields if name not in _BARE_FIELDS and name not in _TEXT_FIELDS)
    if cls in (ast.Constant, ast.Name, ast.alias, ast.Global, ast.Nonlocal, ast.MatchSingleton):
        return ()
    if cls in (ast.ExceptHandler, ast.MatchAs, ast.MatchStar):
        return tuple(name for name in fields if name != "name")
    if cls is ast.MatchMapping:
        return ("keys", "patterns")
    if cls is ast.MatchClass:
        return ("cls", "patterns", "kwd_patterns")
    return fields


FIELDS: dict[type, tuple[str, ...]] = {
    cls: _child_fields(cls) for cls in vars(ast).values() if isinstance(cls, type) and issubclass(cls, ast.AST)
}

_Waiting = list[tuple[Any, Scope]]


def build_scopes(tree: ast.Module) -> Scopes:
    """One walk over a numbered tree; then `global` and `nonlocal` bindings move to the scopes that own them."""
    scopes = Scopes()
    module = scopes.add("module", 0, None)
    scopes.by_definition[0] = module
    tree.s = 0  # pyright: ignore[reportAttributeAccessIssue]
    waiting: _Waiting = [(node, module) for node in reversed(tree.body)]
    push = waiting.append
    pop = waiting.pop
    fields = FIELDS
    special = _SPECIAL
    while waiting:
        node, scope = pop()
        cls = node.__class__
        if cls is ast.Constant:
            continue  # needs no scope, and its `s` is an old name of its value
        node.s = scope.index
        if cls is ast.Name:
            if node.ctx.__class__ is not ast.Load:
                scope.bindings.setdefault(node.id, []).append(node)
            continue
        handler = special.get(cls)
        if handler is not None:
            handler(scopes, node, scope, waiting)
            continue
        # Children are pushed last first, so that they are met, and bind, in the order of the text.
        for name in reversed(fields[cls]):
            value: Any = getattr(node, name, None)
            if value.__class__ is list:
                for child in reversed(value):
                    if child is not None:
                        push((child, scope))
            elif value is not None:
                push((value, scope))
    _move_declared(scopes)
    return scopes


def _bind(scope: Scope, name: str, node: ast.AST) -> None:
    scope.bindings.setdefault(name, []).append(node)


def _push_all(waiting: _Waiting, nodes: list[Any], scope: Scope) -> None:
    waiting.extend((node, scope) for node in reversed(nodes) if node is not None)


def _with_type_parameters(scopes: Scopes, node: Any, scope: Scope, waiting: _Waiting) -> Scope:
    """The scope between a definition and what is around it, where Python 3.12's type parameters live."""
    parameters = getattr(node, "type_params", None)
    if not parameters:
        return scope
    between = scopes.open(node, "type_parameters", scope)
    _push_all(waiting, parameters, between)
    return between


def _function(scopes: Scopes, node: Any, scope: Scope, waiting: _Waiting) -> None:
    is_lambda = node.__class__ is ast.Lambda
    args: ast.arguments = node.args
    outer = scope
    if not is_lambda:
        _bind(scope, node.name, node)
        outer = _with_type_parameters(scopes, node, scope, waiting)
    inner = scopes.open(node, "lambda" if is_lambda else "function", outer)
    _push_all(waiting, [node.body] if is_lambda else node.body, inner)
    if not is_lambda and node.returns is not None:
        waiting.append((node.returns, outer))
    parameters = [*args.posonlyargs, *args.args, args.vararg, *args.kwonlyargs, args.kwarg]
    args.s = scope.index  # pyright: ignore[reportAttributeAccessIssue]
    for parameter in parameters:
        if parameter is not None:
            parameter.s = inner.index  # pyright: ignore[reportAttributeAccessIssue]
            _bind(inner, parameter.arg, parameter)
    _push_all(waiting, [p.annotation for p in parameters if p is not None], outer)
    _push_all(waiting, [*args.defaults, *args.kw_defaults], scope)
    if not is_lambda:
        _push_all(waiting, node.decorator_list, scope)


def _class(scopes: Scopes, node: Any, scope: Scope, waiting: _Waiting) -> None:
    _bind(scope, node.name, node)
    outer = _with_type_parameters(scopes, node, scope, waiting)
    inner = scopes.open(node, "class", outer)
    _push_all(waiting, node.body, inner)
    _push_all(waiting, node.keywords, outer)
    _push_all(waiting, node.bases, outer)
    _push_all(waiting, node.decorator_list, scope)


def _comprehension(scopes: Scopes, node: Any, scope: Scope, waiting: _Waiting) -> None:
    """Everything but the first iterable is evaluated in a scope of its own."""
    inner = scopes.open(node, "comprehension", scope)
    elements = [node.key, node.value] if node.__class__ is ast.DictComp else [node.elt]
    _push_all(waiting, elements, inner)
    for number, generator in reversed(list(enumerate(node.generators))):
        generator.s = inner.index
        _push_all(waiting, generator.ifs, inner)
        waiting.append((generator.target, inner))
        waiting.append((generator.iter, scope if number == 0 else inner))


def _walrus(scopes: Scopes, node: Any, scope: Scope, waiting: _Waiting) -> None:
    owner = scope
    while owner.kind == "comprehension" and owner.parent is not None:
        owner = owner.parent
    node.target.s = scope.index
    _bind(owner, node.target.id, node.target)
    waiting.append((node.value, scope))


def _import(scopes: Scopes, node: Any, scope: Scope, waiting: _Waiting) -> None:
    plain = node.__class__ is ast.Import
    for alias in node.names:
        alias.s = scope.index
        if alias.name == "*":
            scope.stars.append(alias)
        else:
            _bind(scope, alias.asname or (alias.name.partition(".")[0] if plain else alias.name), alias)


def _named(scopes: Scopes, node: Any, scope: Scope, waiting: _Waiting) -> None:
    """`except ... as name`, match captures and type parameters: the name is a field, not a Name."""
    name = node.rest if node.__class__ is ast.MatchMapping else node.name
    if name is not None:
        _bind(scope, name, node)
    for field_name in reversed(FIELDS[node.__class__]):
        value = getattr(node, field_name, None)
        if isinstance(value, ast.AST):
            waiting.append((value, scope))
        elif isinstance(value, list):
            _push_all(waiting, value, scope)


def _type_alias(scopes: Scopes, node: Any, scope: Scope, waiting: _Waiting) -> None:
    outer = _with_type_parameters(scopes, node, scope, waiting)
    waiting.append((node.value, outer))
    waiting.append((node.name, scope))


def _declaration(scopes: Scopes, node: Any, scope: Scope, waiting: _Waiting) -> None:
    if node.__class__ is ast.Nonlocal:
        scope.nonlocal_names.update(node.names)
    elif scope.kind != "module":
        scope.global_names.update(node.names)


_SPECIAL: dict[type, Any] = {
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.Lambda: _function,
    ast.ClassDef: _class,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.DictComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.NamedExpr: _walrus,
    ast.Import: _import,
    ast.ImportFrom: _import,
    ast.ExceptHandler: _named,
    ast.MatchAs: _named,
    ast.MatchStar: _named,
    ast.MatchMapping: _named,
    ast.Global: _declaration,
    ast.Nonlocal: _declaration,
}
for _name, _handler in (
    ("TypeAlias", _type_alias),
    ("TypeVar", _named),
    ("ParamSpec", _named),
    ("TypeVarTuple", _named),
):
    if hasattr(ast, _name):
        _SPECIAL[getattr(ast, _name)] = _handler


def _move_declared(scopes: Scopes) -> None:
    """Outer scopes come first in `all`, so a nonlocal of a nonlocal finds the owner settled."""
    module = scopes.module
    for scope in scopes.all:
        for name in sorted(scope.global_names):
            bound = scope.bindings.pop(name, None)
            if bound is not None:
                module.bindings.setdefault(name, []).extend(bound)
        for name in sorted(scope.nonlocal_names):
            bound = scope.bindings.pop(name, None)
            owner = scope.parent
            while owner is not None and not (
                owner.kind in ("function", "lambda") and (name in owner.bindings and name not in owner.nonlocal_names)
            ):
                owner = owner.parent
            if bound is not None and owner is not None:
                owner.bindings[name].extend(bound)
