"""Containers and arguments: what is put together from several values."""

import ast
from typing import Any

from lakehouse_assets.extract.python.flows_names import Names
from lakehouse_assets.extract.python.flows_tables import NOTHING, SPREAD, Op

LONG_DISPLAY = 12
"""Elements from which a display is a table: its plain constants are data that no call depends on."""
KIND_NUMBERS = {ast.List: 0, ast.ListComp: 0, ast.Tuple: 1, ast.Set: 2, ast.SetComp: 2, ast.GeneratorExp: 4}


class Displays(Names):
    """Lists, tuples, sets, dicts, comprehensions, and the arguments of calls."""

    def arguments(self, args: list[Any], keywords: list[Any]) -> list[int]:
        found = [len(args)]
        for arg in args:
            if arg.__class__ is ast.Starred:
                value = self.value(arg.value)
                found.append(-(value + 2) if value >= 0 else NOTHING)
            else:
                found.append(self.key_or_value(arg))
        found.append(len(keywords))
        for keyword in keywords:
            found.append(NOTHING if keyword.arg is None else self.string(keyword.arg))
            found.append(self.key_or_value(keyword.value))
        return found

    def key_or_value(self, node: Any) -> int:
        """A value that is handed on: of constants only those are followed that may be a key or an attribute's name."""
        if node.__class__ is ast.Constant:
            value = node.value
            is_name = value.__class__ is str and value.isidentifier()
            if not is_name and not (value.__class__ is int and 0 <= value < 10):
                return NOTHING
        return self.value(node)

    def build(self, kind: int, node: Any, elements: list[int]) -> int:
        number = self.new()
        self.ops += (Op.BUILD, number, kind, node.d, node.n, len(elements) // 2)
        self.ops += elements
        return number

    def _display(self, node: Any) -> int:
        elements: list[int] = []
        spread = False
        is_long = len(node.elts) > LONG_DISPLAY
        for i, element in enumerate(node.elts):
            if is_long and element.__class__ is ast.Constant:
                continue
            if element.__class__ is ast.Starred:
                elements += (SPREAD, self.value(element.value))
                spread = True
            else:
                known = not spread and i < 1000 and node.__class__ is not ast.Set
                elements += (self.constant(i) if known else NOTHING, self.key_or_value(element))
        return self.build(KIND_NUMBERS[node.__class__], node, elements)

    def _dict(self, node: Any) -> int:
        elements: list[int] = []
        is_long = len(node.keys) > LONG_DISPLAY
        for key, value in zip(node.keys, node.values, strict=True):
            if is_long and value.__class__ is ast.Constant:
                continue
            if key is None:
                elements += (SPREAD, self.value(value))
            elif key.__class__ is ast.Constant and key.value.__class__ in (str, int):
                elements += (self.constant(key.value), self.key_or_value(value))
            else:
                self.key_or_value(key)
                elements += (NOTHING, self.key_or_value(value))
        return self.build(3, node, elements)

    def _comprehension(self, node: Any) -> int:
        for generator in node.generators:
            self.iterate(generator.iter, generator.target)
            for condition in generator.ifs:
                self.value(condition)
        if node.__class__ is ast.DictComp:
            self.value(node.key)
            return self.build(3, node, [NOTHING, self.value(node.value)])
        return self.build(KIND_NUMBERS[node.__class__], node, [NOTHING, self.value(node.elt)])

    def iterate(self, iterable: Any, target: Any) -> None:
        # A constant's `n` is an old name of its value, and nothing in it is worth following.
        source = NOTHING if iterable.__class__ is ast.Constant else self.value(iterable)
        number = NOTHING
        if source != NOTHING:
            number = self.new()
            self.ops += (Op.ITERATE, number, source, iterable.d, iterable.n)
        self.store(target, number)
