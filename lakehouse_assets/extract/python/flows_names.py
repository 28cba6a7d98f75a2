"""Names and what they are bound to, as operations over variables.

A name that is bound more than once has a variable for what was assigned last on the straight way to a use, next to
the one that holds whatever it is bound to anywhere. So is what was just stored under a path (`d["a"]`, `self.x`),
until a call or a branch may have changed it. Both keep a later assignment from leading to an earlier one's value.
"""

import ast
from abc import abstractmethod
from typing import Any

from lakehouse_assets.extract.python.flows_tables import NOTHING, Op, Tables
from lakehouse_assets.extract.python.scopes import Scope, Scopes

DEFINITIONS, IMPORTS, REFERENCES, FLOW = range(4)


class Names(Tables):
    """Binds and stores; what an expression's value is, is for `value` to say."""

    def __init__(self, scopes: Scopes) -> None:
        super().__init__(scopes)
        self.scope: Scope = scopes.module
        """The scope whose statements are being read."""
        self.latest: dict[str, int] = {}
        self.stored: dict[str, int] = {}
        self.bases: dict[tuple[int, str], int] = {}
        self.unbound: dict[str, int] = {}
        self.returns: dict[int, int] = {}
        self.yields: dict[int, int] = {}
        self.generators: set[int] = set()
        self.uses: list[int] = []
        self.import_of: dict[tuple[int, int], int] = {}
        self.known: dict[tuple[int, str], tuple[list[Any], ...]] = {}
        """Of names of modules and classes: definitions, imports, references, and whether anything else is bound."""
        self.later: list[Any] = []
        """Functions whose bodies are still to be read."""

    @abstractmethod
    def value(self, node: Any) -> int:
        """The variable that holds an expression's value."""

    def base(self, scope: Scope, name: str) -> int:
        """The variable that holds whatever a name of a scope is bound to anywhere."""
        key = (scope.index, name)
        number = self.bases.get(key)
        if number is None:
            number = self.bases[key] = self.new()
        return number

    def bind(self, scope: Scope, name: str, source: int, how: tuple[int, Any] | None = None) -> None:
        """A name gets a value. `scope` is where the name is written; `how` says what it is without following flows."""
        owner = self.owner(scope, name)
        if owner is None:
            return
        if owner.kind == "module" or owner.kind == "class":
            known = self.known.setdefault((owner.index, name), ([], [], [], []))
            known[FLOW if how is None else how[0]].append(0 if how is None else how[1])
        if source != NOTHING:
            self.ops += (Op.COPY, self.base(owner, name), source)
        if owner is self.scope and len(owner.bindings[name]) > 1:
            self.latest[name] = source
        if self.stored:
            self.stored = {path: at for path, at in self.stored.items() if not path.startswith(name)}

    def path(self, node: Any) -> str | None:
        """`d["a"].x` as text that starts with the name; None if anything in it may differ between two uses."""
        parts: list[str] = []
        while True:
            cls = node.__class__
            if cls is ast.Attribute:
                parts.append("." + node.attr)
                node = node.value
            elif cls is ast.Subscript and node.slice.__class__ is ast.Constant:
                parts.append(f"[{node.slice.value!r}]")
                node = node.value
            elif cls is ast.Name:
                return node.id + "".join(reversed(parts)) if parts else None
            else:
                return None

    def _just_stored(self, node: Any) -> int | None:
        if not self.stored:
            return None
        path = self.path(node)
        return self.stored.get(path) if path is not None else None

    def _key(self, part: Any) -> tuple[int, int]:
        if part.__class__ is ast.Constant and part.value.__class__ in (str, int):
            return self.constant(part.value), NOTHING
        return NOTHING, self.value(part)

    def store(self, target: Any, source: int) -> None:
        """Assigns a variable to whatever stands on the left."""
        match target:
            case ast.Name():
                self.bind(self.scopes.of(target), target.id, source)
            case ast.Attribute():
                holder = self.value(target.value)
                if holder != NOTHING:
                    self.ops += (Op.SET, holder, self.string(target.attr), source, target.d, target.n)  # pyright: ignore[reportAttributeAccessIssue]
                self._remember(target, source)
            case ast.Subscript():
                holder = self.value(target.value)
                constant, key = self._key(target.slice)
                if holder != NOTHING:
                    self.ops += (Op.SET_ITEM, holder, constant, key, source, target.d, target.n)  # pyright: ignore[reportAttributeAccessIssue]
                self._remember(target, source)
            case ast.Starred():
                self.store(target.value, source)
            case ast.Tuple() | ast.List():
                self._unpack(target, source)

    def _remember(self, target: Any, source: int) -> None:
        path = self.path(target)
        if path is not None:
            self.stored[path] = source

    def _unpack(self, target: Any, source: int) -> None:
        elements = target.elts
        star = next((i for i, element in enumerate(elements) if element.__class__ is ast.Starred), len(elements))
        for i, element in enumerate(elements):
            number = NOTHING
            if source != NOTHING:
                number = self.new()
                # Before the star counted from the front, behind it from the back, the star itself by what is behind it.
                if i < star:
                    index, rest = i, NOTHING
                elif i == star:
                    index, rest = i, len(elements) - 1 - star
                else:
                    index, rest = i - len(elements), NOTHING
                self.ops += (Op.UNPACK, number, source, index, rest, element.d, element.n)
            self.store(element, number)
