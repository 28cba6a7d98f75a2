"""The explorer's pages about change: whom it touches, and which commits added or removed an edge."""

from typing import Any

from lakehouse_assets.explorer.asked import Asked
from lakehouse_assets.explorer.frame import frame
from lakehouse_assets.explorer.pages import symbol_href, symbol_link
from lakehouse_assets.stories.html import Child, Markup, element, join
from lakehouse_assets.stories.page import badge, table

_MOST = 500
"""Rows of a page."""


def impact_body(found: dict[str, Any]) -> Markup:
    """Callers and importers by distance."""
    callers = [_way(row, _linked(row)) for row in found["callers"]]
    importers = [_way(row, row["impacted_path"]) for row in found["importers"]]
    more = " There are more beyond them." if found["more_callers"] or found["more_importers"] else ""
    heads = ["steps", "who", "because it", "of", "repository"]
    return join(
        element("p", f"Up to {found['limit']} steps away.{more}"),
        [element("p", note, class_="soft") for note in found["notes"]],
        element("h2", f"Definitions: {len(callers):,}"),
        table("definitions that are touched", heads, callers[:_MOST]) if callers else element("p", "None."),
        element("h2", f"Files by import: {len(importers):,}"),
        table("files that are touched", heads, importers[:_MOST]) if importers else element("p", "None."),
    )


def _way(row: dict[str, Any], who: Child) -> list[Child]:
    via = row["via_name"] or row["via_symbol"]
    return [row["distance"], who, row["reason"].replace("_", " "), via, row["impacted_repo"]]


def _linked(row: dict[str, Any]) -> Child:
    definition = row["definition"]
    if definition is None:
        return row["symbol"]
    return element("a", definition["qualified_name"], href=symbol_href(definition))


def symbol_impact_page(asked: Asked, repo: str, symbol_id: str) -> str:
    told = asked.answers.symbol(repo, symbol_id)
    found = asked.changes.impact_of_symbol(repo, symbol_id, limit=4)
    title = f"Whom a change to {told['qualified_name']} touches"
    return frame(title, element("h1", title), element("p", symbol_link(told)), impact_body(found))


def history_page(asked: Asked, repo: str, symbol_id: str) -> str:
    told = asked.answers.symbol(repo, symbol_id)
    found = asked.changes.history(repo, symbol_id)
    title = f"Edges of {told['qualified_name']} over commits"
    rows: list[list[Child]] = [
        [
            element("code", each["commit"][:12]),
            element("span", (each["at"] or "")[:10], class_="nowrap"),
            badge(each["change"]),
            each["kind"],
            each["source"] or "unknown",
            each["target"] or "unknown",
        ]
        for each in found["items"]
    ]
    first = [element("p", f"The newest {_MOST:,} of {len(rows):,}.", class_="soft")] if len(rows) > _MOST else []
    return frame(
        title,
        element("h1", title),
        element("p", symbol_link(told)),
        element(
            "p",
            "By the commits that the graph was brought to: what came with one between them is told of the later one.",
            class_="soft",
        ),
        first,
        table("edges that came and went", ["commit", "date", "change", "kind", "from", "to"], rows[:_MOST])
        if rows
        else element("p", "No edge of it is known."),
    )
