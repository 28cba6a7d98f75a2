"""A frame on Spark held against its contract by the workers, in one pass that also tells what its partitions hold.

Spark hashes rows and keys in its own code; the workers get the hashes and the columns that a rule needs. Rows are dealt
by the hash of their key, so that one worker sees all rows of a key, and remembers eight bytes of each. Which keys stand
more than once is asked of Spark only where hashes have met.

Invariant: hashes that meet by chance refuse nothing; Spark's answer decides.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from lakehouse_assets.contracts.rule_names import DUPLICATE_KEY, OTHER_OWNERS, OUTSIDE, needed_columns
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.hashing import json_text
from lakehouse_assets.lake.contents import places
from lakehouse_assets.lake.data_files import contents_of, contents_told
from lakehouse_assets.lake.naming import EXAMPLES, named_rows
from lakehouse_assets.lake.outcome import PartitionValues
from lakehouse_assets.lake.row_checks import together, violations_in
from lakehouse_assets.plan.alignment import new_column, new_columns
from lakehouse_assets.plan.row_hash import Content, content_of_hashes, row_hash_sql
from lakehouse_assets.plan.sql_text import column
from lakehouse_assets.plan.write_facts import Violation, WriteRequest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_ROW = "lakehouse_row"
_KEY = "lakehouse_key"
_MORE = "lakehouse_more"


def frame_check(
    contract: TableContract, request: WriteRequest, rows: "DataFrame", columns: Mapping[str, str]
) -> tuple[dict[PartitionValues, Content], tuple[Violation, ...]]:
    """Contents by partition, and violations with examples."""
    present = [each for each in contract.columns if each.name in columns]
    hashed = [*present, *(new_column(name, kind) for name, kind in new_columns(contract, columns))]
    sent = rows.selectExpr(
        *(column(name, "spark") for name in needed_columns(contract, tuple(columns))),
        f"{row_hash_sql(hashed)} AS {_ROW}",
        f"{row_hash_sql([contract.column(name) for name in contract.key])} AS {_KEY}",
    ).repartition(_KEY)
    task = SliceCheck(contract=contract, request=request)
    answers = sent.mapInArrow(task.__call__, "told STRING").toArrow()["told"].to_pylist()
    told: list[dict[str, Any]] = [json.loads(each) for each in answers]
    contents = contents_of(contract, (each for slice_ in told for each in slice_["contents"]))
    found = [Violation(**{**each, "examples": tuple(each["examples"])}) for s in told for each in s["violations"]]
    violations = _in_order(contract, columns, reduce(together, found, dict[str, Violation]()))
    if any(each["doubled"] for each in told) and (doubled := _doubled(contract, rows)):
        violations.append(doubled)
    return contents, tuple(violations)


def _in_order(contract: TableContract, columns: Mapping[str, str], found: Mapping[str, Violation]) -> list[Violation]:
    """The violations in the order of the rules, whichever slice told of them first."""
    if not found:
        return []
    from lakehouse_assets.contracts.row_rules import rules_of

    rules = rules_of(contract, (*columns, OUTSIDE, OTHER_OWNERS))
    return [found[rule.name] for rule in rules if rule.name in found]


@dataclass(frozen=True, kw_only=True)
class SliceCheck:
    """Runs on a worker: what a slice of the rows holds and breaks, as one row of JSON."""

    contract: TableContract
    request: WriteRequest

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        contents: list[dict[str, Any]] = []
        violations: dict[str, Violation] = {}
        keys = [np.zeros(0, dtype=np.int64)]
        for batch in (each for each in batches if each.num_rows):
            rows = pa.Table.from_batches([batch])
            keys.append(rows[_KEY].to_numpy())
            hashes = rows[_ROW].to_numpy().view(np.uint64)
            held = {place: content_of_hashes(hashes[chosen]) for place, chosen in places(self.contract, rows).items()}
            contents += contents_told(self.contract, held)
            broken = violations_in(self.contract, self.request, rows, part=True)
            violations = reduce(together, broken, violations)
        seen = np.concatenate(keys)
        told = {
            "contents": contents_told(self.contract, contents_of(self.contract, contents)),
            "violations": [vars(each) for each in violations.values()],
            "doubled": len(np.unique(seen)) < len(seen),
        }
        yield pa.record_batch([pa.array([json_text(told)], pa.string())], names=["told"])


def _doubled(contract: TableContract, rows: "DataFrame") -> Violation | None:
    """Keys that stand more than once, of all the frame; those with a NULL are no keys."""
    from pyspark.sql.functions import expr

    key = [column(name, "spark") for name in contract.key]
    whole = rows.where(" AND ".join(f"{name} IS NOT NULL" for name in key))
    repeated = whole.groupBy(*key).agg(expr(f"count(*) - 1 AS {_MORE}")).where(f"{_MORE} > 0")
    count = repeated.selectExpr(f"coalesce(sum({_MORE}), 0) AS {_MORE}").toArrow()[_MORE][0].as_py()
    first = repeated.drop(_MORE).orderBy(*key).limit(EXAMPLES).toArrow().to_pylist()
    return Violation(rule=DUPLICATE_KEY, rows=count, examples=named_rows(contract, first)) if count else None
