"""Which files this process's Python opened."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_watching: list[tuple[Path, list[Path]]] = []


def _hook(event: str, arguments: tuple[object, ...]) -> None:
    if event == "open" and _watching and isinstance(arguments[0], str):
        for folder, found in _watching:
            if Path(arguments[0]).is_relative_to(folder):
                found.append(Path(arguments[0]))


_hooks: list[object] = []


@contextmanager
def opened_below(folder: Path) -> Iterator[list[Path]]:
    """The files below a folder that are opened in the scope, each time that they are."""
    if not _hooks:
        sys.addaudithook(_hook)
        _hooks.append(_hook)
    watched: tuple[Path, list[Path]] = (folder, [])
    _watching.append(watched)
    try:
        yield watched[1]
    finally:
        _watching.remove(watched)
