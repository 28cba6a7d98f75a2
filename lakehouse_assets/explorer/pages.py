"""The explorer's pages about symbols: search, a definition with its surroundings, its relations."""

from typing import Any
from urllib.parse import quote

from lakehouse_assets.explorer.answers import OUTGOING, RELATIONS, Relation
from lakehouse_assets.explorer.asked import Asked
from lakehouse_assets.explorer.frame import frame
from lakehouse_assets.explorer.holder import commit_ids
from lakehouse_assets.explorer.source import highlighted
from lakehouse_assets.stories.drawing import Box, graph
from lakehouse_assets.stories.html import Child, Markup, element, join
from lakehouse_assets.stories.page import badge, count, facts, folded

_SHOWN = 15
"""Of a relation on the page of a definition; its own page has all."""
_DRAWN = 7
"""Boxes on each side of a picture."""
_WIDE = 280
"""Of a box: names of definitions are long."""
_COMMITS = 4
"""Commits that a page offers to look at."""
_SURE = ("certain", "likely", "guess")


_SIDES = {
    "callers": "calls it",
    "subclasses": "inherits from it",
    "importers": "imports it",
    "callees": "is called",
    "bases": "is a base",
}
"""The relations of a picture, and what they are called in it."""


def home(asked: Asked, query: str) -> str:
    """The search, its finds, and the repositories."""
    found = asked.answers.search(query, limit=50) if query else None
    rows = [
        element(
            "li",
            element("a", each["name"], href=f"/repositories/{quote(each['name'], safe='')}"),
            f" {each['commits'][0][:12]}" if each["commits"] else " not synced yet",
        )
        for each in asked.repositories()["items"]
    ]
    return frame(
        "Explorer",
        element("h1", "Explore the graph"),
        join(
            element("h2", f"{count(found['total'], 'symbol')} found"),
            element("ul", [element("li", symbol_link(each)) for each in found["items"]], class_="plain"),
        )
        if found is not None
        else None,
        element("h2", "Repositories"),
        element("ul", rows, class_="plain") if rows else element("p", "None yet: lakehouse repo add NAME PATH_OR_URL"),
        query=query,
    )


def symbol_page(asked: Asked, repo: str, symbol_id: str, at: str | None) -> str:
    """A definition: what it is, its source, its neighbours as a picture and as lists."""
    told = asked.answers.symbol(repo, symbol_id, at=at)
    related: dict[str, dict[str, Any]] = {
        name: asked.answers.related(repo, symbol_id, name, at=at, limit=_SHOWN)
        for name in RELATIONS
        if told["counts"][name]
    }
    source = asked.sources.of_symbol(repo, symbol_id, at=at)
    own = symbol_href(told, at=at)
    tabs = [("#source", "Source"), *((f"#{name}", f"{name.capitalize()} {told['counts'][name]}") for name in related)]
    here = own.partition("?")[0]
    further = [("impact", "Whom would a change touch?"), ("history", "Which commits changed its edges?")]
    return frame(
        told["qualified_name"],
        element("h1", told["qualified_name"]),
        element("p", element("code", f"{told['kind']} {told['name']}{told['signature'] or ''}")),
        facts(
            ("repository", element("a", repo, href=f"/repositories/{quote(repo, safe='')}")),
            ("file", f"{told['path']}:{told['line']}"),
            ("language", told["language"] or "not known"),
            ("inside", symbol_link(told["inside"], at=at) if told["inside"] else "nothing"),
            ("at", _commits(asked, repo, own.partition("?")[0], at)),
        ),
        element("ul", [element("li", element("a", word, href=href)) for href, word in tabs], class_="tabs"),
        element("ul", [element("li", element("a", word, href=f"{here}/{to}")) for to, word in further], class_="tabs"),
        folded("Documentation", element("p", told["docstring"])) if told["docstring"] else None,
        element("h2", "Around it"),
        _picture(told, related, at),
        element("h2", "Source", id="source"),
        highlighted(source),
        element("p", f"The first {len(source['lines'])} of {source['lines_total']:,} lines.", class_="soft")
        if source["lines_total"] > len(source["lines"])
        else None,
        [_relation(name, page, own, at) for name, page in related.items()],
    )


def _commits(asked: Asked, repo: str, here: str, at: str | None) -> Markup:
    """The commit that the page tells of, and others that it could."""
    known = commit_ids(asked.lake, repo)[:_COMMITS]
    told = f"commit {at[:12]}" if at else "the last commit"
    links: list[Child] = [element("a", "the last commit", href=here)] if at else []
    links += [element("a", each[:12], href=f"{here}?at={each}") for each in known[1:] if not at or each[:12] != at[:12]]
    return element("span", told, [join("; ", link) for link in links])


def relation_page(asked: Asked, repo: str, symbol_id: str, relation: Relation, at: str | None, offset: int) -> str:
    """All of one relation, a page at a time."""
    told = asked.answers.symbol(repo, symbol_id, at=at)
    page = asked.answers.related(repo, symbol_id, relation, at=at, limit=200, offset=offset)
    title = f"{relation.capitalize()} of {told['qualified_name']}"
    here = f"/symbols/{quote(repo, safe='')}/{symbol_id}/related/{relation}?" + (f"at={quote(at)}&" if at else "")
    return frame(
        title,
        element("h1", title),
        element("p", symbol_link(told, at=at)),
        _items(page, at, symbol_href(told, at=at), relation),
        _turns(page, here),
    )


def symbol_href(symbol: dict[str, Any], *, at: str | None = None) -> str:
    tail = f"?at={quote(at, safe='')}" if at else ""
    return f"/symbols/{quote(symbol['repo'], safe='')}/{symbol['id']}{tail}"


def symbol_link(symbol: dict[str, Any], *, at: str | None = None) -> Markup:
    """A definition by its name, with where it is."""
    return join(
        element("a", symbol["qualified_name"], href=symbol_href(symbol, at=at)),
        element("span", f" {symbol['kind']} · {symbol['repo']}: {symbol['path']}:{symbol['line']}", class_="soft"),
    )


def _relation(name: str, page: dict[str, Any], own: str, at: str | None) -> Markup:
    path, mark, tail = own.partition("?")
    more = page["total"] > len(page["items"])
    return join(
        element("h2", f"{name.capitalize()} ", element("span", f"{page['total']:,}", class_="soft"), id=name),
        _items(page, at, own, name),
        element("p", element("a", f"All {page['total']:,} {name}", href=f"{path}/related/{name}{mark}{tail}"))
        if more
        else None,
    )


def _items(page: dict[str, Any], at: str | None, own: str, relation: str) -> Markup:
    return element("ul", [element("li", _item(each, at, own, relation)) for each in page["items"]], class_="plain")


def _item(each: dict[str, Any], at: str | None, own: str, relation: str) -> Markup:
    """One end of a link, the line that it stands in, how it was found and how sure that is."""
    symbol = each["symbol"]
    name: Child = symbol_link(symbol, at=at) if symbol else element("span", each.get("external") or "unknown")
    if "confidence" not in each:
        return join(name)
    source = own if relation in OUTGOING else symbol_href(symbol, at=at)
    return join(
        name,
        element("span", f" · {each['kind']} at ", class_="soft"),
        element("a", f"{each['path']}:{each['line']}", href=f"{source}#L{each['line']}"),
        element("span", f", found by {each['method']} ", class_="soft"),
        badge(each["confidence"]),
    )


def _picture(told: dict[str, Any], related: dict[str, dict[str, Any]], at: str | None) -> Markup:
    """What leads here on the left, where it leads on the right; each box is a link, so that the graph can be walked."""
    left: dict[str, Box] = {}
    right: dict[str, Box] = {}
    for relation in _SIDES:
        side = right if relation in ("callees", "bases") else left
        # The surest first: there is not room for all.
        found = related[relation]["items"] if relation in related else ()
        for each in sorted(found, key=lambda each: _SURE.index(each["confidence"])):
            symbol = each["symbol"]
            key = symbol_href(symbol, at=at) if symbol else f"outside {each['external']}"
            if len(side) >= _DRAWN or key in left or key in right or (symbol and symbol["id"] == told["id"]):
                continue
            name = _short(symbol["qualified_name"]) if symbol else str(each["external"])
            side[key] = Box(
                key=key,
                lines=(name, _SIDES[relation], each["confidence"]),
                look="",
                after=() if side is left else ("here",),
                href=symbol_href(symbol, at=at) if symbol else None,
            )
    here = Box(key="here", lines=(_short(told["qualified_name"]), told["kind"]), look="centre", after=tuple(left))
    if not left and not right:
        return element("p", "Nothing leads here, and it leads nowhere.", class_="soft")
    return graph(f"Neighbours of {told['qualified_name']}", [*left.values(), here, *right.values()], width=_WIDE)


def _short(name: str) -> str:
    """The last two parts of a dotted name, which tell most."""
    return ".".join(name.split(".")[-2:])


def _turns(page: dict[str, Any], here: str) -> Markup:
    before, after = page["offset"] - page["limit"], page["offset"] + page["limit"]
    return element(
        "p",
        element("a", "Earlier ", href=f"{here}offset={max(0, before)}") if page["offset"] else None,
        f" {page['offset'] + 1 if page['total'] else 0} to {min(after, page['total'])} of {page['total']:,} ",
        element("a", " Later", href=f"{here}offset={after}") if after < page["total"] else None,
    )
