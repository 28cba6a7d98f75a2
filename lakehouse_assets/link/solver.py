"""Runs one file's flow program with what other files told it, and says what it found and what it tells others."""

from typing import Any, NamedTuple

from lakehouse_assets.extract.python.flows_tables import KINDS, SPREAD, Op
from lakehouse_assets.link import assignments, attributes, builtins, calls, container_methods, containers
from lakehouse_assets.link.builtins import Builtins
from lakehouse_assets.link.classes import Classes
from lakehouse_assets.link.engine import Oracle, capped, text_of
from lakehouse_assets.link.imports import Thing
from lakehouse_assets.link.keys import PART
from lakehouse_assets.link.program import DECORATED, At, Handlers, Program
from lakehouse_assets.link.start import Start
from lakehouse_assets.link.units import Unit
from lakehouse_assets.link.world import Read

HANDLERS: Handlers = {
    Op.GET: attributes.on_get,
    Op.SET: assignments.on_set,
    Op.ITEM: containers.on_item,
    Op.SET_ITEM: containers.on_set_item,
    Op.CALL: calls.on_call,
    Op.METHOD: calls.on_method,
    Op.ITERATE: containers.on_iterate,
    Op.UNPACK: containers.on_unpack,
    Op.ENTER: containers.on_enter,
    Op.BINARY: builtins.on_binary,
    Op.UNARY: builtins.on_unary,
    Op.DECORATE: calls.on_decorate,
    DECORATED: calls.on_decorated,
    Op.RAISE: calls.on_raise,
    Op.SLICE: containers.on_slice,
    Op.DELETE: containers.on_delete,
    Op.INSTANCE: calls.on_instance,
}


class Solution(NamedTuple):
    """What a run gave."""

    calls: dict[At, dict[Thing, tuple[str, int]]]
    references: dict[At, dict[Thing, None]]
    soft: set[At]
    """Nodes of calls where what is called came by way of flows."""
    told: dict[str, tuple[str, ...]]
    """What the file puts into variables that others know: texts of things by key."""
    read: frozenset[Read]
    """Facts, and what was derived from facts; see `World.facts_behind`."""


class Solver(Builtins):
    """One run over one file; make it, `solve` it, let it go."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._settled: set[tuple[int, Thing]] = set()

    def solve(self, start: Start) -> Solution:
        self.world.reading = set(start.read)
        for variable in self.program.soft:
            self.soft[variable] = 1
        self._start(start)
        self._receive()
        self.run()
        while self._settle():
            self.run()
        told = self._told()
        soft = {at for at, targets in self.calls.items() if any(self.is_soft(v) for _, v in targets.values())}
        return Solution(self.calls, self.references, soft, told, frozenset(self.world.reading))

    def _start(self, start: Start) -> None:
        for to, thing in start.puts:
            self.put(to, thing)
        for key, to in start.gets:
            self.connect(self.share(*key), to)
        for key, thing in start.writes:
            self.put(self.into(*key), thing)
        for to, said, place in start.containers:
            self._annotated(to, said, place)
        for to, kind, at, elements in self.program.builds:
            self._build(to, KINDS[kind], at, elements)

    def _annotated(self, to: int, said: list[Any], place: str) -> None:
        """A container of which an annotation says what is in it."""
        kind, elements = said
        container: Thing = ("l", self.path, "", place, kind)
        holder = self.new()
        self.soft[holder] = 1
        for i, element in enumerate(elements):
            if isinstance(element, tuple):
                self.put(holder, element)
            else:
                self._annotated(holder, element, f"{place}.{i}")
        self.store(container, None, holder)
        self.put(to, container)

    def _build(self, to: int, kind: str, at: At, elements: list[int]) -> None:
        made = self.container(at, kind)
        constants = self.unit.constants
        is_plain = kind in ("list", "tuple")
        keys: list[str] = []
        for i in range(0, len(elements), 2):
            constant, source = elements[i], elements[i + 1]
            if constant == SPREAD:
                is_plain = False
                if source >= 0:
                    self.constrain(source, (container_methods.merged_arrived, made))
                continue
            key = constants[constant] if constant >= 0 else None
            if key is None:
                is_plain = False
            else:
                keys.append(key)
            self.store(made, key, source)
        if is_plain:
            self.sizes[made] = len(elements) // 2
        if keys:
            self.constant_keys[made] = keys
        self.put(to, made)

    def _receive(self) -> None:
        """What other files put into this one's variables."""
        for key in self._inbox:
            self.share(*key.split(PART))

    def _settle(self) -> bool:
        """What nothing is known about after all: a key may be any key, an unknown decorator gives its function back.

        Decided for all at once, when everything else has been worked out, so that no order of work shows.
        """
        values = self.values
        changed = False
        for to, function, _ in self.program.decorated:
            if not values[to] & ~1 and values[function] & ~1:
                self.connect(function, to)
                changed = True
        for i, (key, target, to, source) in enumerate(self.program.unknown_keys):
            if values[key] & ~1:
                continue
            for thing in self.held(target):
                if thing[0] == "l" and (i, thing) not in self._settled:
                    self._settled.add((i, thing))
                    changed = True
                    if to >= 0:
                        self.load(thing, None, to)
                    else:
                        self.store(thing, None, source)
        return changed

    def _told(self) -> dict[str, tuple[str, ...]]:
        """Own variables that others may read, and others' variables that were written."""
        told: dict[str, tuple[str, ...]] = {}
        path = self.path
        values = self.values
        own = self.program.own
        for short in self.program.told:
            variable = own[short]
            if values[variable]:
                self._tell(told, f"{short[0]}{PART}{path}{short[1:]}", variable, short[0] == "g")
        elements: dict[str, list[str]] = {}
        mark = f"{PART}{path}{PART}"
        for key, variable in self.shared.items():
            if values[variable] and key.startswith(mark, 1):
                if key[0] == "e":
                    elements.setdefault(key.rpartition(PART)[0], []).append(key)
                elif key[0] in "sv" or (key[0] in "ag" and key not in told):
                    self._tell(told, key, variable, False)
        for key, variable in self.written.items():
            if values[variable]:
                self._tell(told, key, variable, False)
        self._tell_elements(told, elements)
        return told

    def _tell_elements(self, told: dict[str, tuple[str, ...]], elements: dict[str, list[str]]) -> None:
        """What is in the file's containers is told of those only that others can get hold of."""
        mark = f"l{PART}{self.path}{PART}"
        waiting = [text for values in told.values() for text in values if text.startswith(mark)]
        waiting += [text for values in self._inbox.values() for text in values if text.startswith(mark)]
        # Those of parameters can be had by whoever calls, those of attributes by whoever has the instance.
        seen: set[str] = set()
        while waiting:
            container = "e" + waiting.pop().rpartition(PART)[0][1:]
            if container in seen:
                continue
            seen.add(container)
            keys = elements.get(container, ())
            if keys and f"{container}{PART}*" not in self.shared:
                whole = self.shared[f"{container}{PART}*"] = self.new()
                for key in keys:
                    self.values[whole] |= self.values[self.shared[key]]
                keys = [*keys, f"{container}{PART}*"]
            for key in keys:
                self._tell(told, key, self.shared[key], False)
                waiting += [text for text in told.get(key, ()) if text.startswith(mark)]

    def _tell(self, told: dict[str, tuple[str, ...]], key: str, variable: int, with_constants: bool) -> None:
        things = self.held(variable)
        if not with_constants:
            things = [t for t in things if t[0] != "k" and not (t[0] in "ox" and t[1].startswith("<builtin>."))]
        texts = {text_of(thing) for thing in things}.difference(self._inbox.get(key, ()))
        if texts:  # what others put there reaches readers from them
            told[key] = capped(key[0], texts)


def solve(
    unit: Unit,
    program: Program,
    start: Start,
    classes: Classes,
    inbox: dict[str, tuple[str, ...]],
    oracle: Oracle,
) -> Solution:
    return Solver(unit, program, classes, inbox, oracle).solve(start)
