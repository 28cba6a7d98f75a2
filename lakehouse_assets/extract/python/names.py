"""What each name of a definition means: the binding it refers to, and what it does to the variables of the flow."""

import ast
from typing import Any, NamedTuple

from lakehouse_assets.extract.python.edges import Edges
from lakehouse_assets.extract.python.rows import Rows, parameters
from lakehouse_assets.extract.python.scopes import Scope, Scopes

USE, UNBIND, BIND, MAY_BIND = range(4)
Act = tuple[int, str, Any]
"""What happens to a variable, its name, and the node by which it happens."""

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_COMPREHENSIONS = frozenset({"ListComp", "SetComp", "DictComp", "GeneratorExp"})


class Meaning(NamedTuple):
    """Where a name leads, seen from one scope."""

    scope: int
    """The scope that binds it; -1 if none in this file does."""
    d: int
    """The definition of that scope."""
    target: Any
    """The class or function that it is bound to, else its first binding."""
    bindings: list[Any]
    """All bindings, where they hold at every use, as in comprehensions; else none."""


_UNKNOWN = Meaning(scope=-1, d=-1, target=None, bindings=[])


class Names:
    """Meanings of names, each looked up once per scope; and the edges that follow from them alone."""

    def __init__(self, scopes: Scopes, definitions: list[Rows]) -> None:
        self.references = Edges()
        """REF: from a use to what it is bound to."""
        self.values = Edges()
        """DFG: from a binding to a use that sees its value."""
        self._scopes = scopes
        self._definitions = definitions
        self._known: list[dict[str, Meaning]] = [{} for _ in scopes.all]
        self._bound: list[dict[str, Meaning]] = [{} for _ in scopes.all]

    def _meaning(self, s: int, name: str) -> Meaning:
        scope = self._scopes.lookup(self._scopes.all[s], name)
        if scope is None:
            found = _UNKNOWN
        else:
            bound = self._bound[scope.index]
            found = bound.get(name)
            if found is None:
                found = bound[name] = _meaning(scope, name)
        self._known[s][name] = found
        return found

    def acts(self, rows: Rows) -> list[list[Act]]:
        """For each point of the definition's flow, what happens to its variables, in the order of evaluation."""
        own = self._scopes.by_definition[rows.d]
        elsewhere = own.global_names | own.nonlocal_names
        known = self._known
        add_source, add_target = self.references.sources.append, self.references.targets.append
        here: list[Act] = [(BIND, parameter.arg, parameter) for parameter in parameters(rows.node)]
        acts = [here]
        last: list[Act] = []  # what a point binds when all of its expressions are through
        statement = rows.node
        if rows.node.__class__ is ast.Lambda:
            acts.append(here := [])
        for event in rows.events:
            cls = event.__class__
            if cls is ast.Name:
                name = event.id
                meaning = known[event.s].get(name) or self._meaning(event.s, name)
                if meaning.scope < 0:
                    continue
                augments = statement.__class__ is ast.AugAssign and event is statement.target
                reads = augments or event.ctx.__class__ is not ast.Store
                if (reads or meaning.d != event.d) and meaning.target is not event:
                    add_source(event)
                    add_target(meaning.target)
                if meaning.bindings:
                    if reads:
                        self._see_all(meaning.bindings, event, name)
                elif meaning.scope == own.index or name in elsewhere:
                    if reads:
                        here.append((USE, name, event))
                    if event.ctx.__class__ is ast.Store:
                        here.append((MAY_BIND if self._may_be_skipped(event) else BIND, name, event))
                    elif event.ctx.__class__ is ast.Del:
                        here.append((UNBIND, name, event))
            elif cls is ast.alias:
                if event.name != "*":
                    plain = statement.__class__ is ast.Import
                    bound = event.asname or (event.name.partition(".")[0] if plain else event.name)
                    here.append((BIND, bound, event))
            elif cls in _CAPTURES:
                captured = event.rest if cls is ast.MatchMapping else event.name
                if captured is not None:
                    here.append((BIND, captured, event))
            else:
                here += last
                last = []
                acts.append(here := [])
                statement = event
                if cls in _BINDING_POINTS and event.name is not None:
                    last = [(BIND, event.name, event)]
        here += last
        return acts

    def _see_all(self, bindings: list[Any], use: Any, name: str) -> None:
        for binding in bindings:
            if binding is not use:
                self.values.sources.append(binding)
                self.values.targets.append(use)
                self.values.labels.append(name)

    def _may_be_skipped(self, name: Any) -> bool:
        """Whether a name is bound by `:=` where evaluation need not get to."""
        rows = self._definitions[name.d]
        kinds, sources = rows.kinds, rows.sources
        at = sources[name.n]
        if kinds[at] != "NamedExpr":
            return False
        while at and at != sources[at]:
            above = sources[at]
            match kinds[above]:
                case "BoolOp" if at != above + 1:
                    return True
                case "IfExp" if rows.labels[at] != "test":
                    return True
                case kind if kind in _COMPREHENSIONS:
                    return True
                case _:
                    at = above
        return False


_CAPTURES = frozenset({ast.MatchAs, ast.MatchStar, ast.MatchMapping})
_BINDING_POINTS = frozenset({*_DEFINITIONS, ast.ExceptHandler})


def _meaning(scope: Scope, name: str) -> Meaning:
    bindings = scope.bindings[name]
    target = next((node for node in bindings if isinstance(node, _DEFINITIONS)), bindings[0])
    everywhere = scope.kind in ("comprehension", "type_parameters")
    return Meaning(scope=scope.index, d=scope.d, target=target, bindings=bindings if everywhere else [])
