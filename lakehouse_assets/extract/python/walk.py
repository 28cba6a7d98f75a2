"""The one walk over a file's tree: numbers its nodes, and writes them down by definition, column by column.

Every node gets two attributes, `d` (its definition) and `n` (its number in it; 0 is the definition itself); constants
have `number` instead of `n`, which CPython holds to be their value. What it shares between trees (contexts, operators)
gets none. Rows of a definition are in the order of `n`, so that a row's place is its number, and its AST edge needs
the parent's number and the field only.

Besides, each definition gets its events: statements, handlers and cases, each followed by the names that its own
expressions use and bind, in the order of evaluation. Control flow and data flow read these and not the tree.
"""

import ast
from typing import Any

from lakehouse_assets.extract.python import syntax
from lakehouse_assets.extract.python.hashes import fingerprints
from lakehouse_assets.extract.python.limits import Deadline, LimitReachedError
from lakehouse_assets.extract.python.rows import Rows
from lakehouse_assets.extract.python.syntax import (
    ATTRIBUTE,
    CALL,
    CONSTANT,
    DEFINITION,
    EVENT,
    LONGEST_NAME,
    NAME,
    SHAPES,
    WITHOUT_POSITION,
    YIELD,
)

Definition = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
MOST_LEVELS = 100
"""How deep definitions may be nested: the name of each tells all that are around it."""
Waiting = list[tuple[Any, int, str]]
"""Nodes still to be numbered, each with its parent's number and the field it is in; the next one last."""


class Walk:
    """Definitions of one file in the order of appearance, each with its rows."""

    def __init__(self, tree: ast.Module, deadline: Deadline, most_nodes: int) -> None:
        self.definitions: list[Rows] = []
        self._deadline = deadline
        self._most_nodes = most_nodes
        self._nodes = 0
        self._level = 0
        self._module(tree)

    def _open(self, node: Any, parent: int, source: int, label: str) -> Rows:
        d = len(self.definitions)
        node.d, node.n = d, 0
        rows = Rows(node=node, d=d, parent=parent, source=source, label=label)
        self.definitions.append(rows)
        return rows

    def _module(self, tree: ast.Module) -> None:
        rows = self._open(tree, -1, 0, "")
        for statement in self._docstring(rows, rows.events, tree.body):
            self._statement(rows, statement)
        self._close(rows)

    def _statement(self, rows: Rows, statement: ast.stmt) -> None:
        at = len(rows.kinds)
        base = statement.lineno
        self._go(rows, rows.events, [(statement, 0, "body")], base)
        if len(rows.kinds) > at:  # a definition has rows of its own
            rows.lines[at] += base
            rows.end_lines[at] += base
            rows.statements.append(at)

    def _docstring(self, rows: Rows, events: list[Any], body: list[ast.stmt]) -> list[ast.stmt]:
        """The statements behind the docstring, whose rows are written."""
        match body:
            case [ast.Expr(value=ast.Constant(value=str() as text)) as first, *_]:
                pass
            case _:
                rows.body_at = len(rows.kinds)
                return body
        rows.docstring = text
        extras, literals = len(rows.extras), len(rows.long_literals)
        if rows.parent < 0:
            self._statement(rows, first)
        else:
            self._go(rows, events, [(first, 0, "body")], rows.node.lineno)
        del rows.extras[extras:], rows.long_literals[literals:]
        rows.body_at = len(rows.kinds)
        return body[1:]

    def _definition(self, node: Any, outer: Rows, events: list[Any], source: int, label: str) -> None:
        self._level += 1
        if self._level > MOST_LEVELS:
            raise LimitReachedError(f"has definitions nested more than {MOST_LEVELS} levels deep")
        rows = self._open(node, outer.d, source, label)
        base = node.lineno
        is_class = node.__class__ is ast.ClassDef
        head: Waiting = []
        if node.__class__ is not ast.Lambda:
            events.append(node)
            head += [(child, 0, "decorator_list") for child in node.decorator_list]
            head += [(child, 0, "type_params") for child in getattr(node, "type_params", ())]
        if is_class:
            head += [(child, 0, "bases") for child in node.bases]
            head += [(child, 0, "keywords") for child in node.keywords]
        elif getattr(node, "returns", None) is not None:
            head.append((node.returns, 0, "returns"))
        self._go(rows, events, head[::-1], base)
        rows.defaults_at = rows.defaults_end = len(rows.kinds)
        rows.signature_extras = len(rows.extras)
        if not is_class:
            self._parameters(rows, events, node.args, base)
        outer.yields |= rows.yields  # what is in the head is evaluated around the definition
        rows.yields = False
        if node.__class__ is ast.Lambda:
            rows.body_at = rows.defaults_end
            self._go(rows, rows.events, [(node.body, 0, "body")], base)
        else:
            body = self._docstring(rows, rows.events, node.body)
            self._go(rows, rows.events, [(child, 0, "body") for child in reversed(body)], base)
        self._close(rows)
        self._level -= 1
        # A lambda is part of what its surroundings do; a class or function is only there, under its name.
        inside = f"{rows.signature_hash} {rows.body_hash}" if node.__class__ is ast.Lambda else node.name
        at = len(outer.kinds)
        outer.extras.append(f"{at - outer.body_at} {source and at - source} {label} {node.__class__.__name__} {inside}")

    def _close(self, rows: Rows) -> None:
        rows.add_exit()
        rows.signature_hash, rows.body_hash = fingerprints(rows)

    def _parameters(self, rows: Rows, events: list[Any], args: ast.arguments, base: int) -> None:
        """Default values last: they are what callers see least of, and are told apart from the signature."""
        at = len(rows.kinds)
        head: Waiting = [(args, 0, "args")]
        head += [(child, at, "posonlyargs") for child in args.posonlyargs]
        head += [(child, at, "args") for child in args.args]
        if args.vararg is not None:
            head.append((args.vararg, at, "vararg"))
        head += [(child, at, "kwonlyargs") for child in args.kwonlyargs]
        if args.kwarg is not None:
            head.append((args.kwarg, at, "kwarg"))
        self._go(rows, events, head[::-1], base)
        rows.defaults_at = len(rows.kinds)
        rows.extras.append(f"{len(args.defaults)} {[value is not None for value in args.kw_defaults]}")
        rows.signature_extras = len(rows.extras)
        defaults: Waiting = [(child, at, "defaults") for child in args.defaults]
        defaults += [(child, at, "kw_defaults") for child in args.kw_defaults if child is not None]
        self._go(rows, events, defaults[::-1], base)
        rows.defaults_end = len(rows.kinds)

    def _go(self, rows: Rows, events: list[Any], waiting: Waiting, base: int) -> None:
        """Numbers what waits and everything below. This is where the time goes: no calls and no objects per node."""
        if not waiting:
            return
        self._deadline.check()
        shapes = SHAPES
        d = rows.d
        start = n = len(rows.kinds)
        stop = start + self._most_nodes - self._nodes
        add_kind, add_name = rows.kinds.append, rows.names.append
        add_line, add_col = rows.lines.append, rows.cols.append
        add_end_line, add_end_col = rows.end_lines.append, rows.end_cols.append
        add_source, add_label = rows.sources.append, rows.labels.append
        add_event, add_extra = events.append, rows.extras.append
        push, pop = waiting.append, waiting.pop
        node, source, label = pop()
        while True:
            kind, treatment, last_first, name_of = shapes[node.__class__]
            if treatment == DEFINITION:
                self._definition(node, rows, events, source, label)
                if not waiting:
                    break
                node, source, label = pop()
                continue
            node.d = d
            if treatment == CONSTANT:
                node.number = n
            else:
                node.n = n
            add_kind(kind)
            add_source(source)
            add_label(label)
            if treatment != WITHOUT_POSITION:
                add_line(node.lineno - base)
                add_col(node.col_offset)
                add_end_line(node.end_lineno - base)
                add_end_col(node.end_col_offset)
            if treatment == NAME:
                add_name(node.id)
                add_event(node)
            elif treatment == ATTRIBUTE:
                add_name(node.attr)
                source = n
                n += 1
                node = node.value
                label = "value"
                continue
            elif treatment == CONSTANT:
                value = node.value
                if value.__class__ is str and len(value) <= LONGEST_NAME:
                    add_name(repr(value))
                else:
                    text = syntax.literal(value)
                    add_name(text)
                    if text[-1] == "…":
                        is_text = isinstance(value, str | bytes)
                        add_extra(value if is_text else hex(value))
                        if is_text:
                            rows.long_literals.append((n, value))
            elif treatment == CALL:
                add_name(None)
                for child in reversed(node.keywords):
                    push((child, n, "keywords"))
                for child in reversed(node.args):
                    push((child, n, "args"))
                source = n
                n += 1
                node = node.func
                label = "func"
                continue
            else:
                add_name(name_of(node) if name_of is not None else None)
                if treatment == EVENT:
                    add_event(node)
                elif treatment == WITHOUT_POSITION:
                    line, col, end_line, end_col = _span(node, rows)
                    add_line(line - base)
                    add_col(col)
                    add_end_line(end_line - base)
                    add_end_col(end_col)
                    if node.__class__ is ast.match_case:
                        add_event(node)
                    elif node.__class__ is ast.arguments:
                        last_first = ()
                elif treatment == YIELD:
                    rows.yields = True
                for name in last_first:
                    value = getattr(node, name)
                    if value.__class__ is list:
                        for child in reversed(value):
                            if child is not None:
                                push((child, n, name))
                    elif value is not None:
                        push((value, n, name))
            n += 1
            if n > stop:
                raise LimitReachedError(f"has more than {self._most_nodes} nodes")
            if not waiting:
                break
            node, source, label = pop()
        self._nodes += n - start


def _span(node: Any, rows: Rows) -> tuple[int, int, int, int]:
    """From the first to the last of the children; parameters that are none stand where their definition begins."""
    first: Any
    last: Any
    match node:
        case ast.comprehension():
            first, last = node.target, node.ifs[-1] if node.ifs else node.iter
        case ast.withitem():
            first, last = node.context_expr, node.optional_vars or node.context_expr
        case ast.match_case():
            first, last = node.pattern, node.body[-1]
        case _:
            parts = [*node.posonlyargs, *node.args, node.vararg, *node.kwonlyargs, node.kwarg]
            given = [part for part in parts if part is not None]
            if not given:
                line, col = rows.node.lineno, rows.node.col_offset
                return line, col, line, col
            ends = [given[-1], *node.defaults[-1:], *[value for value in node.kw_defaults if value is not None]]
            first, last = given[0], max(ends, key=lambda part: (part.end_lineno, part.end_col_offset))
    return first.lineno, first.col_offset, last.end_lineno, last.end_col_offset
