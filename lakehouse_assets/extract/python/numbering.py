"""Numbers the nodes of a Python syntax tree: definition by definition, in the order in which they are met."""

import ast

from lakehouse_assets.extract.python.limits import Deadline, Limits
from lakehouse_assets.extract.python.walk import Definition, Walk


def number(tree: ast.Module) -> tuple[list[Definition], list[int]]:
    """The definitions in order, and for each the definition around it (-1 for the module); sets `d` and `n`."""
    limits = Limits()
    walk = Walk(tree, Deadline(limits.seconds), limits.nodes)
    return [rows.node for rows in walk.definitions], [rows.parent for rows in walk.definitions]
