"""The explorer as an ASGI application: pages, the JSON API, stories, exports. Read-only."""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from lakehouse_assets.core.errors import LakehouseError, LakeStateError
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.explorer.answers import RELATIONS
from lakehouse_assets.explorer.asked import Asked, Runs, asked_of
from lakehouse_assets.explorer.change_pages import history_page, symbol_impact_page
from lakehouse_assets.explorer.commit_pages import commit_diff_page, commit_edges_page, commit_impact_page
from lakehouse_assets.explorer.endpoints import ENDPOINTS, Endpoint, MalformedError, Parameter
from lakehouse_assets.explorer.exports import FORMATS, export_file
from lakehouse_assets.explorer.frame import POLICY, SCRIPT, STORY_POLICY, STYLES
from lakehouse_assets.explorer.headers import Headers
from lakehouse_assets.explorer.openapi import document
from lakehouse_assets.explorer.pages import home, relation_page, symbol_page
from lakehouse_assets.explorer.repository_pages import api_page, error_page, repository_page, runs_page
from lakehouse_assets.stories.story_page import story_page

_RELATION = Parameter(name="relation", description="", in_path=True, required=True, one_of=tuple(RELATIONS))
_OFFSET = Parameter(name="offset", description="", number=(0, 10_000_000), default=0)
_FORMAT = Parameter(name="format", description="", in_path=True, required=True, one_of=tuple(FORMATS))


def create_app(settings: Settings, runs: Runs, *, hosts: Sequence[str] = ("localhost", "127.0.0.1")) -> Starlette:
    """The application for one lake. Requests for other hosts are refused: a page elsewhere could aim them here."""
    asked = asked_of(settings, runs)
    routes = [
        Route("/", _page(lambda r: home(asked, r.query_params.get("q", "")[:200]))),
        Route("/repositories/{repo}", _page(lambda r: repository_page(asked, r.path_params["repo"]))),
        Route("/repositories/{repo}/diff", _page(lambda r: commit_diff_page(asked, *_commits(r)))),
        Route("/repositories/{repo}/edges", _page(lambda r: commit_edges_page(asked, *_commits(r)))),
        Route("/repositories/{repo}/impact", _page(lambda r: commit_impact_page(asked, *_commits(r)))),
        Route("/symbols/{repo}/{id}", _page(lambda r: symbol_page(asked, *_symbol(r), r.query_params.get("at")))),
        Route("/symbols/{repo}/{id}/impact", _page(lambda r: symbol_impact_page(asked, *_symbol(r)))),
        Route("/symbols/{repo}/{id}/history", _page(lambda r: history_page(asked, *_symbol(r)))),
        Route("/symbols/{repo}/{id}/related/{relation}", _page(lambda r: _related(asked, r))),
        Route("/runs", _page(lambda _: runs_page(runs.latest()))),
        Route("/runs/{run}", _page(lambda r: story_page(runs.story(r.path_params["run"])), STORY_POLICY)),
        Route("/exports/{format}/{repo}", _export(asked)),
        Route("/api", _page(lambda _: api_page())),
        Route("/api/openapi.json", _openapi),
        *(Route(endpoint.path, _answer(asked, endpoint)) for endpoint in ENDPOINTS),
        Route("/static/explorer.css", _text(STYLES, "text/css")),
        Route("/static/explorer.js", _text(SCRIPT, "text/javascript")),
        Route("/health", _text("ok\n", "text/plain")),
    ]
    return Starlette(
        routes=routes,
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts)), Middleware(Headers)],
        exception_handlers={LakehouseError: _refused, HTTPException: _http_error},
    )


def _page(make: Callable[[Request], str], policy: str = POLICY) -> Callable[[Request], Response]:
    def page(request: Request) -> Response:
        return HTMLResponse(make(request), headers={"Content-Security-Policy": policy})

    return page


def _answer(asked: Asked, endpoint: Endpoint) -> Callable[[Request], Response]:
    def answer(request: Request) -> Response:
        values = endpoint.read(request.path_params, request.query_params.multi_items())
        return JSONResponse(endpoint.answer(asked, values))

    return answer


def _openapi(_: Request) -> Response:
    return JSONResponse(document())


def _text(text: str, media_type: str) -> Callable[[Request], Response]:
    def serve(_: Request) -> Response:
        return Response(text, media_type=media_type, headers={"Cache-Control": "no-cache"})

    return serve


def _export(asked: Asked) -> Callable[[Request], Response]:
    def export(request: Request) -> Response:
        name = str(_FORMAT.read(request.path_params["format"]))
        file = export_file(asked.lake, name, request.path_params["repo"])
        return FileResponse(file, filename=file.name, background=BackgroundTask(_remove, file))

    return export


def _remove(file: Path) -> None:
    shutil.rmtree(file.parent)


def _related(asked: Asked, request: Request) -> str:
    relation = _RELATION.read(request.path_params["relation"])
    offset = _OFFSET.read(request.query_params.get("offset"))
    return relation_page(
        asked,
        *_symbol(request),
        next(each for each in RELATIONS if each == relation),
        request.query_params.get("at"),
        int(offset or 0),
    )


def _commits(request: Request) -> tuple[str, str | None]:
    return request.path_params["repo"], request.query_params.get("commits")


def _symbol(request: Request) -> tuple[str, str]:
    return request.path_params["repo"], request.path_params["id"]


def _refused(request: Request, error: Exception) -> Response:
    """An error of ours, as JSON to programs and as a page to people."""
    assert isinstance(error, LakehouseError)
    match error:
        case MalformedError():
            status = 400
        case LakeStateError():
            status = 409
        case _:
            status = 404  # the question is well put, and there is nothing to answer it with
    if request.url.path.startswith("/api"):
        parts = {name: getattr(error, name) for name in ("subject", "seen", "why", "remedy")}
        return JSONResponse({"error": parts}, status_code=status)
    body = error_page(error.subject, error.seen, error.remedy)
    return HTMLResponse(body, status_code=status, headers={"Content-Security-Policy": POLICY})


def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if request.url.path.startswith("/api"):
        seen = "there is nothing at this address" if error.status_code == 404 else error.detail
        parts = {"subject": "request", "seen": seen, "why": "it cannot be answered", "remedy": "see /api"}
        return JSONResponse({"error": parts}, status_code=error.status_code, headers=error.headers)
    body = error_page(
        "Not found" if error.status_code == 404 else error.detail,
        "There is nothing at this address.",
        "search above, or go on from the links beside it",
    )
    headers = {**(error.headers or {}), "Content-Security-Policy": POLICY}
    return HTMLResponse(body, status_code=error.status_code, headers=headers)
