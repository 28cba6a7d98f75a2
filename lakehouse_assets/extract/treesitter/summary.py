"""What linking needs to know of a file, as JSON-like values. All of it is to be matched by name."""

import bisect
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from lakehouse_assets.extract.treesitter.captures import ImportPart, Marks
from lakehouse_assets.extract.treesitter.definitions import Named
from lakehouse_assets.extract.treesitter.grammars import Grammar
from lakehouse_assets.extract.treesitter.walk import Walked

_TYPE_ARGUMENTS = re.compile(r"[<(\[{].*|\s.*", re.DOTALL)


def summarize(walked: Walked, marks: Marks, named: Sequence[Named], grammar: Grammar) -> dict[str, Any]:
    """See `bases_of` and `_imports` for what is brought together; the rest is as the queries found it."""
    d, n = walked.d, walked.n
    calls = [(row, call) for node_id, call in marks.calls.items() if (row := walked.row_of.get(node_id)) is not None]
    calls.sort()
    return {
        "form": "names",
        "language": grammar.language,
        "package": marks.package,
        "members_in_scope": grammar.members_in_scope,
        "definitions": [[at, one.name, one.kind, one.container] for at, one in enumerate(named) if at],
        "calls": [[d[row], n[row], name, receiver] for row, (_, name, receiver) in calls],
        "imports": _imports(walked, marks, grammar),
        "bases": [[at, base] for at, bases in bases_of(walked, marks) for base in bases],
        "exports": _exports(marks),
    }


def bases_of(walked: Walked, marks: Marks) -> list[tuple[int, list[str]]]:
    """Definitions with the types that they extend, without type arguments, in the order of the text."""
    found: dict[int, list[str]] = {}
    for d, node_id in enumerate(walked.definition_ids[1:], start=1):
        if marks.definitions[node_id].bases:
            found[d] = list(marks.definitions[node_id].bases)
    for row, base in sorted(
        (row, base) for node_id, base in marks.bases.items() if (row := walked.row_of.get(node_id))
    ):
        found.setdefault(walked.d[row], []).append(base)
    return [(d, plain) for d, bases in sorted(found.items()) if (plain := _plain(bases))]


def _plain(types: list[str]) -> list[str]:
    return [one for one in dict.fromkeys(_TYPE_ARGUMENTS.sub("", text) for text in types) if one]


def _exports(marks: Marks) -> list[list[str]]:
    """Names outside and in the file. What is the default is so by this name alone, though it has another."""
    found: dict[tuple[int, str], str] = {}
    for start, outside, local in marks.exports:
        if found.get((start, local)) != "default":
            found[start, local] = outside
    return [[outside, local] for (_, local), outside in sorted(found.items())]


def _imports(walked: Walked, marks: Marks, grammar: Grammar) -> list[list[Any]]:
    """A row per statement and module: place, module, names with their aliases, the module's alias, kind."""
    statements = sorted(
        (row, start, end, kind)
        for node_id, (_, start, end, kind) in marks.imports.items()
        if (row := walked.row_of.get(node_id)) is not None
    )
    parts = sorted((part for _, part in marks.import_parts.values()), key=lambda part: (part.start, -part.end))
    starts = [part.start for part in parts]
    rows: list[list[Any]] = []
    for row, start, end, kind in statements:
        own = parts[bisect.bisect_left(starts, start) : bisect.bisect_left(starts, end)]
        for module, taken in _modules(own, grammar.separator).items():
            rows.append([walked.d[row], walked.n[row], module, taken.names, taken.alias, kind])
    return rows


@dataclass(slots=True)
class _Taken:
    names: list[list[str | None]] = field(default_factory=list)
    alias: str | None = None


def _modules(parts: list[ImportPart], separator: str) -> dict[str, _Taken]:
    """The modules of one statement with what is taken from each, nested groups spelled out."""
    around: list[ImportPart] = []
    whole: dict[str, str | None] = {}
    names: list[tuple[str, str | None, str | None]] = []
    for part in parts:
        while around and around[-1].end < part.end:
            around.pop()
        if part.prefix is not None:
            around.append(part)
            continue
        module = separator.join(piece for piece in (*(group.prefix for group in around), part.module) if piece)
        if part.name is None:
            whole[module] = whole.get(module) or part.alias
        else:
            names.append((module, part.name, part.alias))
    first = next(iter(whole), "")
    modules: dict[str, _Taken] = {}
    for module, alias in whole.items():
        if alias is not None or not names or len(whole) > 1:
            modules[module] = _Taken(alias=alias)
    for module, name, alias in names:
        modules.setdefault(module or first, _Taken()).names.append([name, alias])
    return modules
