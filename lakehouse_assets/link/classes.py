"""Classes across files: bases, the order in which a class's attributes are looked up, and who overrides what."""

from typing import NamedTuple

from lakehouse_assets.link.imports import Imports, Thing
from lakehouse_assets.link.keys import PART
from lakehouse_assets.link.units import Name

UNKNOWN: Thing = ("?",)
"""A base that cannot be told."""
_WITHOUT_METHODS = frozenset(
    {
        "<builtin>.object",
        "abc.ABC",
        "typing.Generic",
        "typing.Protocol",
        "typing_extensions.Protocol",
        "typing_extensions.Generic",
    }
)
"""Bases outside that bring nothing one would call."""


class Order(NamedTuple):
    """A method resolution order: classes ("c", path, descriptor), outside ones ("x", name), unknown ones."""

    classes: tuple[Thing, ...]
    is_consistent: bool
    """False where Python would refuse the class; then bases are taken depth first."""


class Member(NamedTuple):
    """Where an attribute was found: its class and what it is bound to there."""

    path: str
    descriptor: str
    name: Name


class Classes:
    """Resolves classes against a world; every answer notes what was read."""

    def __init__(self, imports: Imports) -> None:
        self.imports = imports
        self.world = imports.world

    def bases(self, path: str, descriptor: str) -> tuple[Thing, ...]:
        return self.world.derived(("bases", path, descriptor), (), self._bases, path, descriptor)

    def _bases(self, path: str, descriptor: str) -> tuple[Thing, ...]:
        said = self.world.fact("class", path, descriptor)
        found: list[Thing] = []
        for reference in said[0] if said else ():
            led = self.imports.reference(path, reference).things if reference else ()
            # `class A(A)` names an earlier A: a class is never its own base.
            fit = [thing for thing in led if thing[0] in "cx" and thing != ("c", path, descriptor)]
            found.append(fit[0] if fit else UNKNOWN)
        return tuple(found)

    def metaclass(self, path: str, descriptor: str) -> Thing | None:
        """The first metaclass in the class's order that is one of the repository's."""
        for entry in self.order(path, descriptor).classes:
            if entry[0] == "c":
                said = self.world.fact("class", entry[1], entry[2])
                if said and said[1]:
                    for thing in self.imports.reference(entry[1], said[1]).things:
                        if thing[0] == "c":
                            return thing
        return None

    def order(self, path: str, descriptor: str) -> Order:
        circle = Order((("c", path, descriptor),), False)
        return self.world.derived(("order", path, descriptor), circle, self._order, path, descriptor)

    def _order(self, path: str, descriptor: str) -> Order:
        own: Thing = ("c", path, descriptor)
        bases = self.bases(path, descriptor)
        orders: list[list[Thing]] = []
        consistent = True
        for base in bases:
            if base[0] == "c":
                above = self.order(base[1], base[2])
                consistent = consistent and above.is_consistent
                orders.append(list(above.classes))
            else:
                orders.append([base])
        merged = orders[0] if len(orders) == 1 else _merged([*orders, list(bases)])
        if merged is None or own in merged:
            consistent = False
            merged = [entry for order in orders for entry in order if entry != own]
        return Order(tuple(dict.fromkeys([own, *merged])), consistent)

    def member(self, path: str, descriptor: str, name: str) -> Name | None:
        return self.world.fact("member", path, f"{descriptor}{PART}{name}")

    def lookup(self, path: str, descriptor: str, name: str, after: Thing | None = None) -> Member | str | None:
        """The first class in the order that has the attribute; else the dotted name it would have in a base outside.

        `after` starts the search behind that class, as `super()` does.
        """
        key = ("lookup", path, descriptor, name, after)
        return self.world.derived(key, None, self._lookup, path, descriptor, name, after)

    def _lookup(self, path: str, descriptor: str, name: str, after: Thing | None) -> Member | str | None:
        entries = self.order(path, descriptor).classes
        if after is not None:
            entries = entries[entries.index(after) + 1 :] if after in entries else ()
        outside: str | None = None
        for entry in entries:
            if entry[0] == "c":
                found = self.member(entry[1], entry[2], name)
                if found is not None:
                    return Member(entry[1], entry[2], found)
            elif entry[0] == "x" and outside is None and entry[1] not in _WITHOUT_METHODS:
                outside = f"{entry[1]}.{name}"
        return outside


def _merged(lists: list[list[Thing]]) -> list[Thing] | None:
    """C3: the first head that is in no other's tail, again and again; None if there is none."""
    waiting = [entries for entries in lists if entries]
    result: list[Thing] = []
    while waiting:
        for entries in waiting:
            head = entries[0]
            if head == UNKNOWN or not any(head in others[1:] for others in waiting):
                break
        else:
            return None
        result.append(head)
        waiting = [rest for rest in ([e for e in entries if e != head] for entries in waiting) if rest]
    return result
