"""What is made from source text, kept beside the compiled code, as the interpreter keeps that.

An entry is used while what it was made from, and what made it, are the same. Where nothing can be written, nothing
is kept, and it is made again in each process.
"""

import marshal
import os
from collections.abc import Iterable
from hashlib import sha256
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any


class Kept:
    """Plain values by name, each with the digest of what it was made from, in one file of a package."""

    def __init__(self, package: Path, suffix: str, makers: Iterable[bytes]) -> None:
        self._file = Path(cache_from_source(str(package / "__init__.py"))).with_suffix(suffix)
        self._makers = sha256(b"\0".join(makers)).digest()
        self._entries: dict[str, tuple[bytes, Any]] = self._load()
        self._changed = False

    def get(self, name: str, digest: bytes) -> Any | None:
        kept = self._entries.get(name)
        return kept[1] if kept is not None and kept[0] == digest else None

    def put(self, name: str, digest: bytes, value: Any) -> None:
        self._entries[name] = (digest, value)
        self._changed = True

    def save(self) -> None:
        """In one move, so that no process reads half a file."""
        if not self._changed:
            return
        self._changed = False
        waiting = self._file.with_suffix(f".{os.getpid()}")
        try:
            self._file.parent.mkdir(exist_ok=True)
            waiting.write_bytes(marshal.dumps((self._makers, self._entries)))
            waiting.replace(self._file)
        except OSError:
            waiting.unlink(missing_ok=True)

    def _load(self) -> dict[str, tuple[bytes, Any]]:
        try:
            makers, entries = marshal.loads(self._file.read_bytes())
        except (OSError, EOFError, ValueError, TypeError):
            return {}  # not there, or not whole: it can be made again
        return entries if makers == self._makers else {}
