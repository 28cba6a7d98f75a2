"""Whether two sets of rows are equal, by count and hash of each of sixteen ranges.

A row's range is the first digit of its key's hash, so that both sides can be tallied in any order, batch by batch; a
range's hash is the sum of its rows' hashes.
"""

# pyright: standard
# pyarrow comes without types, so that strict checking would complain of every call to it.

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.plan.row_hash import row_hashes

RANGES = 16


@dataclass(frozen=True, kw_only=True)
class Tally:
    """Rows and hash of each range."""

    rows: tuple[int, ...] = (0,) * RANGES
    hashes: tuple[int, ...] = (0,) * RANGES

    @property
    def total(self) -> int:
        return sum(self.rows)

    def with_rows(self, contract: TableContract, rows: pa.Table | pa.RecordBatch) -> "Tally":
        key = [contract.column(name) for name in contract.key]
        places = (row_hashes(key, [rows[each.name] for each in key]) >> np.uint64(60)).astype(np.intp)
        hashes = row_hashes(contract.columns, [rows[each.name] for each in contract.columns])
        sums = np.array(self.hashes, dtype=np.uint64)
        np.add.at(sums, places, hashes)
        counts = np.bincount(places, minlength=RANGES)
        return Tally(
            rows=tuple(had + int(new) for had, new in zip(self.rows, counts, strict=True)),
            hashes=tuple(int(each) for each in sums),
        )


def differing_ranges(left: Tally, right: Tally) -> tuple[int, ...]:
    pairs = zip(left.rows, right.rows, left.hashes, right.hashes, strict=True)
    return tuple(number for number, (a, b, c, d) in enumerate(pairs) if (a, c) != (b, d))
