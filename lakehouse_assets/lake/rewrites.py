"""What becomes of each touched file of a small write: which rows go, which change, and which come to it.

A row that is new goes to the file whose owners are around its own, else to one that is rewritten anyway; a row that
finds none goes into a new file. So a file's rows stay in the order of the owner, and files as easy to pass over
as they were.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lakehouse_assets.lake.contents import places
from lakehouse_assets.lake.row_comparison import Comparison, Indices
from lakehouse_assets.lake.table_files import TableFolder, owner_ranks
from lakehouse_assets.plan.pruning import FileFacts


@dataclass(kw_only=True)
class Rewrite:
    """One touched file, and what becomes of its rows."""

    file: FileFacts
    first: int
    """Where its rows begin among all that were read."""
    rows: pa.Table
    dropped: list[Indices] = field(default_factory=list)
    """Rows that go, as numbers in the file."""
    places: list[Indices] = field(default_factory=list)
    """Rows that are updated where they are."""
    values: list[Indices] = field(default_factory=list)
    """What they are updated to, as rows of the batch."""
    added: list[Indices] = field(default_factory=list)
    """Rows of the batch that come to it."""

    @property
    def is_dirty(self) -> bool:
        return any(len(each) for each in (*self.dropped, *self.places, *self.added))


def assign(
    folder: TableFolder, batch: pa.Table, held: pa.Table, rewrites: Sequence[Rewrite], found: Comparison
) -> Indices:
    """Say of each file what becomes of its rows; gives the rows of the batch that belong to none of them."""
    stays = np.ones(len(found.updated), dtype=bool)
    for name in dict.fromkeys((*folder.contract.partition_by, *filter(None, [folder.contract.owner]))):
        after, before = batch[name].take(pa.array(found.updated)), held[name].take(pa.array(found.before))
        same = pc.equal(after, before).fill_null(False)  # pyright: ignore[reportAttributeAccessIssue]
        stays &= np.asarray(same.cast(pa.uint8())).astype(bool)
    gone = np.concatenate([found.deleted, found.before[~stays]])
    for each in rewrites:
        end = each.first + each.rows.num_rows
        each.dropped.append(gone[(gone >= each.first) & (gone < end)] - each.first)
        mine = stays & (found.before >= each.first) & (found.before < end)
        each.places.append(found.before[mine] - each.first)
        each.values.append(found.updated[mine])
    coming = np.concatenate([found.inserted, found.updated[~stays]])
    if not len(coming):
        return coming
    loose: list[Indices] = []
    rows = batch.take(pa.array(coming))
    for place, chosen in places(folder.contract, rows).items():
        homes = [each for each in rewrites if folder.place(each.file) == place]
        loose.append(_housed(folder, rows, coming, np.arange(len(coming))[chosen], homes))
    return np.concatenate(loose)


def _housed(folder: TableFolder, rows: pa.Table, coming: Indices, chosen: Indices, homes: Sequence[Rewrite]) -> Indices:
    """Give each row to the file whose owners are around its own, or to one that is rewritten anyway."""
    dirty = [each for each in homes if each.is_dirty]
    owner = folder.contract.owner
    if owner is None:
        if dirty:
            dirty[0].added.append(coming[chosen])
            return coming[:0]
        return coming[chosen]
    by_owner: dict[Any, list[int]] = {}
    for number, value in zip(chosen.tolist(), rows[owner].take(pa.array(chosen)).to_pylist(), strict=True):
        by_owner.setdefault(value, []).append(number)
    loose: list[int] = []
    for value, numbers in by_owner.items():
        home = _home(value, homes) or _nearest(value, dirty)
        if home is None:
            loose += numbers
        else:
            home.added.append(coming[np.array(numbers, dtype=np.intp)])
    return coming[np.array(loose, dtype=np.intp)]


def _home(owner: Any, homes: Sequence[Rewrite]) -> Rewrite | None:
    around = (
        each
        for each in homes
        if each.file.owner_min is not None and each.file.owner_min <= owner <= each.file.owner_max
    )
    return next(around, None)


def _nearest(owner: Any, dirty: Sequence[Rewrite]) -> Rewrite | None:
    """The last file before the owner, else the first."""
    known = sorted((each for each in dirty if each.file.owner_min is not None), key=lambda each: each.file.owner_min)
    before = [each for each in known if each.file.owner_min <= owner]
    return before[-1] if before else next(iter(known or dirty), None)


def rewritten(folder: TableFolder, each: Rewrite, batch: pa.Table) -> pa.Table:
    """The file's rows as they are to be, in the order of the owner."""
    values, added = np.concatenate(each.values), np.concatenate([*each.added, np.zeros(0, dtype=np.intp)])
    count = each.rows.num_rows
    numbers = np.arange(count)
    numbers[np.concatenate(each.places)] = count + np.arange(len(values))
    kept = np.delete(numbers, np.concatenate(each.dropped))
    order = np.concatenate([kept, count + len(values) + np.arange(len(added))])
    pool = pa.concat_tables([each.rows, batch.take(pa.array(np.concatenate([values, added])))])
    rows = pool.take(pa.array(order))
    if not len(added) or folder.contract.owner is None:
        return rows
    return rows.take(pa.array(np.argsort(owner_ranks(rows, folder.contract.owner), kind="stable")))
