"""The difference between two texts, line by line."""

from difflib import SequenceMatcher
from typing import Literal

from lakehouse_assets.core.text import lines_of
from lakehouse_assets.stories.html import Markup, element, join

Change = Literal["same", "added", "removed"]


def line_diff(before: str, after: str) -> list[tuple[Change, str]]:
    """The lines of both, each once, in order; what went stands before what came in its place."""
    old, new = lines_of(before), lines_of(after)
    lines: list[tuple[Change, str]] = []
    for tag, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            lines += _marked("same", old[i:j])
        else:
            lines += [*_marked("removed", old[i:j]), *_marked("added", new[k:m])]
    return lines


def _marked(change: Change, lines: list[str]) -> list[tuple[Change, str]]:
    return [(change, line) for line in lines]


def shown_diff(before: str | None, after: str) -> Markup:
    """As preformatted text; all of it plain where there is nothing to compare with."""
    if before is None:
        return element("pre", [join(line, Markup("\n")) for line in lines_of(after)], tabindex=0)
    shown: list[Markup] = []
    for change, line in line_diff(before, after):
        match change:
            case "same":
                shown.append(join(f"  {line}", Markup("\n")))
            case "added":
                shown.append(join(element("ins", f"+ {line}"), Markup("\n")))
            case "removed":
                shown.append(join(element("del", f"- {line}"), Markup("\n")))
    return element("pre", shown, tabindex=0)
