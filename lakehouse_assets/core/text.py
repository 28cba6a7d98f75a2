"""Text from outside, made safe to show, and names that were meant."""

from collections.abc import Iterable
from difflib import get_close_matches


def visible(text: str) -> str:
    """Text that cannot move the cursor, end the line or turn it around: such characters are shown escaped."""
    return "".join(c if c == " " or c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def nearest(name: str, known: Iterable[str]) -> str:
    """`did you mean 'x'?`, or nothing where no name is near."""
    near = get_close_matches(name, list(known), n=1)
    return f"did you mean {near[0]!r}?" if near else ""
