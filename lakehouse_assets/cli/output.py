"""Results as people and programs read them: aligned text, JSON, CSV."""

import json
import re
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from itertools import chain
from typing import Any

import click

from lakehouse_assets.core.text import visible, visible_lines

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")

_WIDEST_CELL = 100


def print_rows(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> None:
    """Rows under their column names; numbers to the right, NULL as an empty cell."""
    cells = [[_cell(row[column]) for column in columns] for row in rows]
    widths = [max(map(_width, [name, *(line[i] for line in cells)])) for i, name in enumerate(columns)]
    right = [all(isinstance(row[name], int | float | None) for row in rows) and bool(rows) for name in columns]
    click.echo(_line(columns, widths, right))
    click.echo(_line(["─" * width for width in widths], widths, right))
    for line in cells:
        click.echo(_line(line, widths, right))


def print_notes(notes: Iterable[str]) -> None:
    """What a result leaves out, where it does not get in the way of programs."""
    for note in notes:
        click.echo(note, err=True)


def print_json(value: Any) -> None:
    """Letters of all languages as they are; what would steer a terminal escaped, which means the same in JSON."""
    text = json.dumps(value, ensure_ascii=False, indent=2, default=_jsonable)
    click.echo(re.sub(r"[^\x20-\x7e\n]", _printable, text))


def print_csv(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> None:
    """The values as they are, in UTF-8, to a file or a program, which `click.echo` would take escape codes from; to a
    terminal with what would steer it escaped."""
    shown = visible_lines if sys.stdout.isatty() else str
    for values in chain([columns], ([_jsonable_cell(row[c]) for c in columns] for row in rows)):
        line = ",".join("" if value is None else _quoted(shown(str(value))) for value in values)
        sys.stdout.buffer.write(f"{line or _quoted('')}\n".encode())
    sys.stdout.flush()


def _quoted(text: str) -> str:
    """In quotes where it has to be; Python's own writer leaves a carriage return without, and readers end the line."""
    if text and not re.search('[",\r\n]', text):
        return text
    return '"' + text.replace('"', '""') + '"'


def readable_bytes(size: int) -> str:
    amount = float(size)
    for unit in ("B", "kB", "MB", "GB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} TB"


def _printable(found: re.Match[str]) -> str:
    return found[0] if found[0].isprintable() else json.dumps(found[0])[1:-1]


def _cell(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case float():
            return f"{value:g}"
        case datetime() | date():
            return value.isoformat(sep=" ", timespec="seconds") if isinstance(value, datetime) else value.isoformat()
        case list() | dict():
            text = json.dumps(value, ensure_ascii=False, default=_jsonable)
        case _:
            text = str(value)
    text = visible(text)
    return text if len(text) <= _WIDEST_CELL else text[: _WIDEST_CELL - 1] + "…"


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = (
        " " * (width - _width(cell)) + cell if to_right else cell + " " * (width - _width(cell))
        for cell, width, to_right in zip(cells, widths, right, strict=True)
    )
    return "  ".join(padded).rstrip()


def _width(text: str) -> int:
    """Columns that a terminal gives the text: two for wide characters, none for combining ones."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _jsonable_cell(value: Any) -> Any:
    if value is None:
        return None
    return json.dumps(value, default=_jsonable) if isinstance(value, list | dict) else _jsonable(value)


def _jsonable(value: Any) -> Any:
    match value:
        case datetime() | date():
            return value.isoformat()
        case bytes():
            return value.hex()
        case _:
            return value if isinstance(value, str | int | float | bool) else str(value)
