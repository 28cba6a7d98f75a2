"""How a step hands over what it made, and fails in the name of those partitions that it could not make.

Invariant: a partition gets a materialization if, and only if, its rows are what the asset should have. The step fails
after its outputs, so that the steps after it go on with the other partitions (see `definitions.py` on the executor).
"""

from collections.abc import Iterable, Iterator

from dagster import Output

from lakehouse_assets.core.errors import LakehouseError
from lakehouse_assets.lake.batches import Batches
from lakehouse_assets.lake.failures import partitions_failure


def handed_over(outputs: Batches | Iterable[tuple[str, Batches]], *, of: int) -> Iterator[Output[Batches]]:
    """The outputs by name, one made after the other was written, or the only one; `of` is the number of the run's
    partitions."""
    errors: dict[str, LakehouseError] = {}
    for name, batches in [("result", outputs)] if isinstance(outputs, Batches) else outputs:
        failed = batches.failed
        if len(failed) < of:
            yield Output(batches, output_name=name)
        errors |= failed.errors
    if errors:
        raise partitions_failure(errors, of=of)
