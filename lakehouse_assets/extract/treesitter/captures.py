"""What the queries found in a tree: definitions, calls, imports and the names that are bound, by the nodes' ids.

Invariant: a pattern looks at a node and what is near it, never at all the children of a wide one, so that a run of the
queries stays linear; what belongs together over a distance (the names of an import, a class and its bases) is brought
together by containment afterwards. Where two patterns claim a node, the earlier in the file wins.
"""

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tree_sitter import Node, QueryCursor

from lakehouse_assets.extract.treesitter.grammars import Grammar, set_timeout

LONGEST_TEXT = 120
"""Characters kept of a receiver or a name: beyond it, it names nothing that anyone looks for."""

MATCH_LIMIT = 1 << 16
"""Matches under way at once: bounds the memory of the queries on hostile text."""

WIDEST_ERROR = 5_000
"""Parts of a text that is no program at all: queries look at all later siblings of each, for nothing."""

_SPACE = re.compile(r"\s+")
_TYPE_ARGUMENTS = re.compile(r"<[^<>]*>")
_QUOTES = "\"'`<>"


@dataclass(frozen=True, kw_only=True, slots=True)
class DefinitionMark:
    pattern: int
    kind: str
    name: str | None
    container: str | None
    header_start: int
    body_start: int
    body_end: int
    doc: tuple[int, int] | None
    bases: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportPart:
    """A module, a name in one or the beginning of a module's name, where it stands in the text."""

    start: int
    end: int
    module: str | None = None
    name: str | None = None
    alias: str | None = None
    prefix: str | None = None


@dataclass(kw_only=True, slots=True)
class Marks:
    """Everything captured, by the id of the node that stands for it."""

    definitions: dict[int, DefinitionMark] = field(default_factory=dict)
    parts: set[int] = field(default_factory=set)
    """Nodes that are inside a definition what the definition is: never definitions of their own."""
    names: dict[int, set[int]] = field(default_factory=dict)
    """Nodes that are names, with the definitions that they may name."""
    calls: dict[int, tuple[int, str, str | None]] = field(default_factory=dict)
    imports: dict[int, tuple[int, int, int, str]] = field(default_factory=dict)
    """Pattern, start, end and kind."""
    import_parts: dict[tuple[int, int, str], tuple[int, ImportPart]] = field(default_factory=dict)
    """By where they stand and what they are, each with its pattern."""
    locals: dict[int, str] = field(default_factory=dict)
    bases: dict[int, str] = field(default_factory=dict)
    decorators: dict[int, str] = field(default_factory=dict)
    exports: list[tuple[int, str, str]] = field(default_factory=list)
    """Where, the name outside and the name in the file."""
    package: str | None = None
    doc: tuple[int, int] | None = None
    """The string that documents the file."""

    def ids(self) -> set[int]:
        """Nodes whose place in the numbering is asked for later."""
        wanted: set[int] = set(self.names)
        for group in (self.definitions, self.calls, self.imports, self.locals, self.bases, self.decorators):
            wanted.update(group)
        return wanted


def capture(root: Node, raw: bytes, grammar: Grammar, max_seconds: float) -> tuple[Marks, set[int], bool]:
    """The marks, the kinds of the nodes that carry them, and whether some were lost to a limit."""
    marks = Marks()
    kinds: set[int] = set()
    if root.is_error and root.child_count > WIDEST_ERROR:
        return marks, kinds, True
    cursor = QueryCursor(grammar.query, match_limit=MATCH_LIMIT)
    set_timeout(cursor, max_seconds)
    begun = time.monotonic()
    matches = cursor.matches(root)
    is_incomplete = cursor.did_exceed_match_limit or time.monotonic() - begun > max_seconds
    for pattern, found in matches:
        match = _Match(pattern, found, raw, grammar.settings[pattern])
        for capture_name, nodes in found.items():
            handler = _HANDLERS.get(capture_name)
            kind = ""
            if handler is None:
                head, _, kind = capture_name.partition(".")
                if head != "definition":
                    continue  # a helper of the capture that is named in the same match
                handler = _definition
                kinds.update(name.kind_id for name in found.get("name", ()))
            for node in nodes:
                kinds.add(node.kind_id)
                handler(marks, match, node, kind)
    for part in marks.parts:
        marks.definitions.pop(part, None)
    return marks, kinds, is_incomplete


@dataclass(frozen=True, slots=True)
class _Match:
    pattern: int
    found: Mapping[str, list[Node]]
    raw: bytes
    settings: Mapping[str, str | None]

    def node(self, name: str) -> Node | None:
        nodes = self.found.get(name)
        return nodes[0] if nodes else None

    def text(self, name: str) -> str | None:
        node = self.node(name)
        return None if node is None else text_of(node, self.raw)

    def module(self) -> str | None:
        """The module's name, or the part of it that the pattern's own expression `module` finds."""
        text = self.text("import.module")
        part = self.settings.get("module")
        if text is None or part is None:
            return text
        found = re.search(part, text)
        return found.group(1) if found else ""


def text_of(node: Node, raw: bytes) -> str:
    """A node's text on one line, without its quotes."""
    text = raw[node.start_byte : node.end_byte].decode("utf-8", "replace")
    if "string" in node.type:
        text = text.strip().strip(_QUOTES)
    elif "symbol" in node.type:
        text = text.lstrip(":")
    return _SPACE.sub(" ", text.strip())[:LONGEST_TEXT]


def _definition(marks: Marks, match: _Match, node: Node, kind: str) -> None:
    present = marks.definitions.get(node.id)
    if present is not None and present.pattern <= match.pattern:
        return
    itself = match.node("itself")
    header = match.node("header") or node
    body = match.node("body") or _body(itself) or _body(node)
    doc = match.node("doc")
    name, container = match.text("name"), match.text("container")
    if name and (separator := match.settings.get("split")):
        around, _, name = name.rpartition(separator)
        container = _TYPE_ARGUMENTS.sub("", around) or None
    marks.definitions[node.id] = DefinitionMark(
        pattern=match.pattern,
        kind=kind,
        name=name,
        container=container,
        header_start=header.start_byte,
        body_start=body.start_byte if body is not None else node.end_byte,
        body_end=body.end_byte if body is not None else node.end_byte,
        doc=None if doc is None else (doc.start_byte, doc.end_byte),
        bases=tuple(text_of(base, match.raw) for base in match.found.get("base", ())),
    )
    named = match.node("name")
    if named is not None:
        marks.names.setdefault(named.id, set()).add(node.id)
    if itself is not None and itself.id != node.id:
        marks.parts.add(itself.id)


def _body(node: Node | None) -> Node | None:
    if node is None:
        return None
    return node.child_by_field_name("body") or node.child_by_field_name("value")


def _call(marks: Marks, match: _Match, node: Node, _kind: str) -> None:
    name = match.text("call.name")
    present = marks.calls.get(node.id)
    if name and (present is None or match.pattern < present[0]):
        marks.calls[node.id] = (match.pattern, name, match.text("call.receiver"))


def _import(marks: Marks, match: _Match, node: Node, _kind: str) -> None:
    present = marks.imports.get(node.id)
    if present is None or match.pattern < present[0]:
        kind = match.settings.get("kind") or "import"
        marks.imports[node.id] = (match.pattern, node.start_byte, node.end_byte, kind)


def _import_module(marks: Marks, match: _Match, node: Node, _kind: str) -> None:
    if "import.name" not in match.found:  # else the name brings its module along
        alias = match.text("import.alias")
        part = ImportPart(start=node.start_byte, end=node.end_byte, module=match.module(), alias=alias)
        _keep_part(marks, match, "module", part)


def _import_name(marks: Marks, match: _Match, node: Node, _kind: str) -> None:
    name = match.settings.get("name") or text_of(node, match.raw)
    alias = match.text("import.alias")
    module = match.module()
    part = ImportPart(start=node.start_byte, end=node.end_byte, module=module, name=name, alias=alias)
    _keep_part(marks, match, "name", part)


def _import_prefix(marks: Marks, match: _Match, node: Node, _kind: str) -> None:
    group = match.node("import.group")
    if group is not None:
        part = ImportPart(start=group.start_byte, end=group.end_byte, prefix=text_of(node, match.raw))
        _keep_part(marks, match, "prefix", part)


def _keep_part(marks: Marks, match: _Match, role: str, part: ImportPart) -> None:
    place = (part.start, part.end, role)
    present = marks.import_parts.get(place)
    if present is None or match.pattern < present[0]:
        marks.import_parts[place] = (match.pattern, part)


def _export(marks: Marks, match: _Match, node: Node, _kind: str) -> None:
    local = text_of(node, match.raw)
    outside = match.settings.get("name") or match.text("export.alias") or local
    marks.exports.append((node.start_byte, outside, local))


def _package(marks: Marks, match: _Match, node: Node, _kind: str) -> None:
    if marks.package is None:
        marks.package = text_of(node, match.raw)


def _file_doc(marks: Marks, _match: _Match, node: Node, _kind: str) -> None:
    marks.doc = node.byte_range


def _local(marks: Marks, match: _Match, node: Node, _kind: str) -> None:
    marks.locals[node.id] = text_of(node, match.raw)


def _base(marks: Marks, match: _Match, node: Node, _kind: str) -> None:
    if not any(name.startswith("definition.") for name in match.found):  # else the definition has it
        marks.bases[node.id] = text_of(node, match.raw)


def _decorator(marks: Marks, match: _Match, node: Node, _kind: str) -> None:
    marks.decorators[node.id] = text_of(node, match.raw)


_HANDLERS: Mapping[str, Callable[[Marks, _Match, Node, str], None]] = {
    "call": _call,
    "import": _import,
    "import.module": _import_module,
    "import.name": _import_name,
    "import.prefix": _import_prefix,
    "export.name": _export,
    "package": _package,
    "file.doc": _file_doc,
    "local": _local,
    "base": _base,
    "decorator": _decorator,
}

CAPTURES = frozenset(_HANDLERS) | {
    "name",
    "container",
    "itself",
    "header",
    "body",
    "doc",
    "call.name",
    "call.receiver",
    "import.alias",
    "import.group",
    "export.alias",
}
"""Every capture that a query file may use, besides `definition.<kind>`."""
