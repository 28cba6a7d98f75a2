"""Fingerprints of what a definition promises, its header, and of what it does, its body.

Both are over the texts of tokens and their depth below the definition: comments and layout don't count, and where
layout is syntax the depth tells it. Lambdas belong to what is around them; of other definitions inside only their
place, kind and name count, so that an edit in a method is no edit of its class. A string that documents counts nowhere.
"""

from bisect import bisect_left
from collections.abc import Sequence
from hashlib import sha256
from typing import Protocol

import numpy as np

from lakehouse_assets.core.hashing import FINGERPRINT_LENGTH
from lakehouse_assets.extract.treesitter.captures import DefinitionMark
from lakehouse_assets.extract.treesitter.walk import Walked

_SHAPE_BYTES = 8
"""Of a token: its length and its depth, 4 bytes each."""


class Nameable(Protocol):
    @property
    def kind(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def parent(self) -> int: ...


def fingerprints(
    raw: bytes,
    walked: Walked,
    file_doc: tuple[int, int] | None,
    marks: Sequence[DefinitionMark | None],
    named: Sequence[Nameable],
) -> list[tuple[str, str]]:
    """Of each definition's header and body; `marks` has None for the file, which is all body."""
    tokens = _Tokens(raw, walked, named)
    found: list[tuple[str, str]] = []
    for d, (mark, row) in enumerate(zip(marks, walked.definition_rows, strict=True)):
        start, end = (walked.start[row], walked.end[row]) if d else (0, len(raw))
        low, high = tokens.within(d, start, end)
        body_start, body_end, doc = (
            (start, end, file_doc) if mark is None else (mark.body_start, mark.body_end, mark.doc)
        )
        first, last = tokens.between(body_start, body_end, low, high)
        cuts = (last, last) if doc is None else tokens.between(*doc, first, last)
        found.append((tokens.digest((low, first), (last, high)), tokens.digest((first, cuts[0]), (cuts[1], last))))
    return found


class _Tokens:
    """Tokens by the definition that they count for, in the order of the text. One inside is a token of its own sort."""

    def __init__(self, raw: bytes, walked: Walked, named: Sequence[Nameable]) -> None:
        self._owners = [0]
        for d, one in enumerate(named[1:], start=1):
            self._owners.append(self._owners[one.parent] if one.kind == "lambda" else d)
        inside = [d for d in range(1, len(named)) if self._owners[d] == d]
        owners = np.asarray(self._owners, dtype=np.int64)
        around = np.asarray([named[d].parent for d in inside], dtype=np.int64)
        owner = owners[np.concatenate((np.asarray(walked.token_d, dtype=np.int64), around))]
        starts = np.asarray(
            walked.token_start + [walked.start[walked.definition_rows[d]] for d in inside], dtype=np.int64
        )
        texts = [raw[start:end] for start, end in zip(walked.token_start, walked.token_end, strict=True)]
        texts += [f"{named[d].kind} {named[d].name}".encode() for d in inside]
        lengths = [len(text) for text in texts]
        lengths[len(walked.token_start) :] = [-1 - length for length in lengths[len(walked.token_start) :]]
        depths = np.asarray(walked.definition_depths, dtype=np.int64)
        own_depths = np.asarray(walked.token_depth + [walked.definition_depths[d] for d in inside], dtype=np.int64)
        order = np.lexsort((starts, owner))
        shapes = np.stack((np.asarray(lengths, dtype=np.int64), own_depths - depths[owner]), axis=1)
        self._shapes = shapes[order].astype("<i4").tobytes()
        self._texts = [texts[at] for at in order.tolist()]
        self._starts: list[int] = starts[order].tolist()
        self._bounds: list[int] = np.searchsorted(owner[order], np.arange(len(named) + 1)).tolist()

    def within(self, d: int, start: int, end: int) -> tuple[int, int]:
        """What counts for `d`: of a lambda, the part of its owner's that lies in it."""
        owner = self._owners[d]
        low, high = self._bounds[owner], self._bounds[owner + 1]
        return (low, high) if owner == d else self.between(start, end, low, high)

    def between(self, start: int, end: int, low: int, high: int) -> tuple[int, int]:
        return bisect_left(self._starts, start, low, high), bisect_left(self._starts, end, low, high)

    def digest(self, *runs: tuple[int, int]) -> str:
        """Lengths come before the texts, so that tokens that flow together differ from those that don't."""
        shapes = b"".join([self._shapes[_SHAPE_BYTES * first : _SHAPE_BYTES * last] for first, last in runs])
        texts = [text for first, last in runs for text in self._texts[first:last]]
        return sha256(b"".join((len(shapes).to_bytes(8, "little"), shapes, *texts))).hexdigest()[:FINGERPRINT_LENGTH]
