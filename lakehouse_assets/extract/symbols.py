"""Stable names of definitions, and their 64-bit ids.

A symbol is the file's path and the descriptors within it, in SCIP's notation, so that it survives every edit that
neither moves nor renames the definition. Nodes and edges hold its hash: 8 bytes, and equal in every process.
"""

from collections.abc import Sequence

from xxhash import xxh64_intdigest

_SIGN = 1 << 63
_RANGE = 1 << 64


def symbol_of(path: str, descriptor: str) -> str:
    """The symbol of a definition; the file itself has the empty descriptor."""
    return f"`{path.replace('`', '``')}`/{descriptor}"


def external_symbol(dotted_name: str) -> str:
    """The symbol of something outside all registered repositories."""
    return f"external {dotted_name}"


def symbol_id(symbol: str) -> int:
    """The symbol as a signed 64-bit number, which every engine can hold."""
    number = xxh64_intdigest(symbol.encode("utf-8", "surrogatepass"))
    return number - _RANGE if number >= _SIGN else number


def def_ids(path: str, descriptors: Sequence[str]) -> list[int]:
    """Ids of a file's definitions, by their number."""
    return [symbol_id(symbol_of(path, descriptor)) for descriptor in descriptors]
