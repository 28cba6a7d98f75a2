"""A batch against the rows that its table has: which are new, which differ, which are gone.

Rows meet by the hash of their key, and those that meet are asked whether their keys are equal; where that does not hold
for all, nothing is concluded. Rows differ if their hashes do, the same by which contents are known.

Cost: the keys of the rows that could change, and the hashes of those that the batch meets or replaces.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.plan.row_hash import Hashes, row_hashes
from lakehouse_assets.plan.write_facts import WriteRequest, deletes_missing

Indices = npt.NDArray[np.intp]


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Rows by number: of the batch those inserted, of both those updated, pair by pair, of the table those deleted."""

    inserted: Indices
    updated: Indices
    before: Indices
    """The rows of the table that are updated, in the order of `updated`."""
    deleted: Indices
    unchanged: int
    batch_hashes: Hashes
    table_hashes: Hashes
    """Of all rows, 0 where it was not asked."""

    @property
    def changes_nothing(self) -> bool:
        return not (len(self.inserted) or len(self.updated) or len(self.deleted))


def compare(
    contract: TableContract, request: WriteRequest, batch: pa.Table, held: pa.Table, candidates: Indices
) -> Comparison | None:
    """What the batch changes of `held`, of which only the candidates may change; None if hashes cannot tell."""
    keys = [contract.column(name) for name in contract.key]
    batch_keys = row_hashes(keys, [batch[name] for name in contract.key])
    considered = held.select([*contract.key]).take(pa.array(candidates)) if len(candidates) < held.num_rows else held
    table_keys = row_hashes(keys, [considered[name] for name in contract.key])
    if _repeats(batch_keys) or _repeats(table_keys):
        return None
    order = np.argsort(batch_keys)
    spots = np.searchsorted(batch_keys, table_keys, sorter=order)
    found = order[np.minimum(spots, len(order) - 1)] if len(order) else np.zeros(len(table_keys), dtype=np.intp)
    meets = batch_keys[found] == table_keys if len(order) else np.zeros(len(table_keys), dtype=bool)
    mine, theirs = found[meets], candidates[meets]
    if not _same_keys(contract, batch.take(pa.array(mine)), held.take(pa.array(theirs))):
        return None
    nothing = np.zeros(0, dtype=np.intp)
    deleted = candidates[~meets] if deletes_missing(request) else nothing
    new = np.ones(batch.num_rows, dtype=bool)
    new[mine] = False
    inserted = np.flatnonzero(new)
    asked = np.concatenate([theirs, deleted])
    batch_hashes = row_hashes(contract.columns, [batch[each.name] for each in contract.columns])
    table_hashes = np.zeros(held.num_rows, dtype=np.uint64)
    part = held.take(pa.array(asked)) if len(asked) < held.num_rows else held
    known = row_hashes(contract.columns, [part[each.name] for each in contract.columns])
    table_hashes[asked if part is not held else slice(None)] = known
    if request.strategy == "delete_matching":
        inserted, differs, deleted = nothing, np.zeros(len(mine), dtype=bool), theirs
    else:
        differs = batch_hashes[mine] != table_hashes[theirs]
    changed = len(inserted) + int(differs.sum())
    return Comparison(
        inserted=inserted,
        updated=mine[differs],
        before=theirs[differs],
        deleted=deleted,
        unchanged=0 if request.strategy == "delete_matching" else batch.num_rows - changed,
        batch_hashes=batch_hashes,
        table_hashes=table_hashes,
    )


def _repeats(hashes: Hashes) -> bool:
    ordered = np.sort(hashes)
    return bool(np.any(ordered[1:] == ordered[:-1]))


def _same_keys(contract: TableContract, mine: pa.Table, theirs: pa.Table) -> bool:
    def equal(name: str) -> Any:
        return pc.all(pc.equal(mine[name], theirs[name]))  # pyright: ignore[reportAttributeAccessIssue]

    return all(equal(name).as_py() is not False for name in contract.key)
