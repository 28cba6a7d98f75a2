"""One definition's nodes as columns, as the walk fills them and the later passes read them."""

import ast
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True, kw_only=True)
class Rows:
    """One definition's nodes, itself first; lines are relative to it (in the module: to the statement around them)."""

    node: Any
    d: int
    parent: int
    source: int
    """Number, in the parent's definition, of the node that the definition hangs on."""
    label: str
    kinds: list[str] = field(default_factory=list)
    names: list[str | None] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    cols: list[int] = field(default_factory=list)
    end_lines: list[int] = field(default_factory=list)
    end_cols: list[int] = field(default_factory=list)
    sources: list[int] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    statements: list[int] = field(default_factory=list)
    """Numbers of the module's own statements: what lines of the nodes in them are counted from."""
    extras: list[str | bytes] = field(default_factory=list)
    """What the rows don't show but a fingerprint needs: long literals, nested definitions and where they stand."""
    long_literals: list[tuple[int, str | bytes]] = field(default_factory=list)
    """Texts that a node's name cannot hold, with their nodes' numbers."""
    events: list[Any] = field(default_factory=list)
    yields: bool = False
    docstring: str | None = None
    defaults_at: int = 1
    """First row of the parameters' default values."""
    defaults_end: int = 1
    body_at: int = 1
    """First row of the body, behind the docstring's."""
    signature_extras: int = 0
    """How many extras belong to the rows before the defaults."""
    signature_hash: str = ""
    body_hash: str = ""

    def __post_init__(self) -> None:
        node = self.node
        self.kinds.append(node.__class__.__name__)
        self.names.append(getattr(node, "name", None))
        is_module = node.__class__ is ast.Module
        self.lines.append(0)
        self.cols.append(0 if is_module else node.col_offset)
        self.end_lines.append(0 if is_module else node.end_lineno - node.lineno)
        self.end_cols.append(0 if is_module else node.end_col_offset)
        self.sources.append(self.source)
        self.labels.append(self.label)

    def add_exit(self) -> None:
        """The node where control leaves the definition; it stands nowhere in the text."""
        for column, value in (
            (self.kinds, "EXIT"),
            (self.names, None),
            (self.lines, 0),
            (self.cols, 0),
            (self.end_lines, 0),
            (self.end_cols, 0),
            (self.sources, 0),
            (self.labels, "exit"),
        ):
            column.append(value)  # pyright: ignore[reportArgumentType]


def number_of(node: Any) -> int:
    """The number of a node that may be a constant."""
    return node.number if node.__class__ is ast.Constant else node.n


def parameters(node: Any) -> list[ast.arg]:
    """Those of a function or lambda in the order of the text; none of anything else."""
    if node.__class__ is ast.Module or node.__class__ is ast.ClassDef:
        return []
    args: ast.arguments = node.args
    found = [*args.posonlyargs, *args.args, args.vararg, *args.kwonlyargs, args.kwarg]
    return [arg for arg in found if arg is not None]
