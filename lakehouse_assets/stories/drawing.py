"""Pictures as SVG: a graph in layers, and bars over time. Each also says in words what it shows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from lakehouse_assets.stories.html import Markup, element, join
from lakehouse_assets.stories.page import scrolling

BOX_WIDTH = 156
"""Two of them stand beside each other on a phone."""
_LINE_HEIGHT, _GAP_X, _GAP_Y = 18, 36, 16
_LETTER_WIDTH = 7.4
"""About; a name that does not fit into its box is cut, and whole in the title."""


class Place(NamedTuple):
    """Of a box."""

    left: float
    top: float
    width: float
    height: float


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


def graph(label: str, boxes: Sequence[Box], *, width: float = BOX_WIDTH) -> Markup:
    """Boxes of this width in columns from left to right, with arrows between them; on a phone narrow ones in rows."""
    column_of = layers({box.key: [key for key in box.after if key != box.key] for box in boxes})
    columns: dict[int, list[Box]] = {}
    for box in boxes:
        columns.setdefault(column_of[box.key], []).append(box)
    ordered = [column for _, column in sorted(columns.items())]
    wide, tall = _in_columns(ordered, width), _in_rows(ordered)
    return join(
        element("div", scrolling(label, _picture(label, "wide", boxes, wide)), class_="broad"),
        element("div", _picture(label, "tall", boxes, tall), class_="narrow"),
    )


def _in_columns(columns: Sequence[list[Box]], width: float) -> dict[str, Place]:
    places: dict[str, Place] = {}
    height = max((sum(_height(box) + _GAP_Y for box in column) for column in columns), default=0) + _GAP_Y
    for number, column in enumerate(columns):
        # A box stands as near as it can to the middle of what it comes after, so that arrows cross less.
        column.sort(key=lambda box: (_middle(box, places), box.key))
        y = (height - sum(_height(box) + _GAP_Y for box in column) + _GAP_Y) / 2
        for box in column:
            places[box.key] = Place(number * (width + _GAP_X) + 4, y, width, _height(box))
            y += _height(box) + _GAP_Y
    return places


def _in_rows(columns: Sequence[list[Box]]) -> dict[str, Place]:
    """What was a column is a row, or several of two boxes: as much as a phone has room for."""
    places: dict[str, Place] = {}
    y = float(_GAP_Y)
    for column in columns:
        for pair in (column[at : at + 2] for at in range(0, len(column), 2)):
            left = 4.0 if len(pair) == 2 else 4 + (BOX_WIDTH + _GAP_Y) / 2
            for number, box in enumerate(pair):
                places[box.key] = Place(left + number * (BOX_WIDTH + _GAP_Y), y, BOX_WIDTH, _height(box))
            y += max(map(_height, pair)) + _GAP_Y
        y += _GAP_Y
    return places


def _picture(label: str, name: Literal["wide", "tall"], boxes: Sequence[Box], places: Mapping[str, Place]) -> Markup:
    width = max((place.left + place.width for place in places.values()), default=0) + 4
    height = max((place.top + place.height for place in places.values()), default=0) + _GAP_Y
    arrow = _arrow_right if name == "wide" else _arrow_down
    arrows = [
        element("path", d=arrow(places[source], places[box.key]), class_="edge", marker_end=f"url(#arrow-{name})")
        for box in boxes
        for source in box.after
        if source in places and source != box.key
    ]
    marker = element(
        "marker",
        element("path", d="M0 0 L8 4 L0 8 z", class_="edge"),
        id=f"arrow-{name}",
        viewBox="0 0 8 8",
        refX=8,
        refY=4,
        markerWidth=7,
        markerHeight=7,
        orient="auto",
    )
    return element(
        "svg",
        element("title", label),
        element("defs", marker),
        arrows,
        [_box(box, places[box.key]) for box in boxes],
        width=width,
        height=height,
        viewBox=f"0 0 {width} {height}",
        role="group",
        aria_label=label,
    )


def bars(label: str, rows: Sequence[tuple[str, float, float, str]], *, whole: float) -> Markup:
    """A bar for each (name, start, length in seconds, look), on one scale, as wide as there is room."""
    share = 100 / whole if whole > 0 else 0
    lines = [
        element(
            "li",
            element("span", name, class_="bar-name"),
            element(
                "svg",
                element(
                    "rect",
                    x=f"{min(start * share, 99.5):.2f}%",
                    y=3,
                    width=f"{max(0.5, length * share):.2f}%",
                    height=14,
                    class_=f"bar {look}",
                ),
                width="100%",
                height=20,
                aria_hidden="true",
            ),
            element("span", f"{length:.2f} s", class_="bar-length"),
        )
        for name, start, length, look in rows
    ]
    return element("ol", lines, class_="bars", aria_label=label)


def _height(box: Box) -> float:
    return len(box.lines) * _LINE_HEIGHT + 12


def _middle(box: Box, places: Mapping[str, Place]) -> float:
    found = [places[key].top + places[key].height / 2 for key in box.after if key in places]
    return sum(found) / len(found) if found else 0.0


def _arrow_right(source: Place, target: Place) -> str:
    x1, y1 = source.left + source.width, source.top + source.height / 2
    x2, y2 = target.left, target.top + target.height / 2
    bend = (x1 + x2) / 2
    return f"M{x1:.0f} {y1:.0f} C{bend:.0f} {y1:.0f} {bend:.0f} {y2:.0f} {x2:.0f} {y2:.0f}"


def _arrow_down(source: Place, target: Place) -> str:
    x1, y1 = source.left + source.width / 2, source.top + source.height
    x2, y2 = target.left + target.width / 2, target.top
    bend = (y1 + y2) / 2
    return f"M{x1:.0f} {y1:.0f} C{x1:.0f} {bend:.0f} {x2:.0f} {bend:.0f} {x2:.0f} {y2:.0f}"


def _box(box: Box, place: Place) -> Markup:
    letters = int((place.width - 16) / _LETTER_WIDTH)
    shapes = [
        element("title", ", ".join(box.lines)),
        element(
            "rect",
            x=place.left,
            y=round(place.top, 1),
            width=place.width,
            height=place.height,
            rx=5,
            class_=f"box {box.look}",
        ),
        *(
            element(
                "text",
                line if len(line) <= letters else f"{line[: letters - 1]}…",
                x=place.left + 8,
                y=round(place.top + 20 + number * _LINE_HEIGHT, 1),
                class_="soft" if number else None,
            )
            for number, line in enumerate(box.lines)
        ),
    ]
    return element("a", shapes, href=box.href) if box.href else element("g", shapes)
