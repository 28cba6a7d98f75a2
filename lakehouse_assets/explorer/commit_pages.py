"""The explorer's pages about what commits changed: files and definitions, edges, and whom that touches."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from lakehouse_assets.explorer.asked import Asked
from lakehouse_assets.explorer.change_pages import impact_body
from lakehouse_assets.explorer.frame import frame
from lakehouse_assets.stories.html import Child, Markup, element
from lakehouse_assets.stories.page import badge, count, table

_MOST = 500
"""Rows of a table."""

_QUESTIONS = {"diff": "What changed?", "edges": "Which edges came and went?", "impact": "Whom does it touch?"}


def commit_links(repo: str, older: str, newer: str, *, but: str = "") -> Markup:
    """What can be asked of the change from one commit to another."""
    here, tail = f"/repositories/{quote(repo, safe='')}", quote(f"{older}..{newer}", safe="")
    links = [
        element("li", element("a", word, href=f"{here}/{name}?commits={tail}"))
        for name, word in _QUESTIONS.items()
        if name != but
    ]
    return element("ul", links, class_="tabs")


def commit_diff_page(asked: Asked, repo: str, commits: str | None) -> str:
    """Files and definitions that changed from one commit to another."""
    found = asked.changes.diff(repo, commits)
    files: list[list[Child]] = [
        [
            badge(row["change"].replace("_", " ")),
            row["path"],
            row["old_path"] if row["old_path"] != row["path"] else None,
        ]
        for row in found["files"]
    ]
    return _page(
        "diff",
        f"What changed in {repo}",
        found,
        element("h2", f"Files: {len(files):,}"),
        _some(files, "changed files", ["change", "file", "before"], "No file differs."),
        element("h2", f"Definitions: {len(found['definitions']):,}"),
        changed_definitions(asked, repo, found["definitions"], most=_MOST),
    )


def commit_edges_page(asked: Asked, repo: str, commits: str | None) -> str:
    """Calls, imports, bases and references that came and went from one commit's graph to another's."""
    found = asked.changes.edges(repo, commits, limit=_MOST, offset=0)
    rows: list[list[Child]] = [
        [
            badge(row["change"]),
            row["kind"],
            row["source"],
            row["target"] or "unknown",
            row["target_repo"] if row["target_repo"] != repo else None,
            row["path"],
        ]
        for row in found["items"]
    ]
    heads = ["change", "kind", "from", "to", "in", "file"]
    return _page(
        "edges",
        f"Edges that came and went in {repo}",
        found,
        element("p", f"{count(found['total'], 'edge')} changed."),
        _some(rows, "changed edges", heads, "None came and none went.", total=found["total"]),
    )


def commit_impact_page(asked: Asked, repo: str, commits: str | None) -> str:
    """Whom the change from one commit to another touches, in every repository."""
    found = asked.changes.impact_of_commits(repo, commits, limit=4)
    return _page("impact", f"Whom what changed in {repo} touches", found, impact_body(found))


def changed_definitions(asked: Asked, repo: str, rows: Sequence[dict[str, Any]], *, most: int) -> Markup:
    """What became of each definition; those that are still there lead to their pages."""
    shown: list[list[Child]] = [
        [
            badge(row["change"].replace("_", " ")),
            row["kind"],
            element("a", _name(row), href=f"/symbols/{quote(repo, safe='')}/{row['id']}")
            if row["id"] is not None and asked.answers.knows(repo, row["id"])
            else _name(row),
            f"{row['path']}:{row['line'] or row['old_line']}",
        ]
        for row in rows[:most]
    ]
    return _some(shown, "changed definitions", ["change", "kind", "name", "where"], "None.", total=len(rows))


def _name(row: dict[str, Any]) -> str:
    """A module's own name says nothing: its file does."""
    return row["path"].rpartition("/")[2] if row["kind"] == "module" else row["name"]


def _page(name: str, title: str, found: dict[str, Any], *body: Child) -> str:
    repo, older, newer = found["repo"], found["from"], found["to"]
    return frame(
        title,
        element("h1", title),
        element(
            "p", element("a", repo, href=f"/repositories/{quote(repo, safe='')}"), " ", element("code", _ends(found))
        ),
        commit_links(repo, older, newer, but=name) if older and newer else None,
        [element("p", note, class_="soft") for note in found.get("notes", ())] if name == "diff" else None,
        *body,
    )


def _ends(found: dict[str, Any]) -> str:
    return f"{(found['from'] or 'nothing')[:12]}..{(found['to'] or 'nothing')[:12]}"


def _some(rows: list[list[Child]], label: str, heads: list[str], none: str, total: int | None = None) -> Markup:
    """The first rows as a table, which says so if they are not all."""
    if not rows:
        return element("p", none)
    whole = len(rows) if total is None else total
    shown = rows[:_MOST]
    told = f"{label}: the first {len(shown):,} of {whole:,}" if whole > len(shown) else label
    return table(told, heads, shown)
