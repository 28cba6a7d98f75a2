"""Fingerprints of what a definition promises and of what it does, from its rows.

Neither knows of positions, comments, layout or docstrings. The signature's has the name, parameters, whether they have
defaults, annotations, decorators, bases. The body's has the default values and the body, with lambdas in it, and of
nested classes and functions only where they stand and how they are called: an edit in a method is no edit of its class.
"""

import marshal
from hashlib import sha256
from typing import Any

from lakehouse_assets.core.hashing import FINGERPRINT_LENGTH
from lakehouse_assets.extract.python.rows import Rows

_PLAIN_FORMAT = 0
"""Of marshal: length-prefixed values and nothing else. Later formats tell how strings are shared in memory."""

Slices = tuple[slice, ...]


def fingerprints(rows: Rows) -> tuple[str, str]:
    """Of the signature and of the body."""
    # Rows are in preorder: with the distance to the parent, the tree can be told from them. Children of the
    # definition itself have none, so that rows before them (a docstring's) make no difference.
    distances = [n - source if source else 0 for n, source in enumerate(rows.sources)]
    split = rows.defaults_at
    own = [rows.kinds[0], rows.names[0]]
    head = _digest(rows, distances, (slice(1, split),), [*own, *rows.extras[: rows.signature_extras]])
    if split == rows.defaults_end:
        parts: Slices = (slice(rows.body_at, None),)
    else:
        parts = (slice(split, rows.defaults_end), slice(rows.body_at, None))
    return head, _digest(rows, distances, parts, rows.extras[rows.signature_extras :])


def _digest(rows: Rows, distances: list[int], parts: Slices, extras: list[Any]) -> str:
    # No word has a line's end in it (literals are written with escapes), kinds and labels are never empty, and all
    # columns have one length: joined lines tell them apart, in a fraction of the time that a general format takes.
    digest = sha256(marshal.dumps(extras, _PLAIN_FORMAT))
    for part in parts:
        names = [name or "" for name in rows.names[part]]
        digest.update("\n".join([*rows.kinds[part], "", *rows.labels[part], "", *names]).encode())
        digest.update(marshal.dumps(distances[part], _PLAIN_FORMAT))
    return digest.hexdigest()[:FINGERPRINT_LENGTH]
