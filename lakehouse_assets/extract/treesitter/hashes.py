"""Fingerprints of what a definition promises, its header, and of what it does, its body.

Both are over the texts of tokens and their depth below the definition: comments and layout don't count, and where
layout is syntax the depth tells it. Lambdas belong to what is around them; of other definitions inside only their
place, kind and name count, so that an edit in a method is no edit of its class. A string that documents counts nowhere.
"""

import hashlib
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lakehouse_assets.core.hashing import FINGERPRINT_LENGTH
from lakehouse_assets.extract.treesitter.captures import DefinitionMark
from lakehouse_assets.extract.treesitter.positions import Numbers
from lakehouse_assets.extract.treesitter.walk import Walked


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
        own = tokens.within(d, walked.start[row], walked.end[row] if d else len(raw))
        starts = tokens.starts[own]
        doc = file_doc if mark is None else mark.doc
        kept = np.ones(len(starts), np.bool_) if doc is None else (starts < doc[0]) | (starts >= doc[1])
        in_body = kept if mark is None else kept & (starts >= mark.body_start) & (starts < mark.body_end)
        found.append((tokens.fingerprint(d, own, kept & ~in_body), tokens.fingerprint(d, own, in_body)))
    return found


class _Tokens:
    """Tokens by the definition that they count for, in the order of the text. One inside is a token without text."""

    def __init__(self, raw: bytes, walked: Walked, named: Sequence[Nameable]) -> None:
        self._raw = raw
        self._named = named
        self._depths_of = walked.definition_depths
        self._owners = [0]
        for d, one in enumerate(named[1:], start=1):
            self._owners.append(self._owners[one.parent] if one.kind == "lambda" else d)
        inside = [d for d in range(1, len(named)) if self._owners[d] == d]
        places = [walked.start[walked.definition_rows[d]] for d in inside]
        owners = np.asarray(self._owners, dtype=np.int64)
        owner = np.concatenate((owners[np.asarray(walked.token_d, dtype=np.int64)], owners[_parents(named, inside)]))
        starts = np.asarray(walked.token_start + places, dtype=np.int64)
        order = np.lexsort((starts, owner))
        self.starts: Numbers = starts[order]
        self._ends = np.asarray(walked.token_end + places, dtype=np.int64)[order]
        depths = walked.token_depth + [walked.definition_depths[d] for d in inside]
        self._depths = np.asarray(depths, dtype=np.int64)[order]
        self._defined = np.asarray([0] * len(walked.token_start) + inside, dtype=np.int64)[order]
        self._bounds = np.searchsorted(owner[order], np.arange(len(named) + 1))

    def within(self, d: int, start: int, end: int) -> slice:
        """What counts for `d`: of a lambda, the part of its owner's that lies in it."""
        owner = self._owners[d]
        low, high = int(self._bounds[owner]), int(self._bounds[owner + 1])
        if owner == d:
            return slice(low, high)
        first, behind = np.searchsorted(self.starts[low:high], (start, end))
        return slice(low + int(first), low + int(behind))

    def fingerprint(self, d: int, own: slice, kept: NDArray[np.bool_]) -> str:
        """Lengths come before the texts, so that tokens that flow together differ from those that don't."""
        starts, ends = self.starts[own][kept], self._ends[own][kept]
        depths = self._depths[own][kept] - self._depths_of[d]
        digest = hashlib.sha256(np.stack((ends - starts, depths)).astype("<i4").tobytes())
        raw = self._raw
        digest.update(b"".join([raw[s:e] for s, e in zip(starts.tolist(), ends.tolist(), strict=True)]))
        defined = self._defined[own][kept]
        for inside in defined[defined > 0].tolist():
            one = self._named[inside]
            digest.update(f"\0{one.kind} {one.name}".encode())
        return digest.hexdigest()[:FINGERPRINT_LENGTH]


def _parents(named: Sequence[Nameable], inside: list[int]) -> Numbers:
    return np.asarray([named[d].parent for d in inside], dtype=np.int64)
