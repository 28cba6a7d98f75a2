"""Calls: what is run, what goes into its parameters, and what comes back."""

from abc import abstractmethod
from typing import NamedTuple

from lakehouse_assets.extract.python.flows_tables import Fun
from lakehouse_assets.link.classes import Member
from lakehouse_assets.link.containers import Containers
from lakehouse_assets.link.engine import Constraint
from lakehouse_assets.link.imports import Thing
from lakehouse_assets.link.program import Arguments, At
from lakehouse_assets.link.units import CLASS
from lakehouse_assets.link.uses import Place, Use, has_method, type_name

MOST_FOLLOWED = 32
"""Functions that one call leads to whose parameters and results are followed; further ones are only named."""


class Parameters(NamedTuple):
    """Variables of a function's parameters; `rest` and `named_rest` are the containers of `*` and `**`."""

    positional: list[int]
    by_name: dict[str, int]
    rest: Thing | None
    named_rest: Thing | None
    flags: int


class Calls(Containers):
    def __init__(self, *args: object) -> None:
        super().__init__(*args)
        self._followed: dict[Place, int] = {}
        self._parameters: dict[tuple[str, str], Parameters | None] = {}

    def parameters(self, path: str, descriptor: str) -> Parameters | None:
        key = (path, descriptor)
        if key not in self._parameters:
            self._parameters[key] = self._find_parameters(path, descriptor)
        return self._parameters[key]

    def _find_parameters(self, path: str, descriptor: str) -> Parameters | None:
        said = self.definition(path, descriptor)
        if said is None or said.kind == CLASS:
            return None
        positional: list[int] = []
        by_name: dict[str, int] = {}
        rest = named_rest = None
        for name, kind in said.parameters:
            if kind == 2:
                rest = ("l", path, descriptor, "*", "tuple")
            elif kind == 4:
                named_rest = ("l", path, descriptor, "**", "dict")
            else:
                variable = self.into("p", path, descriptor, name)
                if kind < 2:
                    positional.append(variable)
                if kind > 0:
                    by_name[name] = variable
        return Parameters(positional, by_name, rest, named_rest, said.flags)

    def call(self, thing: Thing, to: int, at: Place, arguments: Arguments, method: str, variable: int) -> None:
        match thing[0]:
            case "f":
                self._call_function(thing, None, to, at, arguments, method, variable)
            case "b":
                function = ("f", thing[1], thing[2])
                self._call_function(function, thing[3:], to, at, arguments, method, variable)
            case "w" | "u":
                self._call_wrapper(thing, to, at, arguments, method, variable)
            case "c" | "d":
                self._make_instance(thing, to, at, arguments, method, variable)
            case "i" | "j":
                self.dunder(thing, "__call__", to, at, arguments, variable)
            case "x":
                if isinstance(at, Use):
                    self.note_call(at, thing, "outside", -1)
                else:
                    self.call_outside(thing[1], None, to, at, arguments)
            case "many functions":
                self.note_call(at, thing, method, variable)
            case "p" if arguments.positional:
                self.put(to, thing)

    def _is_crowded(self, at: Place) -> bool:
        """Whether a call leads to so many functions (a registry) that nothing can be said of what goes in or out."""
        followed = self._followed[at] = self._followed.get(at, 0) + 1
        return followed > MOST_FOLLOWED

    def _call_function(
        self,
        function: Thing,
        receiver: Thing | None,
        to: int,
        at: Place,
        arguments: Arguments,
        method: str,
        variable: int,
    ) -> None:
        _, path, descriptor = function
        if self._is_crowded(at):
            self.note_call(at, function, method, variable)
            return
        found = self.parameters(path, descriptor)
        if found is None:
            return
        self.note_call(at, function, method, variable)
        skip = 0
        if receiver is not None and not found.flags & Fun.STATIC:
            skip = 1
            if found.positional:
                self.put(found.positional[0], receiver)
            elif found.rest is not None:
                holder = self.new()
                self.put(holder, receiver)
                self.store(found.rest, "i:0", holder)
        self.pass_arguments(found, skip, arguments)
        if to < 0:
            return
        if found.flags & Fun.GENERATOR:
            self.put(to, ("g", path, descriptor))
        self.connect(self.share("r", path, descriptor), to)

    def _call_wrapper(self, thing: Thing, to: int, at: Place, arguments: Arguments, method: str, variable: int) -> None:
        """Calls what a decorator put in a function's place, and gives back what the function itself gives.

        Arguments go to the function directly: through the wrapper's `*args` those for all functions that it wraps
        would get mixed up.
        """
        receiver = thing[5:] or None
        if self._is_crowded(at):
            self.note_call(at, ("f", thing[1], thing[2]), method, variable)
            return
        wrapper = self.parameters(thing[1], thing[2])
        wrapped = self.parameters(thing[3], thing[4])
        if wrapper is None or wrapped is None:
            return
        self.note_call(at, ("f", thing[1], thing[2]), method, variable)
        skip = 0 if receiver is None else 1
        for found in (wrapper._replace(rest=None, named_rest=None), wrapped):
            if receiver is not None and found.positional:
                self.put(found.positional[0], receiver)
            self.pass_arguments(found, skip, arguments)
        if to >= 0:
            if wrapped.flags & Fun.GENERATOR:
                self.put(to, ("g", thing[3], thing[4]))
            self.connect(self.share("r", thing[3], thing[4]), to)

    def pass_arguments(self, found: Parameters, skip: int, arguments: Arguments) -> None:
        positional = found.positional
        for i, source in enumerate(arguments.positional[: arguments.spread_at]):
            at = i + skip
            if at < len(positional):
                self.connect(source, positional[at])
            elif found.rest is not None:
                self.store(found.rest, f"i:{at - len(positional)}", source)
        for start, source in arguments.spread:
            self.constrain(source, (_spread_arrived, found, start + skip))
        for source in arguments.positional[arguments.spread_at + 1 :]:
            for target in positional[arguments.spread_at + skip :]:
                self.connect(source, target)
            if found.rest is not None:
                self.store(found.rest, None, source)
        for name, source in arguments.named:
            if not name:
                self.constrain(source, (_named_spread_arrived, found, skip))
            elif name in found.by_name:
                self.connect(source, found.by_name[name])
            elif found.named_rest is not None:
                self.store(found.named_rest, f"s:{name}", source)

    def _make_instance(self, cls: Thing, to: int, at: Place, arguments: Arguments, method: str, variable: int) -> None:
        kind, path, descriptor = cls
        instance: Thing = ("i" if kind == "c" else "j", path, descriptor)
        self.put(to, instance)
        made = self.classes.lookup(path, descriptor, "__new__")
        if isinstance(made, Member):
            for own in made.name.definitions:
                self._call_function(("f", made.path, own), cls, to, at, arguments, "new", variable)
        found = self.classes.lookup(path, descriptor, "__init__")
        if isinstance(found, Member):
            for own in found.name.definitions:
                self._call_function(("f", found.path, own), instance, -1, at, arguments, "init", variable)
            if found.name.definitions:
                return
        elif found is not None:
            self.note_call(at, ("x", found), "init", variable)
        self.note_call(at, ("c", path, descriptor), method, variable)

    def call_method(self, thing: Thing, name: str, to: int, at: At, arguments: Arguments, variable: int) -> None:
        """`thing.name(...)`. The attribute's node follows the call's."""
        kind = thing[0]
        if kind == "l" or kind == "k" or kind == "g" or kind == "o":
            if has_method(thing, name):
                self.call_outside(f"{type_name(thing)}.{name}", thing, to, at, arguments)
            return
        if kind == "x":
            self.call_outside(f"{thing[1]}.{name}", None, to, at, arguments)
            return
        holder = self.use(thing, name, (at[0], at[1] + 1), variable)
        self.constrain(holder, (_method_arrived, to, at, arguments, METHODS.get(kind, "flow"), variable))

    @abstractmethod
    def call_outside(self, dotted: str, receiver: Thing | None, to: int, at: At, arguments: Arguments) -> None:
        """Calls something outside; see `Builtins`."""


METHODS = {"m": "module", "n": "module", "i": "instance", "j": "declared", "c": "class", "d": "class", "s": "super"}


def _method_arrived(solver: Calls, constraint: Constraint, thing: Thing) -> None:
    _, to, at, arguments, method, variable = constraint
    solver.call(thing, to, at, arguments, method, variable)


def _spread_arrived(solver: Calls, constraint: Constraint, thing: Thing) -> None:
    """`*values` into what positions are left."""
    _, found, start = constraint
    if thing[0] == "l":
        for at in range(start, len(found.positional)):
            solver.load(thing, f"i:{at - start}", found.positional[at])
        if found.rest is not None:
            left = len(found.positional) - start
            if left <= 0 and start == len(found.positional):
                for at in range(8):
                    solver.store(found.rest, f"i:{at}", solver.element(thing, f"i:{at}"))
                solver.store(found.rest, None, solver.element(thing, "?"))
            else:
                solver.store(found.rest, None, solver.element(thing, "*"))
    elif thing[0] in "gij":
        holder = solver.new()
        solver.iterate(thing, holder, (0, 0))
        for at in range(start, len(found.positional)):
            solver.connect(holder, found.positional[at])


def _named_spread_arrived(solver: Calls, constraint: Constraint, thing: Thing) -> None:
    """`**values` into parameters of those names."""
    _, found, skip = constraint
    if thing[0] == "l" and thing[4] == "dict":
        first = set(found.positional[:skip])
        for name, variable in found.by_name.items():
            if variable not in first:
                solver.load(thing, f"s:{name}", variable)
        if found.named_rest is not None:
            solver.store(found.named_rest, None, solver.element(thing, "*"))


def on_call(solver: Calls, constraint: Constraint, thing: Thing) -> None:
    _, to, at, arguments, variable = constraint
    solver.call(thing, to, at, arguments, "direct", variable)


def on_method(solver: Calls, constraint: Constraint, thing: Thing) -> None:
    _, to, name, at, arguments, variable = constraint
    solver.call_method(thing, name, to, at, arguments, variable)


def on_raise(solver: Calls, constraint: Constraint, thing: Thing) -> None:
    """`raise Error` makes an instance; an error outside is called only where it is written as a call."""
    if thing[0] in "cd":
        solver.call(thing, -1, constraint[1], Arguments([], [], []), "raise", -1)


def on_instance(solver: Calls, constraint: Constraint, thing: Thing) -> None:
    to = constraint[1]
    match thing[0]:
        case "c" | "d":
            solver.put(to, ("j", thing[1], thing[2]))
        case "x":
            solver.put(to, ("o", thing[1]))


def on_decorated(solver: Calls, constraint: Constraint, thing: Thing) -> None:
    """What a decorator of the repository gave back for a function."""
    _, to, function = constraint
    if thing[0] == "f":
        said = solver.definition(thing[1], thing[2])
        if said is not None and said.flags & Fun.FORWARDS:
            solver.constrain(function, (_wrapped_arrived, to, thing))
            return
    solver.put(to, thing)


def _wrapped_arrived(solver: Calls, constraint: Constraint, thing: Thing) -> None:
    _, to, wrapper = constraint
    if thing[0] in "fw":
        solver.put(to, ("w", *wrapper[1:], *thing[-2:]))
    else:
        solver.put(to, wrapper)


def on_decorate(solver: Calls, constraint: Constraint, thing: Thing) -> None:
    """What a decorator outside gives back stands for the function that it got."""
    if thing[0] in "xo":
        solver.connect(constraint[2], constraint[1])
