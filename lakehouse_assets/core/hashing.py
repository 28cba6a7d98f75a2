"""Fingerprints: SHA-256 over length-prefixed parts: ("ab", "c") and ("a", "bc") differ, and so do None and ""."""

import hashlib
import json
from collections.abc import Iterable
from typing import Any

FINGERPRINT_LENGTH = 16
"""Hex digits kept of a fingerprint: 64 bits, enough to tell versions of one thing apart."""


def fingerprint(parts: Iterable[str | bytes | None]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        if part is None:
            digest.update(b"-")
            continue
        data = part.encode() if isinstance(part, str) else part
        digest.update(b"%d:" % len(data))
        digest.update(data)
    return digest.hexdigest()[:FINGERPRINT_LENGTH]


def json_text(value: Any) -> str:
    """A JSON-like value as text, the same for equal values."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def json_fingerprint(value: Any) -> str:
    """Fingerprint of a JSON-like value, whatever the order of its keys."""
    return fingerprint([json_text(value)])
