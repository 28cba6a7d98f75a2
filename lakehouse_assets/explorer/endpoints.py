"""The JSON API: each endpoint with its parameters, from which requests are checked and the OpenAPI document is made."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.explorer.answers import LONGEST_PAGE, RELATIONS
from lakehouse_assets.explorer.asked import Asked

Values = dict[str, Any]


class MalformedError(BadInputError):
    """A request that the document does not allow."""


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A part of a request: a text, with its longest length or its only values, or a number within bounds."""

    name: str
    description: str
    in_path: bool = False
    required: bool = False
    one_of: tuple[str, ...] = ()
    number: tuple[int, int] | None = None
    default: int | None = None
    longest: int = 200

    @property
    def schema(self) -> dict[str, Any]:
        if self.number is not None:
            bounds = {"minimum": self.number[0], "maximum": self.number[1]}
            return {"type": "integer", **bounds, **({} if self.default is None else {"default": self.default})}
        if self.one_of:
            return {"type": "string", "enum": list(self.one_of)}
        return {"type": "string", "minLength": 1, "maxLength": self.longest}

    def read(self, text: str | None) -> str | int | None:
        """The value of a request's text; refused if the schema does not allow it."""
        if text is None:
            if self.required:
                raise self._refused("it is missing")
            return self.default
        if self.number is not None:
            low, high = self.number
            if not text.isascii() or not text.isdecimal() or len(text) > 9 or not low <= int(text) <= high:
                raise self._refused(f"{text[:40]!r} is not a whole number from {low} to {high}")
            return int(text)
        if self.one_of and text not in self.one_of:
            raise self._refused(f"{text[:40]!r} is none of {', '.join(self.one_of)}")
        if not 1 <= len(text) <= self.longest:
            raise self._refused(f"it has {len(text)} characters, and may have 1 to {self.longest}")
        return text

    def _refused(self, seen: str) -> MalformedError:
        return MalformedError(
            subject=f"parameter {self.name}",
            seen=seen,
            why="the question cannot be read",
            remedy="see /api for what it may be",
        )


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    path: str
    summary: str
    answer: Callable[[Asked, Values], Any]
    parameters: tuple[Parameter, ...] = ()
    keys: tuple[str, ...] = ()
    """What every answer has."""

    def read(self, path: Mapping[str, str], query: list[tuple[str, str]]) -> Values:
        """The values of a request. A parameter that is not known, or comes twice, is refused: it would be ignored."""
        known = {each.name: each for each in self.parameters if not each.in_path}
        given: dict[str, str] = {}
        for name, text in query:
            if name not in known or name in given:
                raise MalformedError(
                    subject=f"parameter {name[:40]!r}",
                    seen="it comes more than once" if name in given else "there is none of this name",
                    why="it would be ignored",
                    remedy=f"the parameters are {', '.join(known) or 'none'}",
                )
            given[name] = text
        return {
            each.name: each.read(path.get(each.name) if each.in_path else given.get(each.name))
            for each in self.parameters
        }


_REPO = Parameter(name="repo", description="Name of a repository.")
_IN_REPO = Parameter(name="repo", description="Name of a repository.", in_path=True, required=True)
_ID = Parameter(
    name="id", description="Id of a definition, as a search gives it.", in_path=True, required=True, longest=32
)
_AT = Parameter(name="at", description="A commit that the graph was brought to; goes with a repository.", longest=64)
_LIMIT = Parameter(name="limit", description="Items of a page.", number=(1, LONGEST_PAGE), default=50)
_OFFSET = Parameter(name="offset", description="Items to leave out.", number=(0, 10_000_000), default=0)
_STEPS = Parameter(name="steps", description="Steps from the change to follow.", number=(1, 20), default=4)
_COMMITS = Parameter(name="commits", description="A..B; without it the last update is told of.", longest=200)
_PAGE = ("total", "offset", "limit", "items")

ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        path="/api/repositories",
        summary="The registered repositories, and the commits that the graph of each was brought to.",
        answer=lambda asked, _: asked.repositories(),
        keys=("items",),
    ),
    Endpoint(
        path="/api/search",
        summary="Definitions whose qualified name has the query in it, the best first, in all repositories.",
        parameters=(
            Parameter(name="q", description="Part of a dotted name.", required=True),
            _REPO,
            Parameter(name="kind", description="Only definitions of this kind: class, function, module…", longest=40),
            _AT,
            _LIMIT,
            _OFFSET,
        ),
        answer=lambda asked, v: asked.answers.search(v.pop("q"), **v),
        keys=_PAGE,
    ),
    Endpoint(
        path="/api/symbols/{repo}/{id}",
        summary="A definition, with how many there are of each of its relations.",
        parameters=(_IN_REPO, _ID, _AT),
        answer=lambda asked, v: asked.answers.symbol(v["repo"], v["id"], at=v["at"]),
        keys=("id", "repo", "path", "kind", "qualified_name", "line", "counts"),
    ),
    Endpoint(
        path="/api/symbols/{repo}/{id}/source",
        summary="The lines of a definition, at most 400 of them.",
        parameters=(_IN_REPO, _ID, _AT, _OFFSET),
        answer=lambda asked, v: asked.sources.of_symbol(v["repo"], v["id"], at=v["at"], offset=v["offset"]),
        keys=("path", "first_line", "lines_total", "lines"),
    ),
    Endpoint(
        path="/api/symbols/{repo}/{id}/impact",
        summary="Whom a change to the definition would touch, in every repository.",
        parameters=(_IN_REPO, _ID, _STEPS),
        answer=lambda asked, v: asked.changes.impact_of_symbol(v["repo"], v["id"], limit=v["steps"]),
        keys=("callers", "importers", "files"),
    ),
    Endpoint(
        path="/api/symbols/{repo}/{id}/history",
        summary="When relationships of a definition came and went, by the commits that the graph was brought to.",
        parameters=(_IN_REPO, _ID),
        answer=lambda asked, v: asked.changes.history(v["repo"], v["id"]),
        keys=("items",),
    ),
    Endpoint(
        path="/api/symbols/{repo}/{id}/related/{relation}",
        summary="One relation of a definition: each with place, how it was found and how sure that is.",
        parameters=(
            _IN_REPO,
            _ID,
            Parameter(
                name="relation", description="Which relation.", in_path=True, required=True, one_of=tuple(RELATIONS)
            ),
            Parameter(name="confidence", description="Only of this confidence.", one_of=("certain", "likely", "guess")),
            _AT,
            _LIMIT,
            _OFFSET,
        ),
        answer=lambda asked, v: asked.answers.related(v.pop("repo"), v.pop("id"), v.pop("relation"), **v),
        keys=_PAGE,
    ),
    Endpoint(
        path="/api/repositories/{repo}/diff",
        summary="Files and definitions that changed from one commit to another.",
        parameters=(_IN_REPO, _COMMITS),
        answer=lambda asked, v: asked.changes.diff(v["repo"], v["commits"]),
        keys=("from", "to", "files", "definitions"),
    ),
    Endpoint(
        path="/api/repositories/{repo}/impact",
        summary="Whom the changes from one commit to another touch, in every repository.",
        parameters=(_IN_REPO, _COMMITS, _STEPS),
        answer=lambda asked, v: asked.changes.impact_of_commits(v["repo"], v["commits"], limit=v["steps"]),
        keys=("callers", "importers", "files"),
    ),
    Endpoint(
        path="/api/repositories/{repo}/edges",
        summary="Calls, imports, bases and references that came and went from one commit's graph to another's.",
        parameters=(_IN_REPO, _COMMITS, _LIMIT, _OFFSET),
        answer=lambda asked, v: asked.changes.edges(v["repo"], v["commits"], limit=v["limit"], offset=v["offset"]),
        keys=("from", "to", *_PAGE),
    ),
    Endpoint(
        path="/api/runs",
        summary="The latest runs.",
        answer=lambda asked, _: asked.latest_runs(),
        keys=("items",),
    ),
    Endpoint(
        path="/api/runs/{run}",
        summary="The story of a run: what it did to each table, and why.",
        parameters=(
            Parameter(
                name="run",
                description="Its id; the beginning of it is enough.",
                in_path=True,
                required=True,
                longest=64,
            ),
        ),
        answer=lambda asked, v: asked.story(v["run"]),
        keys=("run", "assets"),
    ),
)
