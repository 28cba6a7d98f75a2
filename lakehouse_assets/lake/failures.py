"""Our errors as Dagster shows them: the message first, not below a stack trace."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

from dagster import Failure, MetadataValue

from lakehouse_assets.core.errors import LakehouseError

_PARTS = ("subject", "seen", "why", "remedy")


@contextmanager
def explained() -> Generator[None, None, None]:
    """Raise an error of ours as a failure whose description is the message. A refusal is not worth a retry."""
    try:
        yield
    except LakehouseError as error:
        metadata = {name: MetadataValue.text(getattr(error, name)) for name in _PARTS}
        raise Failure(description=str(error), metadata=metadata, allow_retries=False) from error


def problem_parts(metadata: Mapping[str, Any]) -> dict[str, str] | None:
    """The parts of an error of ours that a failure carries; None if it was not one of ours."""
    if not all(name in metadata for name in _PARTS):
        return None
    return {name: str(metadata[name].value) for name in _PARTS}
