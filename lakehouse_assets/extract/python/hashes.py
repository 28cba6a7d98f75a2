"""Fingerprints of what a definition promises and of what it does, from its rows.

Neither knows of positions, comments, layout or docstrings. The signature's has the name, parameters, whether they have
defaults, annotations, decorators, bases. The body's has the default values and the body, with lambdas in it, and of
nested classes and functions only where they stand and how they are called: an edit in a method is no edit of its class.
"""

import marshal
from hashlib import sha256

from lakehouse_assets.core.hashing import FINGERPRINT_LENGTH
from lakehouse_assets.extract.python.rows import Rows

_PLAIN_FORMAT = 0
"""Of marshal: length-prefixed values and nothing else. Later formats tell how strings are shared in memory."""


def fingerprints(rows: Rows) -> tuple[str, str]:
    """Of the signature and of the body."""
    # Rows are in preorder: with the distance to the parent, the tree can be told from them. Children of the
    # definition itself have none, so that rows before them (a docstring's) make no difference.
    distances = [n - source if source else 0 for n, source in enumerate(rows.sources)]
    columns = (rows.kinds, rows.names, rows.labels, distances)
    split = rows.defaults_at
    signature = [column[1:split] for column in columns]
    body = [column[split : rows.defaults_end] + column[rows.body_at :] for column in columns]
    return (
        _digest([rows.kinds[0], rows.names[0], signature, rows.extras[: rows.signature_extras]]),
        _digest([body, rows.extras[rows.signature_extras :]]),
    )


def _digest(values: list[object]) -> str:
    return sha256(marshal.dumps(values, _PLAIN_FORMAT)).hexdigest()[:FINGERPRINT_LENGTH]
