"""A batch dealt out over the slices of a plan, and a slice merged by itself."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.contents import places
from lakehouse_assets.lake.merging import Merged, merged
from lakehouse_assets.lake.table_files import TableFolder
from lakehouse_assets.plan.slices import Slice, finder
from lakehouse_assets.plan.write_facts import WriteRequest, deletes_missing

_NOWHERE = -1


def dealt(contract: TableContract, slices: Sequence[Slice], batch: pa.Table) -> Iterator[tuple[Slice, pa.Table]]:
    """Each slice with its rows of the batch. Partitions that no slice is of come last, as slices without files."""
    numbers = slice_numbers(contract, slices, batch)
    order = np.argsort(numbers, kind="stable")
    starts = np.searchsorted(numbers[order], np.arange(len(slices) + 1))
    for number, each in enumerate(slices):
        yield each, batch.take(pa.array(order[starts[number] : starts[number + 1]]))
    rest = batch.take(pa.array(order[: starts[0]]))
    for place, chosen in places(contract, rest).items() if rest.num_rows else ():
        yield Slice(place=place), rest if isinstance(chosen, slice) else rest.take(pa.array(chosen))


def slice_numbers(contract: TableContract, slices: Sequence[Slice], rows: pa.Table) -> npt.NDArray[np.int64]:
    """The number of each row's slice; -1 where there is none. Owners that differ are asked for once."""
    find = finder(slices)
    numbers = np.full(rows.num_rows, _NOWHERE, dtype=np.int64)
    owners = rows[contract.owner or ""].combine_chunks().dictionary_encode()
    for place, chosen in places(contract, rows).items() if rows.num_rows else ():
        known = [find(place, owner) for owner in owners.dictionary.to_pylist()]
        of_owner = np.array([_NOWHERE if number is None else number for number in known], dtype=np.int64)
        numbers[chosen] = of_owner[np.asarray(owners.indices)[chosen]]
    return numbers


def merged_slice(folder: TableFolder, request: WriteRequest, each: Slice, rows: pa.Table) -> Merged | None:
    """Merge a slice's rows into its files; nothing is read where nothing can change."""
    if not rows.num_rows and not (each.files and deletes_missing(request)):
        return Merged()
    return merged(folder, request, each.files, rows, is_part=True)
