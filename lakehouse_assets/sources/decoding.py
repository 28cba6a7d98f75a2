"""Bytes to text by rules that cannot fail and run nothing.

Invariant: every result can be stored as UTF-8 (no lone surrogates), and depends on the bytes alone:
an encoding that a file names is used only if it is one of the text encodings below, which come with
every Python, never one that something installed has registered.
"""

import codecs
import encodings
import functools
import re
from dataclasses import dataclass
from encodings.aliases import aliases
from typing import Literal

FALLBACK = "latin-1"
"""Gives every byte a character, so it cannot fail."""

_BINARY_WINDOW = 8000
"""Bytes looked at for a NUL: as many as git looks at."""

_NOT_TEXT = frozenset(
    {"base64_codec", "bz2_codec", "hex_codec", "quopri_codec", "rot_13", "uu_codec", "zlib_codec"}  # bytes to bytes
    | {"mbcs", "oem"}  # other meanings on each machine
    | {"idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined"}  # not encodings of files
    | {"utf_7"}  # ASCII text has other meanings in it
)
_WITHOUT_ALIAS = frozenset({"cp720", "cp737", "cp856", "cp874", "cp1006", "koi8_t", "koi8_u", "utf_8_sig"})
_KNOWN = (frozenset(aliases.values()) | _WITHOUT_ALIAS) - _NOT_TEXT
_EMACS_LINE_ENDS = re.compile(r"[-_](?:unix|dos|mac)$")
_PROBE = b"# -*- coding: x=0 -*-\n"

_MARKS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16: its mark begins with that of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_COOKIES = (
    re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)"),  # Python's own rule
    re.compile(rb"-\*-.*?\bcoding:[ \t]*([-\w.]+).*?-\*-"),  # Emacs
    re.compile(rb"\bvim?:.*?\b(?:fenc|fileencoding)=([-\w.]+)"),
)
_MAY_PRECEDE_COOKIE = re.compile(rb"^[ \t\f]*(?:#.*|//.*|/\*.*|--.*|<!.*|<\?.*|;.*|%.*)?\r?$")


@dataclass(frozen=True, kw_only=True)
class Decoded:
    text: str
    encoding: str


def decode_source(data: bytes) -> Decoded | Literal["binary"]:
    """A file's text: by its byte order mark, its declared encoding, as UTF-8, or byte by byte."""
    for mark, encoding in _MARKS:
        if data.startswith(mark) and (text := _decoded(data, encoding)) is not None and "\x00" not in text:
            return Decoded(text=text, encoding=encoding)
    if b"\x00" in data[:_BINARY_WINDOW]:
        return "binary"
    text, encoding = _by_declaration(data, _declared(data))
    return Decoded(text=text, encoding=encoding)


def decode_field(raw: bytes, declared: bytes | None = None) -> str:
    """Text of a commit's field: as the commit declares it, as UTF-8, or byte by byte."""
    return _by_declaration(raw, declared)[0]


@functools.lru_cache(maxsize=256)
def text_codec(name: bytes) -> str | None:
    """The codec that `name` means, if it encodes text and leaves ASCII as it is."""
    try:
        normalized = encodings.normalize_encoding(_EMACS_LINE_ENDS.sub("", name.decode("ascii"))).lower()
    except UnicodeDecodeError:
        return None
    known = aliases.get(normalized, normalized)
    if known not in _KNOWN or _decoded(_PROBE, known) != _PROBE.decode("ascii"):
        return None
    canonical = codecs.lookup(known).name
    return FALLBACK if canonical == codecs.lookup(FALLBACK).name else canonical


def _by_declaration(data: bytes, declared: bytes | None) -> tuple[str, str]:
    codec = text_codec(declared) if declared else None
    for encoding in (codec, "utf-8"):
        if encoding is not None and (text := _decoded(data, encoding)) is not None:
            return text, encoding
    return data.decode(FALLBACK), FALLBACK


def _decoded(data: bytes, encoding: str) -> str | None:
    """The text, or None if the bytes are not of this encoding or the text could not be stored."""
    try:
        text = data.decode(encoding)
        if not encoding.startswith("utf-8"):
            text.encode("utf-8")
    except UnicodeError:
        return None
    return text


def _declared(data: bytes) -> bytes | None:
    """The encoding named in the first line, or in the second if the first is a comment or blank."""
    first, _, rest = data[:_BINARY_WINDOW].partition(b"\n")
    for line in (first, rest.partition(b"\n")[0]):
        for cookie in _COOKIES:
            found = cookie.search(line)
            if found:
                return found.group(1)
        if not _MAY_PRECEDE_COOKIE.match(line):
            return None
    return None
