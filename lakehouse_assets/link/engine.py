"""Variables that hold sets of things, and constraints between them: the machinery under the solver.

A variable's set is the bits of one number, over things that are numbered as the file meets them. Constraints are
applied once per thing that reaches them. Everything is deterministic: the same program with the same values from
other files takes the same steps, so that even a run that is cut short by the limit on steps gives one result.
"""

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from lakehouse_assets.link.classes import Classes
from lakehouse_assets.link.imports import Imports, Thing
from lakehouse_assets.link.keys import PART
from lakehouse_assets.link.program import Program
from lakehouse_assets.link.units import Unit

SOFT: Thing = ("soft",)
"""Stands for the first bit, which is no thing."""
Constraint = tuple[Any, ...]
"""Handler first, then whatever it needs; called as handler(solver, constraint, thing)."""
Oracle = Callable[[str], Iterable[str]]
"""What other files' last round put into a shared variable, as texts of things."""

MANY = "many"
"""Stands for more values than a shared variable takes."""
MANY_FUNCTIONS = "many functions"
MANY_INSTANCES = "many instances"
MARKS = frozenset({MANY, MANY_FUNCTIONS, MANY_INSTANCES})
MANY_THINGS: Thing = (MANY_FUNCTIONS,)
MOST_VALUES = 8
"""A shared variable into which files put more instances and classes than this says nothing about them, and so for
what is neither these nor functions."""
MOST_FUNCTIONS = 32
"""The same for functions: a decorator may well get some dozens."""
MOST_REGISTERED = 400
"""The same for functions in containers and parameters, the ways into registries, which hold hundreds."""
MOST_STEPS = 400_000
"""Applications of a constraint to a thing in one run over one file; real files stay far below."""
MOST_THINGS = 400
"""What one variable holds at most: what comes later stays out. Most hold one or two."""


def capped(kind: str, texts: set[str]) -> tuple[str, ...]:
    """What a shared variable of a kind holds, in order, with a mark instead of what there is too much of."""
    if len(texts) <= MOST_VALUES and MARKS.isdisjoint(texts):
        return tuple(sorted(texts))
    functions: set[str] = set()
    classes: set[str] = set()
    others: set[str] = set()
    for text in texts:
        if text[0] in "fbwu" or text == MANY_FUNCTIONS:
            functions.add(text)
        elif text[0] in "ijcds" or text == MANY_INSTANCES:
            classes.add(text)
        else:
            others.add(text)
    if len(functions) > (MOST_REGISTERED if kind in "ep" else MOST_FUNCTIONS) or MANY_FUNCTIONS in functions:
        functions = {MANY_FUNCTIONS}
    if len(classes) > MOST_VALUES or MANY_INSTANCES in classes:
        classes = {MANY_INSTANCES}
    if len(others) > MOST_VALUES or MANY in others:
        others = {MANY}
    return tuple(sorted(functions | classes | others))


def text_of(thing: Thing) -> str:
    return PART.join(thing)


def thing_of(text: str) -> Thing:
    return tuple(text.split(PART))


class Engine:
    """One run over one file."""

    def __init__(
        self, unit: Unit, program: Program, classes: Classes, inbox: dict[str, tuple[str, ...]], oracle: Oracle
    ) -> None:
        self.unit = unit
        self.path = unit.path
        self.program = program
        self.classes = classes
        self.imports: Imports = classes.imports
        self.world = classes.world
        self._inbox = inbox
        self._oracle = oracle
        count = program.variables
        self.values: list[int] = [0] * count
        self._delta: list[int] = [0] * count
        self._static: list[tuple[int, ...]] = program.copies
        self._copies: dict[int, dict[int, None]] = {}
        self._constraints: list[list[Constraint]] = program.constraints
        self._added: dict[int, list[Constraint]] = {}
        self._queue: deque[int] = deque()
        self.things: list[Thing] = [SOFT]
        self._numbers: dict[Thing, int] = {SOFT: 0}
        self.shared: dict[str, int] = {}
        """Variables that other files know, by key."""
        self.written: dict[str, int] = {}
        """What this file puts into other files' variables, by key: apart from what others put there."""
        self.soft: list[int] = [0] * count
        """1 for variables that hold what came by way of flows rather than by a plain binding; it goes with the values,
        as the first bit, to wherever they go."""
        self.steps = 0

    def new(self) -> int:
        self.values.append(0)
        self._delta.append(0)
        self.soft.append(0)
        return len(self.values) - 1

    def number(self, thing: Thing) -> int:
        found = self._numbers.get(thing)
        if found is None:
            found = self._numbers[thing] = len(self.things)
            self.things.append(thing)
        return found

    def put(self, variable: int, thing: Thing) -> None:
        if variable >= 0:
            self.add(variable, 1 << self.number(thing))

    def add(self, variable: int, bits: int) -> None:
        held = self.values[variable]
        new = (bits | self.soft[variable]) & ~held
        if new and held.bit_count() < MOST_THINGS:
            self.values[variable] = held | new
            if not self._delta[variable]:
                self._queue.append(variable)
            self._delta[variable] |= new

    def connect(self, source: int, target: int) -> None:
        """Whatever is or comes in `source` goes to `target` too."""
        if source < 0 or target < 0 or source == target:
            return
        targets = self._copies.setdefault(source, {})
        if target in targets:
            return
        targets[target] = None
        if self.values[source]:
            self.add(target, self.values[source])

    def constrain(self, variable: int, constraint: Constraint) -> None:
        """Applies to what is in the variable, and to what comes."""
        if variable < 0:
            return
        self._added.setdefault(variable, []).append(constraint)
        # What still waits in the queue meets the constraint there.
        for thing in self.held(variable, self.values[variable] & ~self._delta[variable]):
            constraint[0](self, constraint, thing)

    def held(self, variable: int, bits: int | None = None) -> list[Thing]:
        bits = (self.values[variable] if bits is None else bits) & ~1
        found: list[Thing] = []
        things = self.things
        while bits:
            low = bits & -bits
            found.append(things[low.bit_length() - 1])
            bits ^= low
        return found

    def is_soft(self, variable: int) -> bool:
        return variable >= 0 and bool(self.values[variable] & 1)

    def run(self) -> None:
        """To the least fixpoint, or to the limit on steps."""
        queue = self._queue
        values = self.values
        deltas = self._delta
        soft = self.soft
        static = self._static
        constraints = self._constraints
        count = len(static)
        things = self.things
        while queue:
            variable = queue.popleft()
            bits = deltas[variable]
            deltas[variable] = 0
            targets: Iterable[int] = static[variable] if variable < count else ()
            dynamic = self._copies.get(variable)
            if dynamic:
                targets = [*targets, *dynamic]
            for target in targets:
                held = values[target]
                new = (bits | soft[target]) & ~held
                if new and held.bit_count() < MOST_THINGS:
                    values[target] = held | new
                    if not deltas[target]:
                        queue.append(target)
                    deltas[target] |= new
            own = constraints[variable] if variable < count else ()
            added = self._added.get(variable)
            if not own and not added:
                continue
            arrived: list[Thing] = []
            bits &= ~1
            while bits:
                low = bits & -bits
                arrived.append(things[low.bit_length() - 1])
                bits ^= low
            self.steps += len(arrived) * (len(own) + (len(added) if added else 0))
            if self.steps > MOST_STEPS:
                queue.clear()
                return
            for constraint in own:
                handler = constraint[0]
                for thing in arrived:
                    handler(self, constraint, thing)
            if added:
                for constraint in tuple(added):
                    handler = constraint[0]
                    for thing in arrived:
                        handler(self, constraint, thing)

    def share(self, *parts: str) -> int:
        """The variable with this key, whose second part is the path of the file that owns it."""
        key = PART.join(parts)
        found = self.shared.get(key)
        if found is None:
            is_own = parts[1] == self.path
            found = self.shared[key] = self.own_variable(parts) if is_own else self.new()
            texts: Iterable[str] = self._inbox.get(key, ()) if is_own else self._oracle(key)
            if texts or not is_own or parts[0] in "rysev":
                self.soft[found] = 1
            for text in texts:
                self.put(found, thing_of(text))
        return found

    def into(self, *parts: str) -> int:
        """The variable to write to for a key: another file's keeps what is written here apart from what is read."""
        if parts[1] == self.path:
            return self.share(*parts)
        key = PART.join(parts)
        found = self.written.get(key)
        if found is None:
            found = self.written[key] = self.new()
            if parts[0] != "p":  # no one reads another file's parameters
                self.connect(found, self.share(*parts))
        return found

    def own_variable(self, parts: tuple[str, ...]) -> int:
        """The file's own variable behind a key; elements of containers and the like have none yet."""
        found = self.program.own.get(parts[0] + PART + PART.join(parts[2:]))
        return self.new() if found is None else found
