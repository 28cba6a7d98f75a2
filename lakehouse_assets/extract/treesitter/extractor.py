"""Bytes of any supported language in, facts out."""

from lakehouse_assets.extract.facts import Facts
from lakehouse_assets.extract.treesitter.apart import read_apart
from lakehouse_assets.extract.treesitter.grammars import SUPPORTED, grammar_of
from lakehouse_assets.extract.treesitter.parsing import Limits, parse
from lakehouse_assets.extract.treesitter.tables import cut_off, facts_of_tree

__all__ = ["SUPPORTED", "Limits", "extract_with_tree_sitter"]

DEFAULT_LIMITS = Limits()
_SUBSTITUTE = b"\x1a"
"""Stands for NUL, which separates the parts of keys in linking and so is in no name."""


def extract_with_tree_sitter(source: str | bytes, language: str, limits: Limits = DEFAULT_LIMITS) -> Facts:
    """The local facts of a file in one of the `SUPPORTED` languages. Linear in its bytes; any bytes give facts."""
    raw = source.encode("utf-8", "surrogatepass") if isinstance(source, str) else source
    raw = raw.replace(b"\0", _SUBSTITUTE)
    grammar = grammar_of(language)
    if len(raw) > limits.max_bytes:
        return cut_off(raw, grammar, f"{len(raw)} bytes are more than the {limits.max_bytes} that are read")
    tree = parse(raw, grammar, limits.quick_seconds_for(len(raw)))
    if tree is None:
        return read_apart(raw, language, limits)
    return facts_of_tree(raw, tree, grammar, limits)
