"""Pictures as SVG: a graph in layers, and bars over time. Each also says in words what it shows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lakehouse_assets.stories.html import Markup, element
from lakehouse_assets.stories.page import scrolling

_BOX_WIDTH, _LINE_HEIGHT, _GAP_X, _GAP_Y = 156, 18, 36, 16
_LETTERS = 19
"""That fit into a box; a longer name is cut, and whole in the title."""


@dataclass(frozen=True, kw_only=True)
class Box:
    """A node of a picture: what it says, what it links to, its look, and the nodes that arrows come from."""

    key: str
    lines: tuple[str, ...]
    look: str
    after: tuple[str, ...]
    href: str | None = None


def layers(after: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """The column of each node: one behind the last that it comes after; circles are cut where they close."""
    found: dict[str, int] = {}

    def place(key: str, above: frozenset[str]) -> int:
        if key not in found:
            earlier = [place(each, above | {key}) for each in after[key] if each in after and each not in above]
            found[key] = 1 + max(earlier, default=-1)
        return found[key]

    for key in after:
        place(key, frozenset({key}))
    return found


def graph(label: str, boxes: Sequence[Box]) -> Markup:
    """Boxes in columns from left to right, with arrows between them."""
    column_of = layers({box.key: [key for key in box.after if key != box.key] for box in boxes})
    columns: dict[int, list[Box]] = {}
    for box in boxes:
        columns.setdefault(column_of[box.key], []).append(box)
    places: dict[str, tuple[float, float, float]] = {}
    height = max((sum(_height(box) + _GAP_Y for box in column) for column in columns.values()), default=0) + _GAP_Y
    for number, column in sorted(columns.items()):
        # A box stands as near as it can to the middle of what it comes after, so that arrows cross less.
        column.sort(key=lambda box: (_middle(box, places), box.key))
        y = (height - sum(_height(box) + _GAP_Y for box in column) + _GAP_Y) / 2
        for box in column:
            places[box.key] = (number * (_BOX_WIDTH + _GAP_X) + 4, y, _height(box))
            y += _height(box) + _GAP_Y
    width = (max(columns, default=0) + 1) * (_BOX_WIDTH + _GAP_X)
    arrows = [
        _arrow(places[source], places[box.key])
        for box in boxes
        for source in box.after
        if source in places and source != box.key
    ]
    marker = element(
        "marker",
        element("path", d="M0 0 L8 4 L0 8 z", class_="edge"),
        id="arrow",
        viewBox="0 0 8 8",
        refX=8,
        refY=4,
        markerWidth=7,
        markerHeight=7,
        orient="auto",
    )
    drawn = [_box(box, places[box.key]) for box in boxes]
    return scrolling(
        label,
        element(
            "svg",
            element("title", label),
            element("defs", marker),
            arrows,
            drawn,
            width=width,
            height=height,
            viewBox=f"0 0 {width} {height}",
            role="group",
            aria_label=label,
        ),
    )


def bars(label: str, rows: Sequence[tuple[str, float, float, str]], *, whole: float) -> Markup:
    """A bar for each (name, start, length in seconds, look), on one scale."""
    left, width, line = 150, 460, 24
    scale = width / whole if whole > 0 else 0
    shown: list[Markup] = []
    for number, (name, start, length, look) in enumerate(rows):
        y = number * line
        size = max(2.0, length * scale)
        told = f"{length:.2f} s"
        beside = left + start * scale + size + 6
        shown += [
            element("text", _cut(name), x=0, y=y + 16),
            element("rect", x=left + start * scale, y=y + 4, width=round(size, 1), height=15, class_=f"bar {look}"),
            element("text", told, x=round(beside, 1), y=y + 16, class_="soft"),
        ]
    size = {"width": left + width + 80, "height": len(rows) * line + 6}
    return scrolling(
        label,
        element("svg", element("title", label), shown, role="img", aria_label=label, **size),
    )


def _height(box: Box) -> float:
    return len(box.lines) * _LINE_HEIGHT + 12


def _middle(box: Box, places: Mapping[str, tuple[float, float, float]]) -> float:
    found = [places[key][1] + places[key][2] / 2 for key in box.after if key in places]
    return sum(found) / len(found) if found else 0.0


def _arrow(source: tuple[float, float, float], target: tuple[float, float, float]) -> Markup:
    x1, y1 = source[0] + _BOX_WIDTH, source[1] + source[2] / 2
    x2, y2 = target[0], target[1] + target[2] / 2
    bend = (x1 + x2) / 2
    way = f"M{x1:.0f} {y1:.0f} C{bend:.0f} {y1:.0f} {bend:.0f} {y2:.0f} {x2:.0f} {y2:.0f}"
    return element("path", d=way, class_="edge", marker_end="url(#arrow)")


def _box(box: Box, place: tuple[float, float, float]) -> Markup:
    x, y, height = place
    shapes = [
        element("title", ", ".join(box.lines)),
        element("rect", x=x, y=round(y, 1), width=_BOX_WIDTH, height=height, rx=5, class_=f"box {box.look}"),
        *(
            element(
                "text",
                _cut(line),
                x=x + 8,
                y=round(y + 20 + number * _LINE_HEIGHT, 1),
                class_="soft" if number else None,
            )
            for number, line in enumerate(box.lines)
        ),
    ]
    return element("a", shapes, href=box.href) if box.href else element("g", shapes)


def _cut(name: str) -> str:
    return name if len(name) <= _LETTERS else f"{name[: _LETTERS - 1]}…"
