"""The frame of the explorer's pages, and the policy that they are served with."""

from importlib.resources import files

from lakehouse_assets.stories.html import Child, Markup, element
from lakehouse_assets.stories.page import STYLE, style_source

_STATIC = files("lakehouse_assets.explorer").joinpath("static")
SCRIPT = _STATIC.joinpath("explorer.js").read_text(encoding="utf-8")
STYLES = STYLE + _STATIC.joinpath("explorer.css").read_text(encoding="utf-8")

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
STORY_POLICY = f"default-src 'none'; style-src {style_source()}; img-src data:; base-uri 'none'; frame-ancestors 'none'"
"""Stories bring their own style, and no script."""


def frame(title: str, *body: Child, query: str = "") -> str:
    """A page with the search box above it. Without a script the box is a form."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", f"{title} · lakehouse"),
        element("link", rel="icon", href="data:,"),
        element("link", rel="stylesheet", href="/static/explorer.css"),
        element("script", src="/static/explorer.js", defer=True),
    )
    return "<!doctype html>\n" + element(
        "html",
        head,
        element(
            "body",
            element("a", "Skip to the content", href="#main", class_="skip"),
            element("header", _navigation(), _search(query), class_="top"),
            element("main", *body, id="main"),
        ),
        lang="en",
    )


def _navigation() -> Markup:
    links = (("/", "Explorer"), ("/runs", "Runs"), ("/api", "API"))
    return element("nav", [element("a", word, href=href) for href, word in links], aria_label="Pages")


def _search(query: str) -> Markup:
    box = element(
        "input",
        type="search",
        id="q",
        name="q",
        value=query,
        placeholder="flask.app.Flask, url_for, …",
        autocomplete="off",
        spellcheck="false",
        role="combobox",
        aria_expanded="false",
        aria_controls="results",
        aria_autocomplete="list",
    )
    return element(
        "form",
        element("label", "Search a symbol in all repositories", for_="q"),
        box,
        element("ul", id="results", role="listbox", aria_label="Symbols found", hidden=True),
        element("p", id="found", role="status", class_="soft"),
        action="/",
        method="get",
        role="search",
    )
