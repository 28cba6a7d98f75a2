"""Errors of the engines as people read them."""

import re
from collections.abc import Generator
from contextlib import contextmanager

import pyarrow as pa
from deltalake.exceptions import DeltaError

from lakehouse_assets.core.errors import BadInputError, from_wire
from lakehouse_assets.lake.causes import cause_of

ENGINE_ERRORS = (OSError, DeltaError, pa.ArrowException)
"""What delta-rs, Arrow and the system raise."""

_SAID = re.compile(r"\[(?P<name>[A-Z][A-Z0-9_.]+)\]\s*(?P<words>.*?)\s*SQLSTATE: (?P<state>[0-9A-Z]{5})", re.DOTALL)
"""How Spark tells an error, also in the middle of a Java stack trace."""

ROWS = ("21", "22", "P0")
"""Classes of SQL states that a value is to blame for: cardinality, data, raised by the query itself."""

QUERY = (*ROWS, "0A", "42")
"""Those that a query is to blame for as well: what it asks for is not supported, or does not fit together."""


@contextmanager
def query_errors(subject: str, *, quiet: bool, states: tuple[str, ...] = ROWS) -> Generator[None, None, None]:
    """Tell what a query, or a value that it came to, is to blame for; `quiet` keeps values out of the message."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        yield
        return
    except (PySparkException, Py4JJavaError) as error:
        said = _SAID.search(str(error))
        if said is None or not said["state"].startswith(states):
            raise
        failed = not_run(subject, said["name"] if quiet else f"{said['name']}: {said['words'].splitlines()[0]}")
        if not quiet:
            raise failed from error
    raise failed


def not_run(subject: str, seen: str) -> BadInputError:
    """A query that its own words, or a value, kept from running to its end."""
    return BadInputError(
        subject=subject,
        seen=seen.strip().rstrip("."),
        why="its query was not run to its end",
        remedy="mend the query, or the rows that it stumbles over",
    )


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
