"""A file's flow program made ready to run: constraints by the variable they wait for. Made once, run each round."""

from typing import Any

from lakehouse_assets.extract.python.flows_tables import NOTHING, Fun, Op
from lakehouse_assets.link.keys import PART
from lakehouse_assets.link.units import Unit

Handlers = dict[int, Any]
DECORATED = -1
"""The handler of what a decorator gives, next to those of the operations."""
At = tuple[int, int]


class Arguments:
    """What a call passes: variables by position, then by name; starred ones apart."""

    __slots__ = ("named", "positional", "spread", "spread_at", "spread_named")

    def __init__(self, positional: list[int], named: list[tuple[str, int]], spread: list[tuple[int, int]]) -> None:
        self.positional = positional
        self.named = named
        self.spread = spread
        """(position, variable) of each `*`; positions behind it can't be told."""
        self.spread_at = spread[0][0] if spread else len(positional)
        self.spread_named = [variable for name, variable in named if not name]


class Program:
    """Copies and constraints per variable, and what is there from the start.

    `handlers` gives, per operation, what the solver does with a thing that reaches its source. Constraints are tuples
    (handler, operands...); at is (d, n) of the node, frame the definition that runs it.
    """

    def __init__(self, unit: Unit, handlers: Handlers) -> None:
        self.variables: int = unit.summary["variables"]
        copies: list[list[int]] = [[] for _ in range(self.variables)]
        self.constraints: list[list[tuple[Any, ...]]] = [[] for _ in range(self.variables)]
        self.definitions: list[tuple[int, int]] = []
        self.imports: list[tuple[int, int]] = []
        self.unbound: list[tuple[int, str]] = []
        self.constants: list[tuple[int, str]] = []
        self.annotations: list[tuple[int, int]] = []
        self.builds: list[tuple[int, int, At, list[int]]] = []
        self.decorated: list[tuple[int, int, int]] = []
        self.unknown_keys: list[tuple[Any, ...]] = []
        self.elsewhere: dict[At, int] = {}
        """Nodes of calls that are run by another definition than the one they are written in: the one around it."""
        self.soft: list[int] = []
        self.receivers: set[int] = set()
        """`self` and `cls` of methods."""
        self.own: dict[str, int] = {}
        """Variables that other files know, by key without the path."""
        self.told: list[str] = []
        """Those that others read to know more than the file's facts say."""
        self._decode(unit, handlers, copies)
        self.copies: list[tuple[int, ...]] = [tuple(targets) for targets in copies]
        self._own_variables(unit)

    def _own_variables(self, unit: Unit) -> None:
        own = self.own
        descriptors = unit.descriptors
        for name, row in unit.names.items():
            own[f"g{PART}{name}"] = row[0]
            if row[3] or row[4]:
                self.told.append(f"g{PART}{name}")
        for d, row in unit.classes.items():
            for name, member in row[3].items():
                own[f"a{PART}{descriptors[d]}{PART}{name}"] = member[0]
                if member[3] or member[4]:
                    self.told.append(f"a{PART}{descriptors[d]}{PART}{name}")
        strings = unit.strings
        for d, row in unit.functions.items():
            descriptor = descriptors[d]
            if row[2] != NOTHING:
                own[f"r{PART}{descriptor}"] = row[2]
                self.told.append(f"r{PART}{descriptor}")
                self.soft.append(row[2])
            if row[3] != NOTHING:
                own[f"y{PART}{descriptor}"] = row[3]
                self.told.append(f"y{PART}{descriptor}")
                self.soft.append(row[3])
            for i in range(4, len(row), 3):
                own[f"p{PART}{descriptor}{PART}{strings[row[i]]}"] = row[i + 2]
                if i == 4 and row[1] & Fun.METHOD:
                    self.receivers.add(row[i + 2])
                else:
                    self.soft.append(row[i + 2])

    def _decode(self, unit: Unit, handlers: Handlers, copies: list[list[int]]) -> None:
        ops: list[int] = unit.summary["ops"]
        strings = unit.strings
        constants = unit.constants
        constraints = self.constraints
        soft = self.soft
        frame = 0
        i = 0
        end = len(ops)
        while i < end:
            op = ops[i]
            if op == Op.METHOD:
                to, target, name, d, n = ops[i + 1 : i + 6]
                arguments, i = _arguments(ops, i + 6, strings)
                constraints[target].append((handlers[op], to, strings[name], (d, n), arguments, target))
                if d != frame:
                    self.elsewhere[d, n] = frame
            elif op == Op.GET:
                to, target, name, d, n = ops[i + 1 : i + 6]
                constraints[target].append((handlers[op], to, strings[name], (d, n), target))
                i += 6
            elif op == Op.COPY:
                copies[ops[i + 2]].append(ops[i + 1])
                i += 3
            elif op == Op.CALL:
                to, target, d, n = ops[i + 1 : i + 5]
                arguments, i = _arguments(ops, i + 5, strings)
                constraints[target].append((handlers[op], to, (d, n), arguments, target))
                if d != frame:
                    self.elsewhere[d, n] = frame
            elif op == Op.CONSTANT:
                self.constants.append((ops[i + 1], constants[ops[i + 2]]))
                i += 3
            elif op == Op.DEFINE:
                self.definitions.append((ops[i + 1], ops[i + 2]))
                i += 3
            elif op == Op.SET:
                target, name, source, d, n = ops[i + 1 : i + 6]
                constraints[target].append((handlers[op], strings[name], source, (d, n)))
                i += 6
            elif op == Op.BINARY:
                to, left, right, name, d, n = ops[i + 1 : i + 7]
                name = strings[name]
                if left >= 0:
                    constraints[left].append((handlers[op], to, name, right, (d, n), False))
                if right >= 0 and name != "contains":
                    constraints[right].append((handlers[op], to, name, left, (d, n), True))
                i += 7
            elif op == Op.UNARY:
                to, source, name, d, n = ops[i + 1 : i + 6]
                constraints[source].append((handlers[op], to, strings[name], (d, n)))
                i += 6
            elif op == Op.BUILD:
                to, kind, d, n, count = ops[i + 1 : i + 6]
                self.builds.append((to, kind, (d, n), ops[i + 6 : i + 6 + 2 * count]))
                i += 6 + 2 * count
            elif op in (Op.ITERATE, Op.ENTER):
                to, source, d, n = ops[i + 1 : i + 5]
                constraints[source].append((handlers[op], to, (d, n)))
                soft.append(to)
                i += 5
            elif op == Op.IMPORT:
                self.imports.append((ops[i + 1], ops[i + 2]))
                i += 3
            elif op == Op.UNBOUND:
                self.unbound.append((ops[i + 1], strings[ops[i + 2]]))
                i += 3
            elif op == Op.ITEM:
                to, target, constant, key, d, n = ops[i + 1 : i + 7]
                known = constants[constant] if constant >= 0 else None
                constraints[target].append((handlers[op], to, known, key, (d, n), target))
                if key >= 0:
                    self.unknown_keys.append((key, target, to, -1))
                soft.append(to)
                i += 7
            elif op == Op.SET_ITEM:
                target, constant, key, source, d, n = ops[i + 1 : i + 7]
                known = constants[constant] if constant >= 0 else None
                constraints[target].append((handlers[op], known, key, source, (d, n), target))
                if key >= 0:
                    self.unknown_keys.append((key, target, -1, source))
                i += 7
            elif op == Op.UNPACK:
                to, source, index, rest, d, n = ops[i + 1 : i + 7]
                constraints[source].append((handlers[op], to, index, rest, (d, n)))
                soft.append(to)
                i += 7
            elif op == Op.ANNOTATE:
                self.annotations.append((ops[i + 1], ops[i + 2]))
                i += 3
            elif op == Op.DECORATE:
                to, result, function, decorator = ops[i + 1 : i + 5]
                constraints[result].append((handlers[DECORATED], to, function))
                constraints[decorator].append((handlers[op], to, function))
                self.decorated.append((to, function, decorator))
                i += 5
            elif op == Op.RAISE:
                source, d, n = ops[i + 1 : i + 4]
                constraints[source].append((handlers[op], (d, n)))
                i += 4
            elif op == Op.SLICE:
                to, target, low, high, d, n = ops[i + 1 : i + 7]
                constraints[target].append((handlers[op], to, low, high, (d, n)))
                soft.append(to)
                i += 7
            elif op == Op.DELETE:
                target, d, n = ops[i + 1 : i + 4]
                constraints[target].append((handlers[op], (d, n)))
                i += 4
            elif op == Op.FRAME:
                frame = ops[i + 1]
                i += 2
            else:  # Op.INSTANCE
                constraints[ops[i + 2]].append((handlers[op], ops[i + 1]))
                i += 3


def _arguments(ops: list[int], i: int, strings: list[str]) -> tuple[Arguments, int]:
    count = ops[i]
    values = ops[i + 1 : i + 1 + count]
    i += 1 + count
    named_count = ops[i]
    named = [(strings[ops[j]] if ops[j] >= 0 else "", ops[j + 1]) for j in range(i + 1, i + 1 + 2 * named_count, 2)]
    spread = [(at, -value - 2) for at, value in enumerate(values) if value < -1]
    return Arguments([max(value, NOTHING) for value in values], named, spread), i + 1 + 2 * named_count
