"""Which rows of a batch differ from the table's, and what writing them changes.

The rows that the batch could change are read once, pruned by partition and owner, and compared null-safe, column by
column, in Arrow.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable, QueryBuilder

from lakehouse_assets.contracts.table import Column, TableContract
from lakehouse_assets.lake.contents import contents_by_partition, places
from lakehouse_assets.lake.outcome import Change, Outcome, OwnerChange, PartitionValues, biggest
from lakehouse_assets.lake.rows import conform, picked
from lakehouse_assets.plan.sql_text import column, in_list
from lakehouse_assets.plan.statements import covering_predicate
from lakehouse_assets.plan.value_hash import hashed_values
from lakehouse_assets.plan.write_facts import WriteRequest, deletes_missing, needs_keys_only
from lakehouse_assets.plan.write_plan import WritePlan

OPERATION = "lakehouse_operation"
_LISTED_KEYS = 5_000
"""Up to so many keys are asked for by name where only keys matter; beyond, all keys of the partitions are read."""
_MOST_CODES = 1 << 31
"""The product of two numbers up to it fits into 64 bits."""

_Numbers = npt.NDArray[np.int64]


def affected(
    table: DeltaTable, contract: TableContract, plan: WritePlan, batch: pa.Table, *, counted: bool
) -> pa.Table:
    """The rows of the table that the batch could change; their keys alone where these tell all that is asked."""
    request = plan.request
    where = covering_predicate(contract, request, plan.pruning.owner_ranges, "datafusion")
    owner = contract.owner if request.owners else None
    names = [each.name for each in contract.stored_columns]
    if request.strategy == "append_new" or (needs_keys_only(request) and not counted):
        names = list(dict.fromkeys([*contract.key, *filter(None, [owner])]))
        if len(contract.key) == 1 and batch.num_rows <= _LISTED_KEYS and contract.column(names[0]).type != "double":
            where += " AND " + in_list(column(names[0], "datafusion"), batch[names[0]].to_pylist(), "datafusion")
    listed = ", ".join(column(name, "datafusion") for name in names)
    reader = QueryBuilder().register("t", table).execute(f"SELECT {listed} FROM t WHERE {where}")
    rows = conform(pa.table(reader.read_all()), [contract.column(name) for name in names])
    if owner is None:
        return rows
    asked = pc.is_in(rows[owner], value_set=pa.array(request.owners))  # pyright: ignore[reportAttributeAccessIssue]
    return rows.filter(asked)


def compare(
    contract: TableContract, request: WriteRequest, batch: pa.Table, target: pa.Table, *, counted: bool
) -> tuple[pa.Table, Outcome]:
    """The rows to write, each with its operation, and what they change; of a row to delete its key alone.

    `counted` asks for the contents of partitions too; without, a deletion needs no more of its rows than their keys.
    """
    here, there = _same_keys([contract.column(name) for name in contract.key], batch, target)
    inserted = kept = updated = deleted = np.zeros(0, dtype=np.int64)
    if request.strategy == "delete_matching":
        deleted = there
    else:
        inserted = _others(here, batch.num_rows)
    if request.strategy in ("upsert", "replace_partitions"):
        differs = _differ(contract, batch, here, target, there)
        kept, updated = here[differs], there[differs]
    if deletes_missing(request):
        deleted = _others(there, target.num_rows)
    came = picked(batch, np.concatenate([inserted, kept]))
    went = picked(target, np.concatenate([updated, deleted]))
    operations = np.repeat(["insert", "update", "delete"], [len(inserted), len(kept), len(deleted)])
    changed = pa.concat_tables(
        [came, went.slice(len(updated)).select(list(contract.key))], promote_options="default"
    ).append_column(OPERATION, pa.array(operations, pa.string()))
    known = went if counted else went.slice(0, len(updated))
    outcome = Outcome(
        inserted=len(inserted),
        updated=len(updated),
        deleted=len(deleted),
        unchanged=0 if request.strategy == "delete_matching" else batch.num_rows - came.num_rows,
        changes=_changes(contract, came, known, updated=len(updated)),
        owners=biggest(_owners(contract, came, known)),
    )
    return changed, outcome


def _same_keys(key: Sequence[Column], batch: pa.Table, target: pa.Table) -> tuple[_Numbers, _Numbers]:
    """The rows of the batch that the table has under their key, and those of the table that they meet."""
    codes = _codes(key, batch, target)
    wanted, held = codes[: batch.num_rows], codes[batch.num_rows :]
    order = np.argsort(wanted, kind="stable")
    place = np.searchsorted(wanted[order], held)
    inside = np.flatnonzero(place < len(wanted))
    found = order[place[inside]]
    same = wanted[found] == held[inside]
    return found[same], inside[same]


def _codes(key: Sequence[Column], batch: pa.Table, target: pa.Table) -> _Numbers:
    """A number for each row of both, equal where the keys are."""
    codes, most = np.zeros(batch.num_rows + target.num_rows, dtype=np.int64), 1
    for each in key:
        both = pa.chunked_array([*batch[each.name].chunks, *target[each.name].chunks], batch[each.name].type)
        encoded = _plain(both, each).dictionary_encode(null_encoding="encode")
        values = max((len(chunk.dictionary) for chunk in encoded.chunks), default=0)
        if most > _MOST_CODES or values > _MOST_CODES:
            codes = np.unique(codes, return_inverse=True)[1].astype(np.int64)
            most = len(codes)
        codes = codes * values + np.concatenate([codes[:0], *(np.asarray(chunk.indices) for chunk in encoded.chunks)])
        most *= values
    return codes


def _differ(
    contract: TableContract, batch: pa.Table, here: _Numbers, target: pa.Table, there: _Numbers
) -> npt.NDArray[np.bool_]:
    """Whether rows of the same keys differ in a column; NULL is equal to itself alone."""
    differs = np.zeros(len(here), dtype=bool)
    for each in contract.columns:
        if each.name not in contract.key:
            new = _plain(picked(batch.select([each.name]), here)[each.name], each)
            old = _plain(picked(target.select([each.name]), there)[each.name], each)
            unequal = pc.not_equal(new, old)  # pyright: ignore[reportAttributeAccessIssue]
            differs |= np.asarray(unequal.fill_null(False)) | (np.asarray(new.is_null()) != np.asarray(old.is_null()))
    return differs


def _plain(values: pa.ChunkedArray, of: Column) -> pa.ChunkedArray:
    """Values that Arrow compares as Delta does: lists, and numbers of which one is not equal to itself, by hash."""
    if of.type not in ("double", "array<string>"):
        return values
    return pa.chunked_array([pa.array(hashed_values(chunk, of.type, 0)) for chunk in values.chunks], pa.uint64())


def _others(chosen: _Numbers, rows: int) -> _Numbers:
    """The rows that are not chosen."""
    left = np.ones(rows, dtype=bool)
    left[chosen] = False
    return np.flatnonzero(left)


def _changes(contract: TableContract, came: pa.Table, went: pa.Table, *, updated: int) -> dict[PartitionValues, Change]:
    """What becomes of each partition's content; the last rows that came replace the first that went."""
    changes = {place: Change(added=content) for place, content in contents_by_partition(contract, came).items()}
    for place, content in contents_by_partition(contract, went).items():
        changes[place] = changes.get(place, Change()).plus(Change(removed=content))
    again = came.slice(came.num_rows - updated)
    for place, rows in places(contract, again).items() if updated else ():
        changes[place] = changes[place].plus(Change(updated=updated if isinstance(rows, slice) else len(rows)))
    return changes


def _owners(contract: TableContract, *tables: pa.Table) -> Iterator[OwnerChange]:
    """How many rows of each owner came and went."""
    if contract.owner is None or not contract.partition_by:
        return
    by = [contract.partition_by[0], contract.owner]
    counts: dict[tuple[str, str], list[int]] = {}
    for which, rows in enumerate(tables):
        if rows.num_rows:
            counted = rows.select(by).group_by(by, use_threads=False).aggregate([([], "count_all")])
            for partition, owner, number in zip(*(each.to_pylist() for each in counted.columns), strict=True):
                counts.setdefault((str(partition), str(owner)), [0, 0])[which] += number
    for (partition, owner), (added, removed) in counts.items():
        yield OwnerChange(partition=partition, owner=owner, added=added, removed=removed)
