"""Errors of the engines as people read them."""

from collections.abc import Generator
from contextlib import contextmanager

import pyarrow as pa
from deltalake.exceptions import DeltaError

from lakehouse_assets.core.errors import from_wire
from lakehouse_assets.lake.causes import cause_of

ENGINE_ERRORS = (OSError, DeltaError, pa.ArrowException)
"""What delta-rs, Arrow and the system raise."""


@contextmanager
def spark_errors(subject: str) -> Generator[None, None, None]:
    """Give a worker's own error back as it was raised, and say plainly what is known of others."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JJavaError) as error:
        text = str(error)
        ours = from_wire(text) or cause_of(subject, text)
        if ours is not None:
            raise ours from error
        raise


@contextmanager
def delta_errors(subject: str) -> Generator[None, None, None]:
    """Say plainly what is known of errors under delta-rs and Arrow."""
    try:
        yield
    except ENGINE_ERRORS as error:
        ours = cause_of(subject, str(error))
        if ours is not None:
            raise ours from error
        raise
