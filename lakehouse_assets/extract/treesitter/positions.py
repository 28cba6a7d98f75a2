"""Where nodes lie: byte offsets to lines and columns, for all nodes at once."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lakehouse_assets.extract.treesitter.walk import Walked

Numbers = NDArray[np.int64]


class Lines:
    """The lines of a text, found by byte offset, with the same ends as in `core.text.lines_of`; counted from 0."""

    def __init__(self, raw: bytes) -> None:
        at = np.frombuffer(raw + b" ", dtype=np.uint8)
        breaks = np.flatnonzero((at[:-1] == ord("\n")) | ((at[:-1] == ord("\r")) & (at[1:] != ord("\n"))))
        self.starts: Numbers = np.concatenate((np.zeros(1, dtype=np.int64), breaks + 1))

    def place(self, offsets: list[int]) -> tuple[Numbers, Numbers]:
        """Line and column, in bytes, of each offset."""
        at = np.asarray(offsets, dtype=np.int64)
        lines = np.searchsorted(self.starts, at, side="right") - 1
        return lines, at - self.starts[lines]

    def one(self, offset: int) -> tuple[int, int]:
        lines, columns = self.place([offset])
        return int(lines[0]), int(columns[0])


@dataclass(frozen=True, kw_only=True, slots=True)
class Positions:
    """Absolute places of all rows (lines from 0), and what lines are counted from in the table of nodes."""

    line: Numbers
    column: Numbers
    end_line: Numbers
    end_column: Numbers
    anchor: Numbers
    anchor_line: Numbers


def positions(walked: Walked, lines: Lines) -> Positions:
    """Inside a definition lines count from its first; in the file itself from the statement at the top.

    Statements at the top count from line 0, which no file has, so that theirs are the lines that people see.
    """
    line, column = lines.place(walked.start)
    end_line, end_column = lines.place(walked.end)
    d = np.asarray(walked.d, dtype=np.int64)
    parent = np.asarray(walked.parent, dtype=np.int64)
    rows = np.arange(len(d))
    is_file = d == 0
    is_top = is_file & (parent <= 0)
    top = np.maximum.accumulate(np.where(is_top, rows, 0))
    first = np.asarray(walked.definition_rows, dtype=np.int64)
    inside_file = np.where(is_top, -1, line[top])
    # The file itself is at no place, so that its node stays the same when lines come or go.
    for places in (line, column, end_line, end_column, inside_file):
        places[0] = 0
    return Positions(
        line=line,
        column=column,
        end_line=end_line,
        end_column=end_column,
        anchor=np.where(is_file & ~is_top, np.asarray(walked.n, dtype=np.int64)[top], 0),
        anchor_line=np.where(is_file, inside_file, line[first[d]]),
    )
