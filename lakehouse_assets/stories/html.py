"""HTML from Python values. Text is escaped on its way in, by default and everywhere: there is no other way in."""

import html
from collections.abc import Iterable

from lakehouse_assets.core.text import visible

_EMPTY = frozenset({"meta", "link", "input", "br", "rect", "path", "line", "circle"})


class Markup(str):
    """Text that is HTML already, made by this module."""

    __slots__ = ()


Child = str | int | float | None | Iterable["Child"]


def text(value: object) -> Markup:
    """A value as text: characters that steer a terminal, a line's direction or the markup are shown instead."""
    return Markup(html.escape(visible(str(value))))


def element(name: str, /, *children: Child, **attributes: str | int | float | bool | None) -> Markup:
    """An element. `class_` and `for_` stand for the words that Python keeps to itself, `_` in a name for `-`."""
    shown = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _EMPTY:
        return Markup(f"<{name}{shown}>" if name in ("meta", "link", "input", "br") else f"<{name}{shown}/>")
    return Markup(f"<{name}{shown}>{''.join(_inner(children))}</{name}>")


def join(*children: Child) -> Markup:
    return Markup("".join(_inner(children)))


def _inner(children: Iterable[Child]) -> Iterable[str]:
    for child in children:
        match child:
            case None:
                continue
            case Markup():
                yield child
            case str() | int() | float():
                yield text(child)
            case _:
                yield from _inner(child)


def _attribute(key: str, value: str | int | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    return f' {name}="{html.escape(visible(str(value)), quote=True)}"'
