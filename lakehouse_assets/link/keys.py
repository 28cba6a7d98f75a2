"""Keys of facts and shared variables, as text while a file is linked and as 64-bit numbers where they are kept.

Separators begin with NUL, the one character that git takes in no path and that extraction leaves in no name.
"""

from collections.abc import Iterable

from xxhash import xxh64_intdigest

PART = "\0\x1f"
"""Between the parts of a key or a value."""
ELSEWHERE = "\0\x1e"
"""Between the name of another repository and a path in it."""
ENTRY = "\0\x1d"
"""Between texts that are hashed together."""
MISSING = 0
"""The hash of a fact that is not there."""

_SIGN = 1 << 63
_RANGE = 1 << 64


def number_of(text: str) -> int:
    """Signed, as every engine can hold it; never the one that means missing."""
    return number_of_bytes(text.encode("utf-8", "surrogatepass"))


def number_of_bytes(data: bytes) -> int:
    number = xxh64_intdigest(data) or 1
    return number - _RANGE if number >= _SIGN else number


def hash_of(value: object) -> int:
    """Of a fact: nested tuples, strings, numbers and None, whose `repr` is the same in every process."""
    return MISSING if value is None else number_of(repr(value))


def hash_of_values(values: Iterable[str]) -> int:
    """Of what a shared variable holds, in whatever order it comes."""
    ordered = sorted(values)
    return number_of(ENTRY.join(ordered)) if ordered else MISSING
