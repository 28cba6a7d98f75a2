"""Numbers the nodes of a Python syntax tree: definition by definition, in the order of the text.

Every node of the graph gets two attributes, `d` (its definition) and `n` (its number in it; 0 is the definition
itself). What CPython shares between trees (contexts, operators) gets none: operators are told by their parent.
"""

import ast

Definition = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

NOT_NODES = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.type_ignore)


def number(tree: ast.Module) -> tuple[list[Definition], list[int]]:
    """The definitions in order, and for each the definition around it (-1 for the module)."""
    definitions: list[Definition] = [tree]
    parents: list[int] = [-1]
    counts: list[int] = [1]
    tree.d, tree.n = 0, 0  # pyright: ignore[reportAttributeAccessIssue]
    # A stack instead of recursion: generated code nests deeper than Python's own limit.
    waiting: list[tuple[ast.AST, int]] = [(child, 0) for child in reversed(list(ast.iter_child_nodes(tree)))]
    while waiting:
        node, d = waiting.pop()
        if isinstance(node, NOT_NODES):
            continue
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            parents.append(d)
            d = len(definitions)
            definitions.append(node)
            counts.append(1)
            node.d, node.n = d, 0  # pyright: ignore[reportAttributeAccessIssue]
        else:
            node.d, node.n = d, counts[d]  # pyright: ignore[reportAttributeAccessIssue]
            counts[d] += 1
        waiting.extend((child, d) for child in reversed(list(ast.iter_child_nodes(node))))
    return definitions, parents
