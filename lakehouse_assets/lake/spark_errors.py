"""Spark's errors as people read them."""

from collections.abc import Generator
from contextlib import contextmanager

from lakehouse_assets.core.errors import EnvironmentNotReadyError, from_wire


@contextmanager
def spark_errors(subject: str) -> Generator[None, None, None]:
    """Give a worker's own error back as it was raised, and say plainly when the disk was full."""
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        text = str(error)
        ours = from_wire(text)
        if ours is not None:
            raise ours from error
        if "No space left on device" in text or "Disk quota exceeded" in text:
            raise EnvironmentNotReadyError(
                subject=subject,
                seen="the disk is full",
                why="the write stopped before its commit, so the table is as it was before",
                remedy="free some space (see `lakehouse doctor`) and run it again",
            ) from error
        raise
