"""Where a planted value turns up."""

from collections.abc import Iterator
from pathlib import Path


def files_with(folder: Path, text: str) -> Iterator[Path]:
    """The files below a folder that hold a text, by their ways from it."""
    for path in folder.rglob("*"):
        if path.is_file() and text.encode() in path.read_bytes():
            yield path.relative_to(folder)
