"""The contract's rules asked of rows in Arrow, column by column, as workers do before they write them.

The rules are those of `plan.batch_check`, by the same names. Cost: some hundred nanoseconds a row.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.contents import Places
from lakehouse_assets.lake.naming import EXAMPLES, named_rows
from lakehouse_assets.plan.batch_check import (
    DUPLICATE_KEY,
    OTHER_OWNERS,
    OUTSIDE,
    null_rule_name,
    one_of_rule_name,
)
from lakehouse_assets.plan.matching import Matching
from lakehouse_assets.plan.row_hash import row_hashes
from lakehouse_assets.plan.write_facts import Violation, WriteRequest

Mask = npt.NDArray[np.bool_]


def violations_in(
    contract: TableContract, request: WriteRequest, rows: pa.Table, places: Places
) -> tuple[Violation, ...]:
    """What is wrong with the rows, each rule with how many and the first few by key."""
    found: list[Violation] = []

    def note(rule: str, broken: Callable[[], Mask]) -> None:
        mask = broken()
        count = int(mask.sum())
        if count:
            found.append(Violation(rule=rule, rows=count, examples=_examples(contract, rows, mask)))

    for each in (each for each in contract.columns if each.name in rows.column_names):
        values: Any = rows[each.name]
        if not each.nullable and values.null_count:
            note(null_rule_name(each), lambda values=values: _mask(values.is_null()))
        if each.one_of:
            allowed = pa.array(each.one_of, pa.string())
            note(one_of_rule_name(each), lambda values=values, allowed=allowed: _not_among(values, allowed))
    asked = Matching(contract, request.scopes)
    outside = [chosen for place, chosen in places.items() if request.scopes and not asked.has(place)]
    if outside:
        note(OUTSIDE, lambda: _chosen(rows.num_rows, outside))
    if request.owners and contract.owner:
        owners, held = pa.array(request.owners, pa.string()), rows[contract.owner]
        note(OTHER_OWNERS, lambda: ~_mask(pc.is_in(held, value_set=owners)))  # pyright: ignore[reportAttributeAccessIssue]
    doubled = _doubled(contract, rows)
    if doubled:
        told = named_rows(contract, [dict(zip(contract.key, key, strict=True)) for key in sorted(doubled)[:EXAMPLES]])
        found.append(Violation(rule=DUPLICATE_KEY, rows=sum(doubled.values()), examples=told))
    return tuple(found)


def _doubled(contract: TableContract, rows: pa.Table) -> Counter[tuple[Any, ...]]:
    """Keys that stand more than once, with how many rows are too many. Only keys whose hashes meet are looked at."""
    hashes = row_hashes([contract.column(name) for name in contract.key], [rows[name] for name in contract.key])
    values, counts = np.unique(hashes, return_counts=True)
    if len(values) == len(hashes):
        return Counter()
    meeting = rows.select(list(contract.key)).filter(pa.array(np.isin(hashes, values[counts > 1])))
    keys = Counter(zip(*(held.to_pylist() for held in meeting.columns), strict=True))
    return Counter({key: count - 1 for key, count in keys.items() if count > 1 and None not in key})


def _examples(contract: TableContract, rows: pa.Table, mask: Mask) -> tuple[str, ...]:
    key = rows.select(list(contract.key)).filter(pa.array(mask))
    order = pc.sort_indices(key, [(name, "ascending") for name in contract.key])  # pyright: ignore[reportAttributeAccessIssue]
    return named_rows(contract, key.take(order[:EXAMPLES]).to_pylist())


def _not_among(values: Any, allowed: pa.Array) -> Mask:
    return _mask(values.is_valid()) & ~_mask(pc.is_in(values, value_set=allowed))  # pyright: ignore[reportAttributeAccessIssue]


def _mask(values: Any) -> Mask:
    return np.asarray(values.cast(pa.uint8())).astype(bool)


def _chosen(total: int, parts: Sequence[Any]) -> Mask:
    mask = np.zeros(total, dtype=bool)
    for chosen in parts:
        mask[chosen] = True
    return mask
