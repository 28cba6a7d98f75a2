"""Errors of the engines as people read them."""

from collections.abc import Generator
from contextlib import contextmanager

from deltalake.exceptions import DeltaError

from lakehouse_assets.core.errors import EnvironmentNotReadyError, from_wire

_FULL = ("No space left on device", "Disk quota exceeded", "database or disk is full")


@contextmanager
def spark_errors(subject: str) -> Generator[None, None, None]:
    """Give a worker's own error back as it was raised, and say plainly when the disk was full."""
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        text = str(error)
        ours = from_wire(text) or full_disk(subject, text)
        if ours is not None:
            raise ours from error
        raise


@contextmanager
def delta_errors(subject: str) -> Generator[None, None, None]:
    """Say plainly when the disk was full under delta-rs."""
    try:
        yield
    except (OSError, DeltaError) as error:
        ours = full_disk(subject, str(error))
        if ours is not None:
            raise ours from error
        raise


def full_disk(subject: str, text: str) -> EnvironmentNotReadyError | None:
    """What to tell if `text` is of a full disk."""
    if not any(words in text for words in _FULL):
        return None
    return EnvironmentNotReadyError(
        subject=subject,
        seen="the disk is full",
        why="the write stopped before its commit, so the table is as it was before",
        remedy="free some space (see `lakehouse doctor`) and run it again",
    )
