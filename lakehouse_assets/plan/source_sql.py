"""SQL text for databases that rows come from and go to: names, values, and queries with named parameters."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Literal

from lakehouse_assets.core.errors import BadInputError

DatabaseKind = Literal["postgresql", "sqlite", "jdbc"]
Parameter = datetime | int

# What a colon is not a parameter in: texts, quoted names, comments, and casts.
_TOKENS = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/|::|:([A-Za-z_][A-Za-z0-9_]*)", re.DOTALL)


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def quoted_table(name: str) -> str:
    """`schema.table` or `table`, each part quoted."""
    return ".".join(quoted(part) for part in name.split("."))


def text_literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def value_literal(value: Parameter, kind: DatabaseKind, shape: "TextShape | None" = None) -> str:
    if isinstance(value, int):
        return str(value)
    moment = value.astimezone(UTC).replace(tzinfo=None)
    plain = moment.isoformat(sep=" ", timespec="microseconds")
    match kind:
        case "postgresql":
            return f"TIMESTAMPTZ '{plain}+00'"
        case "sqlite":
            return text_literal((shape or TextShape()).render(moment))
        case "jdbc":
            return f"TIMESTAMP '{plain}'"


class TextShape:
    """How a SQLite column writes moments, so that a bound compares with them as text does."""

    def __init__(self, example: str | None = None) -> None:
        self.separator, self.digits, self.suffix = " ", 6, ""
        if example is None:
            return
        found = re.fullmatch(r"\d{4}-\d\d-\d\d([ T])\d\d:\d\d:\d\d(?:\.(\d{1,6}))?(Z|\+00:00)?", example)
        if found is None:
            raise BadInputError(
                subject="timestamp column in SQLite",
                seen=f"{example[:40]!r} is no moment such as 2026-01-31 12:00:00.123 in UTC",
                why="windows compare these texts, so that they have to be written in one way",
                remedy="use an id, the strategy snapshot, or a first_query that writes the column so",
            )
        self.separator, self.digits, self.suffix = found[1], len(found[2] or ""), found[3] or ""

    def floor(self, moment: datetime) -> datetime:
        """The moment without what the column does not write: rows of its last unit may still come."""
        step = 10 ** (6 - self.digits)
        return moment.replace(microsecond=moment.microsecond // step * step)

    def render(self, moment: datetime) -> str:
        text = self.floor(moment).isoformat(sep=self.separator, timespec="microseconds")
        whole, _, fraction = text.partition(".")
        return whole + (f".{fraction[: self.digits]}" if self.digits else "") + self.suffix


def parameters_in(query: str) -> set[str]:
    return {found[1] for found in _TOKENS.finditer(query) if found[1]}


def with_values(query: str, values: Mapping[str, str], *, subject: str) -> str:
    """The query with literals in the place of its named parameters."""
    unknown = sorted(parameters_in(query) - set(values))
    if unknown:
        known = ", ".join(f":{name}" for name in values) or "no names at all"
        raise BadInputError(
            subject=subject,
            seen=f"the query has :{unknown[0]}, which is none of {known}",
            why="it cannot be run without a value",
            remedy="use the names above, those that the strategy has",
        )
    return _TOKENS.sub(lambda found: values[found[1]] if found[1] else found[0], query)
