"""Our errors as Dagster shows them: the message first, not below a stack trace."""

from collections.abc import Generator
from contextlib import contextmanager

from dagster import Failure

from lakehouse_assets.core.errors import LakehouseError


@contextmanager
def explained() -> Generator[None, None, None]:
    """Raise an error of ours as a failure whose description is the message. A refusal is not worth a retry."""
    try:
        yield
    except LakehouseError as error:
        raise Failure(description=str(error), allow_retries=False) from error
