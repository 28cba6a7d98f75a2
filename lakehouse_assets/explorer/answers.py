"""Answers about symbols, as values that JSON has: what the pages, the API and the tools for assistants all show."""

import re
from collections.abc import Sequence
from typing import Any, Literal, get_args

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.explorer.holder import Indexes
from lakehouse_assets.explorer.index import Index

Relation = Literal[
    "callers",
    "callees",
    "importers",
    "imports",
    "bases",
    "subclasses",
    "overrides",
    "overriders",
    "references",
    "members",
]
RELATIONS: tuple[Relation, ...] = get_args(Relation)

_INCOMING: dict[str, tuple[str, ...]] = {
    "callers": ("CALL",),
    "importers": ("IMPORT",),
    "subclasses": ("INHERITS",),
    "overriders": ("OVERRIDES",),
    "references": ("REF", "CALL", "IMPORT", "INHERITS"),
}
OUTGOING: dict[str, tuple[str, ...]] = {
    "callees": ("CALL",),
    "imports": ("IMPORT",),
    "bases": ("INHERITS",),
    "overrides": ("OVERRIDES",),
}
LONGEST_PAGE = 500
_BITS = (1 << 64) - 1


class Answers:
    """Questions about the graph now, or of one repository at a commit (`at`)."""

    def __init__(self, indexes: Indexes) -> None:
        self.indexes = indexes

    def search(
        self,
        query: str,
        *,
        repo: str | None = None,
        kind: str | None = None,
        at: str | None = None,
        limit: int = 20,
        offset: int = 0,
    ) -> dict[str, Any]:
        """Definitions whose qualified name has the query in it, the best first."""
        index = self.index(repo, at)
        found = index.names.search(query, repo=repo, kind=kind)
        return page_of(briefs(index, found[offset : offset + limit]), len(found), limit, offset)

    def symbol(self, repo: str, symbol_id: str, *, at: str | None = None) -> dict[str, Any]:
        """A definition, with how many there are of each of its relations."""
        index = self.index(repo, at)
        number = self.number(index, repo, symbol_id)
        told = index.definition(number)
        inside = told["parent"]
        return {
            **brief(index, number),
            "symbol": told["symbol"],
            "docstring": told["docstring"],
            "language": index.blobs.get((repo, told["path"]), ("", None))[1],
            "inside": brief(index, inside) if inside >= 0 else None,
            "counts": {name: len(self._places(index, number, name)) for name in RELATIONS},
        }

    def related(
        self,
        repo: str,
        symbol_id: str,
        relation: Relation,
        *,
        confidence: str | None = None,
        at: str | None = None,
        limit: int = 50,
        offset: int = 0,
    ) -> dict[str, Any]:
        """One relation of a definition, in the order of file and line, with how each was found and how sure it is."""
        index = self.index(repo, at)
        number = self.number(index, repo, symbol_id)
        places = self._places(index, number, relation, confidence)
        shown = places[offset : offset + limit]
        if relation == "members":
            return page_of([{"symbol": each} for each in briefs(index, shown)], len(places), limit, offset)
        return page_of(_told(index, shown, outgoing=relation in OUTGOING), len(places), limit, offset)

    def find(self, text: str, *, repo: str | None = None, at: str | None = None) -> list[dict[str, Any]]:
        """Definitions that a dotted name, or the end of one, names exactly."""
        index = self.index(repo, at)
        wanted = text.strip().lower()
        found = briefs(index, index.names.search(wanted, repo=repo))
        return [
            each
            for each in found
            if each["qualified_name"].lower() == wanted or each["qualified_name"].lower().endswith(f".{wanted}")
        ]

    def index(self, repo: str | None, at: str | None) -> Index:
        if at is None:
            index = self.indexes.newest()
            if repo is not None:
                index.graph.require(repo)
            return index
        if repo is None:
            raise BadInputError(
                subject=f"commit {at!r}",
                seen="no repository is named with it",
                why="a commit is one of a repository's",
                remedy="name the repository as well",
            )
        return self.indexes.at(repo, at)

    def number(self, index: Index, repo: str, symbol_id: str) -> int:
        number = _number(index, repo, symbol_id)
        if number is None:
            raise BadInputError(
                subject=f"symbol {symbol_id} of {repo}",
                seen="no definition has this id",
                why="there is nothing to answer for",
                remedy="search for its name: the id follows from the symbol, and it may have moved or be gone",
            )
        return number

    def knows(self, repo: str, symbol_id: str) -> bool:
        """Whether the newest graph has this definition."""
        return _number(self.indexes.newest(), repo, symbol_id) is not None

    def _places(self, index: Index, number: int, relation: Relation, confidence: str | None = None) -> Sequence[int]:
        """Numbers of the members, or places of the links of any other relation."""
        if relation == "members":
            return index.members(number)
        if relation in OUTGOING:
            return index.outgoing(number, OUTGOING[relation], confidence).tolist()
        return index.incoming(number, _INCOMING[relation], confidence).tolist()


_BRIEF = ("repo", "path", "kind", "name", "qualified_name", "line", "end_line", "signature", "def_id")


def briefs(index: Index, numbers: Sequence[int]) -> list[dict[str, Any]]:
    """What names each definition and says where it is. The id is text: a JSON reader may not keep 64 bits."""
    return [{"id": id_text(row.pop("def_id")), **row} for row in index.told(numbers, _BRIEF)]


def brief(index: Index, number: int) -> dict[str, Any]:
    return briefs(index, [number])[0]


def _told(index: Index, places: Sequence[int], *, outgoing: bool) -> list[dict[str, Any]]:
    """Links with the definition at their other end, and where they stand."""
    links = index.links_at(places)
    sources = index.told([link["source"] for link in links], ("repo", "path"))
    others = [link["target" if outgoing else "source"] for link in links]
    known = iter(briefs(index, [number for number in others if number >= 0]))
    return [
        {
            "symbol": next(known) if other >= 0 else None,
            **{name: link[name] for name in ("external", "kind", "line", "method", "confidence")},
            **source,
        }
        for link, source, other in zip(links, sources, others, strict=True)
    ]


def _number(index: Index, repo: str, symbol_id: str) -> int | None:
    if re.fullmatch("[0-9a-f]{16}", symbol_id) is None:
        return None
    unsigned = int(symbol_id, 16)
    return index.numbers.get((repo, unsigned - (1 << 64) if unsigned >> 63 else unsigned))


def id_text(def_id: int) -> str:
    return f"{def_id & _BITS:016x}"


def page_of(items: list[Any], total: int, limit: int, offset: int) -> dict[str, Any]:
    return {"total": total, "offset": offset, "limit": limit, "items": items}
