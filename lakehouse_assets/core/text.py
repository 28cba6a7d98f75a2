"""Text from outside, made safe to show, and names that were meant."""

import re
from collections.abc import Iterable
from difflib import get_close_matches


def visible(text: str) -> str:
    """Text that cannot move the cursor, end the line or turn it around: such characters are shown escaped."""
    return "".join(c if c == " " or c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def visible_lines(text: str) -> str:
    """The same of text that has lines of its own, which stay."""
    return "\n".join(map(visible, text.split("\n")))


def lines_of(text: str) -> list[str]:
    r"""Split text into lines as Python, editors and compilers count them: at `\n`, `\r\n` and `\r` alone.

    `str.splitlines` also splits at form feeds, U+0085, U+2028 and others, which stand in names, strings and comments.
    """
    if not text:
        return []
    return text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")


def fenced(text: str, language: str = "") -> str:
    """Text as a block of code in Markdown that nothing in it can end: its fence is longer than any row of ticks."""
    fence = "`" * max(3, 1 + max((len(ticks) for ticks in re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"


def nearest(name: str, known: Iterable[str]) -> str:
    """`did you mean 'x'?`, or nothing where no name is near."""
    near = get_close_matches(name, list(known), n=1)
    return f"did you mean {near[0]!r}?" if near else ""
