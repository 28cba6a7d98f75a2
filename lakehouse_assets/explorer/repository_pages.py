"""The explorer's pages about repositories, runs and the API itself."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any
from urllib.parse import quote

from lakehouse_assets.explorer.asked import Asked
from lakehouse_assets.explorer.commit_pages import changed_definitions, commit_links
from lakehouse_assets.explorer.endpoints import ENDPOINTS
from lakehouse_assets.explorer.exports import FORMATS
from lakehouse_assets.explorer.frame import frame
from lakehouse_assets.explorer.holder import commit_ids
from lakehouse_assets.lake.registry import Registry
from lakehouse_assets.stories.html import Child, element
from lakehouse_assets.stories.page import badge, count, table
from lakehouse_assets.stories.records import Run
from lakehouse_assets.stories.story_page import moment


def repository_page(asked: Asked, repo: str) -> str:
    """Commits that its graph was brought to, what the last update changed, and exports."""
    (repository,) = Registry(asked.lake).get([repo])
    commits = commit_ids(asked.lake, repo)
    if not commits:
        return frame(
            repo,
            element("h1", repo),
            element("p", f"{repository.kind.replace('_', ' ')}; there is no graph of it yet."),
            element("p", element("strong", "What to do: "), element("code", f"lakehouse sync {repo}")),
        )
    found = asked.changes.diff(repo, None)
    pairs: list[list[Child]] = [
        [element("code", f"{older[:12]}..{newer[:12]}"), commit_links(repo, older, newer)]
        for newer, older in pairwise(commits[:11])
    ]
    return frame(
        repo,
        element("h1", repo),
        element("p", f"{repository.kind.replace('_', ' ')}; its graph was brought to {count(len(commits), 'commit')}."),
        element("h2", "Updates"),
        table("the latest updates, and what to ask of each", ["commits", "what"], pairs)
        if pairs
        else element("p", "There is nothing to compare before the graph is brought to a second commit."),
        element("h2", f"Definitions that the last update changed: {len(found['definitions']):,}"),
        changed_definitions(asked, repo, found["definitions"], most=100),
        element("h2", "Exports"),
        element(
            "ul",
            [
                element("li", element("a", word, href=f"/exports/{name}/{quote(repo, safe='')}", download=True))
                for name, (word, _) in FORMATS.items()
            ],
            class_="plain",
        ),
    )


def runs_page(runs: Sequence[Run]) -> str:
    rows: list[list[Child]] = [
        [
            element("a", run.run_id[:8], href=f"/runs/{run.run_id}"),
            badge(run.status),
            element("span", moment(run.started), class_="nowrap"),
            run.job,
            ", ".join(run.asked) or "no partition",
            "" if run.seconds is None else f"{run.seconds:.1f} s",
        ]
        for run in runs
    ]
    return frame(
        "Runs",
        element("h1", "Runs"),
        table("the latest runs", ["run", "ended", "started", "job", "of", "took"], rows)
        if rows
        else element("p", "None yet."),
    )


def api_page() -> str:
    """The API for people; the OpenAPI document is for programs."""
    sections: list[Child] = []
    for endpoint in ENDPOINTS:
        rows: list[list[Child]] = [
            [each.name, "path" if each.in_path else "query", element("code", _schema(each.schema)), each.description]
            for each in endpoint.parameters
        ]
        sections += [
            element("h2", element("code", f"GET {endpoint.path}")),
            element("p", endpoint.summary),
            table(f"parameters of {endpoint.path}", ["name", "in", "what", "meaning"], rows) if rows else None,
        ]
    return frame(
        "API",
        element("h1", "The questions as a JSON API"),
        element("p", "Read-only. For programs: ", element("a", "the OpenAPI document", href="/api/openapi.json"), "."),
        *sections,
    )


def error_page(subject: str, seen: str, remedy: str) -> str:
    return frame(
        subject,
        element("h1", subject),
        element(
            "section", element("p", seen), element("p", element("strong", "What to do: "), remedy), class_="problem"
        ),
    )


def _schema(schema: dict[str, Any]) -> str:
    told: str = schema["type"]
    if "enum" in schema:
        return " | ".join(schema["enum"])
    if "maximum" in schema:
        return f"{told} {schema['minimum']}…{schema['maximum']}" + (
            f", {schema['default']}" if "default" in schema else ""
        )
    return told
