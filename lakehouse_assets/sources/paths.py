"""Paths of files as text: git's paths are bytes, the lake's are strings, and no two paths become one.

UTF-8 is kept as it is. What is not UTF-8, or begins with a quote, is written as git quotes it, in quotes with
escapes. A stored path that begins with a quote is therefore always a quoted one, which makes the
way back exact.
"""

import re

from lakehouse_assets.core.errors import BadInputError

_LETTERS = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}
_BYTES = {letter: byte for byte, letter in _LETTERS.items()}
_QUOTED_BYTE = [
    f"\\{_LETTERS[byte]}" if byte in _LETTERS else chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"
    for byte in range(256)
]
_QUOTED = re.compile(r'"(?:[ !#-\[\]-~]|\\[abtnvfr"\\]|\\[0-3][0-7]{2})*"')
_ESCAPE = re.compile(r"\\([0-7]{3}|.)")


def stored_path(raw: bytes) -> str:
    """The text under which a path is stored."""
    if not raw.startswith(b'"'):
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            pass
    return f'"{"".join([_QUOTED_BYTE[byte] for byte in raw])}"'


def raw_path(stored: str) -> bytes:
    """The path that was stored as `stored`; refused if `stored_path` gives no such text."""
    if not stored.startswith('"'):
        try:
            return stored.encode("utf-8")
        except UnicodeEncodeError as error:
            raise _not_stored(stored) from error
    if not _QUOTED.fullmatch(stored):
        raise _not_stored(stored)
    raw = _ESCAPE.sub(_unescaped, stored[1:-1]).encode("latin-1")
    if stored_path(raw) != stored:
        raise _not_stored(stored)
    return raw


def _unescaped(found: re.Match[str]) -> str:
    escape = found.group(1)
    return chr(int(escape, 8) if len(escape) == 3 else _BYTES[escape])


def _not_stored(stored: str) -> BadInputError:
    return BadInputError(
        subject=f"path {stored!r}",
        seen="it is neither UTF-8 text nor quoted as git quotes paths that are not",
        why="no file is stored under it",
        remedy="copy the path from the column `path` of `snapshots`",
    )
