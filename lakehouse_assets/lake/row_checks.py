"""Rows in Arrow held against their contract's pandera schema: in this process, and by Spark's workers slice by slice.

Rows go to polars without a copy, but for texts; only the columns that a rule needs go at all.

Cost: of 100,000 edges 18 ms, of one row 1.3 ms. The schema and its libraries are loaded with the first rows.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lakehouse_assets.contracts.rule_names import DUPLICATE_KEY, OTHER_OWNERS, OUTSIDE, needed_columns
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.contents import places
from lakehouse_assets.lake.naming import EXAMPLES, named_rows
from lakehouse_assets.plan.matching import Matching
from lakehouse_assets.plan.write_facts import Violation, WriteRequest

if TYPE_CHECKING:
    import polars as pl


def violations_in(
    contract: TableContract, request: WriteRequest, rows: pa.Table, *, part: bool = False
) -> tuple[Violation, ...]:
    """What is wrong with the rows, each rule with how many and the first few by key.

    Of a `part` of a batch it is not asked whether keys are unique: whoever sees all parts has to.
    """
    if not rows.num_rows:
        return ()
    from lakehouse_assets.contracts.row_rules import broken_rows, rules_of

    frame = _with_run(contract, request, rows)
    if part:
        frame = _with(frame, DUPLICATE_KEY, np.zeros(rows.num_rows, dtype=bool))
    broken = broken_rows(contract, frame)
    if broken.is_empty():
        return ()
    found = [(rule.name, broken.filter(~rule.holds)) for rule in rules_of(contract, tuple(frame.columns))]
    return tuple(_violation(contract, name, some) for name, some in found if not some.is_empty())


def together(found: Mapping[str, Violation], other: Violation) -> dict[str, Violation]:
    """What parts of a batch break, by rule, with one more told."""
    before = found.get(other.rule, Violation(rule=other.rule, rows=0, examples=()))
    first = tuple(sorted({*before.examples, *other.examples})[:EXAMPLES])
    return {**found, other.rule: Violation(rule=other.rule, rows=before.rows + other.rows, examples=first)}


def reasons(contract: TableContract, rows: pa.Table, doubled: pa.ChunkedArray | None = None) -> pa.Array:
    """Of each row the first of the contract's rules that it breaks, or NULL. `doubled` says whose key others have,
    where these rows are but a part of those that may have it."""
    import polars as pl

    from lakehouse_assets.contracts.row_rules import rules_of

    frame = _needed(contract, rows)
    if doubled is not None:
        frame = _with(frame, DUPLICATE_KEY, doubled)
    rules = rules_of(contract, tuple(frame.columns))
    first = pl.coalesce(pl.when(~rule.holds).then(pl.lit(rule.name)) for rule in rules)
    return frame.select(first.alias("reason")).to_arrow()["reason"].cast(pa.string()).combine_chunks()


def _with_run(contract: TableContract, request: WriteRequest, rows: pa.Table) -> "pl.DataFrame":
    """What the rules need of the rows, and which of them are outside of what the run covers, if any are."""
    frame = _needed(contract, rows)
    asked = Matching(contract, request.scopes)
    outside = [chosen for place, chosen in places(contract, rows).items() if request.scopes and not asked.has(place)]
    if outside:
        frame = _with(frame, OUTSIDE, _chosen(rows.num_rows, outside))
    if request.owners and contract.owner:
        # A row of another owner would not be compared with the one that the table has, and so stand in it twice.
        frame = _with(frame, OTHER_OWNERS, ~frame[contract.owner].is_in(request.owners).fill_null(value=False))
    return frame


def _needed(contract: TableContract, rows: pa.Table) -> "pl.DataFrame":
    import polars as pl

    frame = pl.from_arrow(rows.select(needed_columns(contract, rows.column_names)))
    assert isinstance(frame, pl.DataFrame)
    return frame


def _with(frame: "pl.DataFrame", name: str, values: Any) -> "pl.DataFrame":
    import polars as pl

    return frame.with_columns(pl.Series(name, values))


def _violation(contract: TableContract, rule: str, broken: "pl.DataFrame") -> Violation:
    import polars as pl

    keys = broken[list(contract.key)]
    count = keys.height
    if rule == DUPLICATE_KEY:
        keys = keys.unique()
        count -= keys.height  # how many are too many
    first = keys.sort(pl.all(), nulls_last=True).head(EXAMPLES).to_arrow().to_pylist()
    return Violation(rule=rule, rows=count, examples=named_rows(contract, first))


def _chosen(total: int, parts: Sequence[Any]) -> np.ndarray:
    mask = np.zeros(total, dtype=bool)
    for chosen in parts:
        mask[chosen] = True
    return mask
