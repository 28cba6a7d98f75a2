"""Runs a parser within limits.

On programs a parser is linear. On text that is none, its time and memory can grow with the square of the length, and
no limit that it has of its own holds inside of one step. So a text on which it is slow is read in another process.
"""

import time
from dataclasses import dataclass

from tree_sitter import Tree

from lakehouse_assets.extract.treesitter.grammars import Grammar, set_timeout


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Where reading a file ends. Bytes and nodes decide alike on every machine; seconds and memory are the net below
    them, which programs stay far away from."""

    max_bytes: int = 8 * 1024 * 1024
    max_nodes: int = 2_000_000
    seconds: float = 2.0
    seconds_per_megabyte: float = 5.0
    """Of processor time, so that a busy machine cuts nothing off. Programs take about a twentieth of it."""
    memory: int = 2 * 1024**3
    """Bytes that a process may have for one text on which the parser is slow."""

    def seconds_for(self, size: int) -> float:
        return self.seconds + self.seconds_per_megabyte * size / 1_000_000

    def quick_seconds_for(self, size: int) -> float:
        """What reading in this process may take: several times what programs do, and too little for memory to grow."""
        return min(0.02 + size / 1_000_000, self.seconds_for(size))


def parse(raw: bytes, grammar: Grammar, seconds: float) -> Tree | None:
    """The tree, or None if the parser took more processor time than that.

    A parser that was interrupted begins anew: one that goes on where it was can come to another tree, and what a
    text says must not depend on how busy the machine is. The parser's own clock is the wall's, so where the
    processor was given to others it gets twice as long.
    """
    parser = grammar.parser
    allowed = max(seconds, 0.005)
    while True:
        set_timeout(parser, allowed)
        begun = time.thread_time()
        try:
            return parser.parse(raw)
        except ValueError:  # interrupted
            parser.reset()
            if time.thread_time() - begun >= 0.9 * seconds:
                return None
            allowed *= 2
