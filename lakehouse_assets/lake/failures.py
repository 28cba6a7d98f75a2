"""Our errors as Dagster shows them: the message first, not below a stack trace."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

from dagster import Failure, MetadataValue

from lakehouse_assets.core.errors import LakehouseError, rebuilt
from lakehouse_assets.lake.spark_errors import delta_errors

ERRORS = "failed"
"""Metadata of a failure: by partition the parts of its error; the empty name for what failed as a whole."""

_PARTS = ("subject", "seen", "why", "remedy")


@contextmanager
def explained() -> Generator[None, None, None]:
    """Raise an error of ours as a failure whose description is the message. A refusal is not worth a retry."""
    try:
        with delta_errors("the lake"):
            yield
    except LakehouseError as error:
        raise failure({"": error}) from error


def partitions_failure(errors: Mapping[str, LakehouseError], *, of: int) -> Failure:
    """The failure of a step that made the other partitions of the `of` it was asked for."""
    if of == 1:
        return failure(errors)
    made = "none was made" if len(errors) == of else "the others were made"
    return failure(errors, told=f"{len(errors)} of {of} partitions failed, {made}.\n")


def failure(errors: Mapping[str, LakehouseError], told: str = "") -> Failure:
    lines = [f"{name}: {error}" if told else str(error) for name, error in errors.items()]
    # The cause, so that the log has its traceback.
    raised = Failure(
        description=told + "\n".join(lines),
        metadata={ERRORS: MetadataValue.json({name: error.parts for name, error in errors.items()})},
        allow_retries=False,
    )
    raised.__cause__ = next(iter(errors.values()))
    return raised


def errors_in(metadata: Mapping[str, Any]) -> dict[str, LakehouseError]:
    """The errors that a failure's metadata tells of."""
    told = metadata.get(ERRORS)
    return {name: rebuilt(parts) for name, parts in told.value.items()} if told is not None else {}


def problem_parts(metadata: Mapping[str, Any]) -> dict[str, str] | None:
    """What a failure tells of, in the parts of one error of ours; None if it was not one of ours."""
    errors = errors_in(metadata)
    if not errors:
        return None
    parts = next(iter(errors.values())).parts
    if len(errors) > 1:
        parts |= {
            "subject": ", ".join(errors),
            "seen": "; ".join(f"{name}: {error.seen}" for name, error in errors.items()),
        }
    return {name: parts[name] for name in _PARTS}
