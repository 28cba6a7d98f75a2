"""The frame of every page: one style for light and dark, phone and desk, and a policy that lets nothing else in."""

import base64
import hashlib
from importlib.resources import files

from lakehouse_assets.stories.html import Child, Markup, element, join

STYLE = files("lakehouse_assets.stories").joinpath("style.css").read_text(encoding="utf-8")


def style_source() -> str:
    """The style as a content security policy names it: by its hash, so that no other is obeyed."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()}'"


def page(title: str, *body: Child) -> str:
    """A whole document that stands alone: no network, no script."""
    policy = f"default-src 'none'; style-src {style_source()}; img-src data:; base-uri 'none'; form-action 'none'"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("link", rel="icon", href="data:,"),
        Markup(f"<style>{STYLE}</style>"),
    )
    main = element("main", *body, id="main")
    skip = element("a", "Skip to the content", href="#main", class_="skip")
    return "<!doctype html>\n" + element("html", head, element("body", skip, main), lang="en")


def facts(*pairs: tuple[str, Child]) -> Markup:
    """Names and values, as a list that a screen reader reads in pairs."""
    return element("dl", [element("div", element("dt", name), element("dd", value)) for name, value in pairs])


def table(caption: str, columns: list[str], rows: list[list[Child]], *, numbers: tuple[int, ...] = ()) -> Markup:
    """A table in a box that scrolls by itself, so that the page never does sideways."""
    head = element("tr", [element("th", name, scope="col") for name in columns])
    body = [
        element("tr", [element("td", cell, class_="number" if i in numbers else None) for i, cell in enumerate(row)])
        for row in rows
    ]
    inner = element("table", element("caption", caption), element("thead", head), element("tbody", body))
    return scrolling(caption, inner)


def scrolling(label: str, *children: Child) -> Markup:
    return element("div", *children, class_="scroll", role="group", aria_label=label, tabindex=0)


def folded(summary: Child, *children: Child, opened: bool = False) -> Markup:
    return element("details", element("summary", summary), *children, open=opened)


def badge(word: str) -> Markup:
    """A status by word and by colour."""
    return element("span", word, class_=f"badge {word}")


def null_or(value: str | None) -> Markup:
    return element("span", "NULL", class_="null") if value is None else join(value)


def count(number: int, noun: str) -> str:
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"
