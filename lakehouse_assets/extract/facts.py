"""What one file's text says by itself, as columns: the same for equal bytes, wherever and under whatever name they lie.

Definitions are numbered from 0, the file itself, in order of appearance. Every other node lives in the innermost
definition around it and is numbered from 1 within it, so that (d, n) names a node of the file and an edit in one
definition leaves the numbers in all others alone. Lines of nodes are relative to their anchor for the same reason.

Rows are kept column-wise, one list a column: a Python object per node would cost more than the parse.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

Parser = Literal["ast", "tree-sitter", "none"]
Status = Literal["ok", "partial", "failed", "cut_off"]
"""`partial`: the parser recovered from errors; `failed`: nothing could be read; `cut_off`: too long or too much."""

Columns = dict[str, list[Any]]

DEF_COLUMNS = (
    "parent",
    "kind",
    "name",
    "descriptor",
    "line",
    "col",
    "end_line",
    "end_col",
    "signature",
    "signature_hash",
    "body_hash",
    "docstring",
)
NODE_COLUMNS = ("d", "n", "kind", "name", "anchor", "line", "col", "end_line", "end_col")
EDGE_COLUMNS = ("kind", "src_d", "src_n", "dst_d", "dst_n", "label")
PROP_COLUMNS = ("d", "n", "name", "value")


def no_rows(names: tuple[str, ...]) -> Columns:
    return {name: [] for name in names}


@dataclass(frozen=True, kw_only=True)
class Facts:
    """The local facts of one content. `summary` is what linking needs, as JSON-like values."""

    language: str
    parser: Parser
    status: Status
    diagnostics: tuple[str, ...] = ()
    """Each as `line:column: message`."""
    lines: int = 0
    defs: Columns = field(default_factory=lambda: no_rows(DEF_COLUMNS))
    nodes: Columns = field(default_factory=lambda: no_rows(NODE_COLUMNS))
    edges: Columns = field(default_factory=lambda: no_rows(EDGE_COLUMNS))
    props: Columns = field(default_factory=lambda: no_rows(PROP_COLUMNS))
    summary: dict[str, Any] = field(default_factory=dict[str, Any])
