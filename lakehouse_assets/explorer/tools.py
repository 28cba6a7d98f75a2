"""The graph as tools for coding assistants, over the Model Context Protocol: few, described, with small answers.

An answer has at most a page of short rows and says how to get the next. A symbol is given by its dotted name or the end
of one; if several definitions have it, the answer lists them instead of guessing.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

from lakehouse_assets import __version__
from lakehouse_assets.core.errors import LakehouseError
from lakehouse_assets.explorer.answers import Relation
from lakehouse_assets.explorer.asked import Asked

Symbol = Annotated[str, Field(description="Dotted name or the end of one, such as `Flask.run`.", max_length=200)]
Repo = Annotated[str | None, Field(description="Only this repository; needed with `at`.", max_length=200)]
At = Annotated[
    str | None, Field(description="A commit that the graph was brought to; its beginning is enough.", max_length=64)
]
Limit = Annotated[int, Field(description="Rows of a page.", ge=1, le=100)]
Offset = Annotated[int, Field(description="Rows to leave out: `next_offset` of the page before.", ge=0)]
Confidence = Annotated[Literal["certain", "likely", "guess"] | None, Field(description="Only edges that are so sure.")]

_SOURCE_LINES = 150
_READ_ONLY = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
_INSTRUCTIONS = (
    "A code property graph of git repositories. Answers tell of the last commit that the graph of each repository was "
    "brought to, or of `at`. Every edge says how it was found and how sure that is: certain, likely or guess."
)


def mcp_server(asked: Asked) -> MCPServer:
    server = MCPServer("lakehouse", version=__version__, instructions=_INSTRUCTIONS, log_level="WARNING")
    tools = Tools(asked)
    for tool in (
        tools.find_symbol,
        tools.callers,
        tools.callees,
        tools.importers,
        tools.source,
        tools.impact,
        tools.commit_diff,
    ):
        server.tool(annotations=_READ_ONLY, structured_output=True)(tool)
    return server


class Tools:
    """Each method is a tool; its docstring is what an assistant reads."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked

    def find_symbol(
        self,
        query: Annotated[str, Field(description="Part of a dotted name, in any case.", min_length=1, max_length=200)],
        repo: Repo = None,
        at: At = None,
        limit: Limit = 10,
        offset: Offset = 0,
    ) -> dict[str, Any]:
        """Find classes, functions and modules by a part of their name, the best first, in all repositories."""
        with _told():
            found = self._asked.answers.search(query, repo=repo, at=at, limit=limit, offset=offset)
        return _page(found, [_symbol(each) for each in found["items"]])

    def callers(
        self,
        symbol: Symbol,
        repo: Repo = None,
        at: At = None,
        confidence: Confidence = None,
        limit: Limit = 20,
        offset: Offset = 0,
    ) -> dict[str, Any]:
        """Who calls a function, method or class, in every repository, with file, line and confidence."""
        return self._related(symbol, "callers", repo, at, confidence, limit, offset)

    def callees(
        self,
        symbol: Symbol,
        repo: Repo = None,
        at: At = None,
        confidence: Confidence = None,
        limit: Limit = 20,
        offset: Offset = 0,
    ) -> dict[str, Any]:
        """What a function or method calls, inside the repositories and outside them."""
        return self._related(symbol, "callees", repo, at, confidence, limit, offset)

    def importers(
        self, symbol: Symbol, repo: Repo = None, at: At = None, limit: Limit = 20, offset: Offset = 0
    ) -> dict[str, Any]:
        """Who imports a module, or a name of it."""
        return self._related(symbol, "importers", repo, at, None, limit, offset)

    def source(self, symbol: Symbol, repo: Repo = None, at: At = None, offset: Offset = 0) -> dict[str, Any]:
        """The source of a definition, at most 150 lines at a time."""
        with _told():
            one = self._one(symbol, repo, at)
            if "id" not in one:
                return one
            found = self._asked.sources.of_symbol(one["repo"], one["id"], at=at, offset=offset)
        lines = found["lines"][:_SOURCE_LINES]
        rest = offset + len(lines)
        return {
            "symbol": _symbol(one),
            "first_line": found["first_line"],
            "lines_total": found["lines_total"],
            "source": "\n".join(lines),
            "next_offset": rest if rest < found["lines_total"] else None,
        }

    def impact(
        self,
        symbol: Symbol,
        repo: Repo = None,
        steps: Annotated[int, Field(description="Steps from the change to follow.", ge=1, le=6)] = 3,
        limit: Limit = 30,
        offset: Offset = 0,
    ) -> dict[str, Any]:
        """Whom a change to a definition would touch: callers, subclasses and importers, the nearest first."""
        with _told():
            one = self._one(symbol, repo, None)
            if "id" not in one:
                return one
            found = self._asked.changes.impact_of_symbol(one["repo"], one["id"], limit=steps)
        rows = [_way(row, _name(row)) for row in found["callers"]]
        rows += [_way(row, row["impacted_path"]) for row in found["importers"]]
        rows.sort(key=lambda row: row["steps"])
        more = found["more_callers"] or found["more_importers"]
        return {"symbol": _symbol(one), "more_beyond_steps": more, **_cut(rows, limit, offset)}

    def commit_diff(
        self,
        repo: Annotated[str, Field(description="Name of a repository.", max_length=200)],
        commits: Annotated[str | None, Field(description="A..B; without it the last update.", max_length=200)] = None,
        limit: Limit = 40,
        offset: Offset = 0,
    ) -> dict[str, Any]:
        """Which definitions a commit added, removed or changed, comments and layout not counted."""
        with _told():
            found = self._asked.changes.diff(repo, commits)
        rows = [
            {
                "change": row["change"],
                "what": f"{row['kind']} {row['name']}{row['signature'] or row['old_signature'] or ''}",
                "where": f"{row['path']}:{row['line'] or row['old_line']}",
            }
            for row in found["definitions"]
        ]
        return {"from": found["from"], "to": found["to"], "files": len(found["files"]), **_cut(rows, limit, offset)}

    def _related(
        self,
        symbol: str,
        relation: Relation,
        repo: str | None,
        at: str | None,
        confidence: str | None,
        limit: int,
        offset: int,
    ) -> dict[str, Any]:
        with _told():
            one = self._one(symbol, repo, at)
            if "id" not in one:
                return one
            found = self._asked.answers.related(
                one["repo"], one["id"], relation, confidence=confidence, at=at, limit=limit, offset=offset
            )
        rows = [
            {
                "name": each["symbol"]["qualified_name"] if each["symbol"] else each["external"],
                "where": f"{each['repo']}: {each['path']}:{each['line']}",
                "confidence": each["confidence"],
                "method": each["method"],
            }
            for each in found["items"]
        ]
        return {"symbol": _symbol(one), **_page(found, rows)}

    def _one(self, symbol: str, repo: str | None, at: str | None) -> dict[str, Any]:
        """The definition of this name; if it is not one, what can be said instead."""
        found = self._asked.answers.find(symbol, repo=repo, at=at)
        whole = [each for each in found if each["qualified_name"] == symbol]
        if len(whole) == 1 or len(found) == 1:
            return (whole or found)[0]
        near = found or self._asked.answers.search(symbol.rpartition(".")[2], repo=repo, at=at)["items"]
        said = (
            "several definitions have this name; give more of it, or the repository" if found else "none has this name"
        )
        return {"problem": said, "candidates": [_symbol(each) for each in near[:10]]}


def _symbol(each: dict[str, Any]) -> dict[str, Any]:
    where = f"{each['repo']}: {each['path']}:{each['line']}"
    return {"name": each["qualified_name"], "kind": each["kind"], "where": where}


def _name(row: dict[str, Any]) -> str:
    return row["symbol"] if row["definition"] is None else row["definition"]["qualified_name"]


def _way(row: dict[str, Any], who: str) -> dict[str, Any]:
    return {"who": who, "repo": row["impacted_repo"], "because": row["reason"], "steps": row["distance"]}


def _page(found: dict[str, Any], rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    rest = found["offset"] + len(rows)
    return {"total": found["total"], "next_offset": rest if rest < found["total"] else None, "items": list(rows)}


def _cut(rows: Sequence[dict[str, Any]], limit: int, offset: int) -> dict[str, Any]:
    return _page({"total": len(rows), "offset": offset}, rows[offset : offset + limit])


class _told:  # noqa: N801 -- reads as a word at its uses
    """An error of ours as the protocol's, with its remedy."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, LakehouseError):
            raise ToolError(str(error)) from error
