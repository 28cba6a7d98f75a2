"""Files that appear whole or not at all: written beside their place, then renamed into it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from lakehouse_assets.core.errors import BadInputError


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write to, which takes the place of `path` when the scope ends well and is gone when it does not."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        file = beside.open("wb")
    except OSError as error:
        raise BadInputError(
            subject=str(path),
            seen=f"it cannot be written: {error.strerror}",
            why="the export is to go there",
            remedy="choose a file in a folder that is there and can be written to",
        ) from error
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def output_folder(path: Path) -> Path:
    """The folder, made if it is not there."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInputError(
            subject=str(path),
            seen=f"it is no folder and none can be made there: {error.strerror}",
            why="the export's files are to go there",
            remedy="choose a folder",
        ) from error
    return path
