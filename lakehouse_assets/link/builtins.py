"""What built-in functions and types do with what they are given, as far as calls depend on it."""

import builtins as python
from typing import Any

from lakehouse_assets.link.container_methods import ContainerMethods, merged_arrived
from lakehouse_assets.link.engine import Constraint
from lakehouse_assets.link.imports import Thing
from lakehouse_assets.link.program import Arguments, At
from lakehouse_assets.link.uses import NO_ARGUMENTS

NAMES = frozenset(dir(python))
_PREFIX = "<builtin>."
_CALLERS = frozenset({"map", "filter", "sorted", "min", "max"})
"""Built-in functions that call functions they are given."""
_SPECIAL_METHODS = {
    "len": ("__len__",),
    "str": ("__str__", "__repr__"),
    "repr": ("__repr__",),
    "format": ("__format__", "__str__"),
    "int": ("__int__", "__index__"),
    "float": ("__float__",),
    "bool": ("__bool__", "__len__"),
    "hash": ("__hash__",),
    "abs": ("__abs__",),
    "round": ("__round__",),
    "bytes": ("__bytes__",),
    "reversed": ("__reversed__",),
    "dir": ("__dir__",),
}
_COLLECTIONS = {
    "list": "list",
    "tuple": "tuple",
    "set": "set",
    "frozenset": "set",
    "sorted": "list",
    "reversed": "list",
}
_SAME = frozenset(
    {"copy.copy", "copy.deepcopy", "functools.partial", "functools.partialmethod", "functools.update_wrapper"}
)
BINARY_REFLECTED = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})


class Builtins(ContainerMethods):
    def call_outside(self, dotted: str, receiver: Thing | None, to: int, at: At, arguments: Arguments) -> None:
        if dotted.startswith(_PREFIX):
            name = dotted[len(_PREFIX) :]
            if receiver is not None and receiver[0] == "l":
                self.container_method(name.partition(".")[2], receiver, to, at, arguments)
            elif "." not in name:
                self._function(name, to, at, arguments)
        else:
            self._known_outside(dotted, to, at, arguments)
        self.note_call(at, ("x", dotted), "outside", -1)

    def _known_outside(self, dotted: str, to: int, at: At, arguments: Arguments) -> None:
        first = arguments.positional[0] if arguments.positional else -1
        if dotted in _SAME:
            self.connect(first, to)
        elif dotted == "functools.reduce":
            self.call_given(first, to, at)
        elif dotted in ("typing.cast", "typing_extensions.cast") and len(arguments.positional) > 1:
            self.connect(arguments.positional[1], to)
        elif dotted in ("functools.wraps", "functools.lru_cache", "functools.cache", "contextlib.contextmanager"):
            self.put(to, ("x", dotted))
        elif dotted.rpartition(".")[2][:1].isupper() and dotted.count(".") < 6:
            self.put(to, ("o", dotted))

    def _function(self, name: str, to: int, at: At, arguments: Arguments) -> None:
        positional = arguments.positional
        first = positional[0] if positional and arguments.spread_at > 0 else -1
        if name in _SPECIAL_METHODS:
            self.constrain(first, (_special_arrived, _SPECIAL_METHODS[name], at))
        if name in _CALLERS:
            made = self.new()
            keys = [source for key, source in arguments.named if key == "key"]
            for source in keys or positional:
                self.call_given(source, made, at)
            if name == "map":
                self.collect(made, "generator", to, at)
            elif name in ("min", "max"):
                for source in positional:
                    self.constrain(source, (_item_arrived, to, at))
            elif name == "filter":
                for source in positional:
                    self._collect_from(source, "generator", to, at)
        if name in _COLLECTIONS:
            self._collect_from(first, _COLLECTIONS[name], to, at)
        match name:
            case "super":
                self._super(to, at)
            case "getattr" if len(positional) > 1:
                self.constrain(positional[1], (_attribute_named, first, to, at))
                if len(positional) > 2:
                    self.connect(positional[2], to)
            case "setattr" if len(positional) > 2:
                self.constrain(positional[1], (_attribute_set, first, positional[2], at))
            case "type" if len(positional) == 1:
                self.constrain(first, (_class_arrived, to))
            case "iter":
                self.constrain(first, (_iter_arrived, to, at))
            case "next":
                self.constrain(first, (_next_arrived, to, at))
            case "enumerate" | "zip":
                self._tuples(name, positional, to, at)
            case "dict":
                self._dict(arguments, to, at)
            case "property":
                self.constrain(first, (_property_arrived, to))
            case "staticmethod" | "classmethod":
                self.connect(first, to)
            case "str" | "repr" | "format" | "bytes" | "int" | "float":
                self.put(to, ("o", f"<builtin>.{'str' if name in ('repr', 'format') else name}"))
            case "open":
                self.put(to, ("o", "io.TextIOWrapper"))

    def _collect_from(self, source: int, kind: str, to: int, at: At) -> None:
        inner = self.new()
        self.soft[inner] = 1
        self.constrain(source, (_item_arrived, inner, at))
        self.collect(inner, kind, to, at)

    def _tuples(self, name: str, positional: list[int], to: int, at: At) -> None:
        pair = self.container(at, "tuple", "t")
        for i, source in enumerate(positional if name == "zip" else positional[:1]):
            inner = self.new()
            self.constrain(source, (_item_arrived, inner, at))
            self.store(pair, f"i:{i if name == 'zip' else 1}", inner)
        made = self.new()
        self.put(made, pair)
        self.collect(made, "generator", to, at)

    def _dict(self, arguments: Arguments, to: int, at: At) -> None:
        made = self.container(at, "dict", "c")
        for key, source in arguments.named:
            if key:
                self.store(made, f"s:{key}", source)
            else:
                self.constrain(source, (merged_arrived, made))
        if arguments.positional:
            self.constrain(arguments.positional[0], (merged_arrived, made))
        self.put(to, made)

    def _super(self, to: int, at: At) -> None:
        """Of the innermost method around the call."""
        unit = self.unit
        d = self.program.elsewhere.get(at, at[0])
        while d > 0:
            parent = unit.parents[d]
            if d in unit.functions and parent in unit.classes:
                row = unit.functions[d]
                if len(row) > 4:
                    self.constrain(row[6], (_receiver_arrived, unit.descriptors[parent], to))
                return
            d = parent


def _special_arrived(solver: Builtins, constraint: Constraint, thing: Thing) -> None:
    for name in constraint[1]:
        if solver.dunder(thing, name, -1, constraint[2], NO_ARGUMENTS):
            return


def _item_arrived(solver: Builtins, constraint: Constraint, thing: Thing) -> None:
    solver.iterate(thing, constraint[1], constraint[2])


def _attribute_named(solver: Builtins, constraint: Constraint, thing: Thing) -> None:
    _, source, to, at = constraint
    if thing[0] == "k" and thing[1].startswith("s:"):
        solver.constrain(source, (_get_named, thing[1][2:], to, at, source))


def _get_named(solver: Builtins, constraint: Constraint, thing: Thing) -> None:
    _, name, to, at, variable = constraint
    solver.get(thing, name, to, at, variable)


def _attribute_set(solver: Builtins, constraint: Constraint, thing: Thing) -> None:
    _, target, source, at = constraint
    if thing[0] == "k" and thing[1].startswith("s:"):
        solver.constrain(target, (_set_named, thing[1][2:], source, at))


def _set_named(solver: Builtins, constraint: Constraint, thing: Thing) -> None:
    _, name, source, at = constraint
    solver.set(thing, name, source, at)


def _class_arrived(solver: Builtins, constraint: Constraint, thing: Thing) -> None:
    match thing[0]:
        case "i":
            solver.put(constraint[1], ("c", thing[1], thing[2]))
        case "j":
            solver.put(constraint[1], ("d", thing[1], thing[2]))
        case "o":
            solver.put(constraint[1], ("x", thing[1]))


def _iter_arrived(solver: Builtins, constraint: Constraint, thing: Thing) -> None:
    _, to, at = constraint
    if not solver.dunder(thing, "__iter__", to, at, NO_ARGUMENTS):
        solver.put(to, thing)


def _next_arrived(solver: Builtins, constraint: Constraint, thing: Thing) -> None:
    solver.next(thing, constraint[1], constraint[2])


def _property_arrived(solver: Builtins, constraint: Constraint, thing: Thing) -> None:
    if thing[0] == "f":
        solver.put(constraint[1], ("p", thing[1], thing[2]))


def _receiver_arrived(solver: Builtins, constraint: Constraint, thing: Thing) -> None:
    _, descriptor, to = constraint
    if thing[0] in "ijcd":
        solver.put(to, ("s", solver.path, descriptor, *thing))


def on_binary(solver: Builtins, constraint: Constraint, thing: Thing) -> None:
    _, to, name, other, at, is_right = constraint
    kind = thing[0]
    if kind == "i" or kind == "j":
        if is_right:
            if name not in BINARY_REFLECTED:
                solver.dunder(thing, f"__r{name}__", to, at, Arguments([other], [], []))
        else:
            arguments = Arguments([other], [], [])
            if not solver.dunder(thing, f"__{name}__", to, at, arguments) and name == "contains":
                solver.dunder(thing, "__iter__", -1, at, NO_ARGUMENTS)
    elif kind == "l" and name in ("add", "or", "mul", "and", "sub"):
        solver.put(to, thing)


def on_unary(solver: Builtins, constraint: Constraint, thing: Thing) -> None:
    _, to, name, at = constraint
    if thing[0] in "ij":
        names: tuple[Any, ...] = ("__format__", "__str__", "__repr__") if name == "str" else (f"__{name}__",)
        for special in names:
            if solver.dunder(thing, special, to if name != "str" else -1, at, NO_ARGUMENTS):
                return
