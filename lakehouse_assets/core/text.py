"""Text from outside, made safe to show."""


def visible(text: str) -> str:
    """Text that cannot move the cursor, end the line or turn it around: such characters are shown escaped."""
    return "".join(c if c == " " or c.isprintable() else c.encode("unicode_escape").decode() for c in text)
