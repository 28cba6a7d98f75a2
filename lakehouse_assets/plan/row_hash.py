"""A row's content as 64 bits, the same from Spark and from Arrow, and a partition's content as their sum.

A value's hash is Spark's xxhash64 over a number that stands for its column's name and the value itself; behind an
array its length and where its NULLs are. A row's hash is the hash of its values' hashes taken together with
exclusive or: the order of the columns does not matter, and a column that is NULL adds nothing, so that a new
column leaves old rows' hashes as they were. The sum is free of order and can be kept up to date: what was
deleted is subtracted, what was inserted added.

Cost: numbers are hashed by numpy, some ten nanoseconds each; of texts only those that differ, one by one.
"""

# pyright: standard
# pyarrow comes without types, so that strict checking would complain of every call to it.

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lakehouse_assets.contracts.schemas import arrow_type
from lakehouse_assets.contracts.table import Column
from lakehouse_assets.plan.sql_text import column
from lakehouse_assets.plan.value_hash import hash_longs, hashed_values, long_hash_seed

Hashes = npt.NDArray[np.uint64]
ColumnValues = Sequence[Any] | pa.Array | pa.ChunkedArray
"""The values of one column, in Arrow or as Python's own."""

_SEED = 42
_MASK = (1 << 64) - 1
_ROWS_AT_ONCE = 65_536
"""Rows that are hashed together: enough for numpy, few enough for the processor's cache."""


@dataclass(frozen=True, kw_only=True)
class Content:
    """What a partition holds: how many rows, and the sum of their hashes modulo 2⁶⁴."""

    rows: int = 0
    total: int = 0

    def plus(self, other: "Content") -> "Content":
        return Content(rows=self.rows + other.rows, total=(self.total + other.total) & _MASK)

    def minus(self, other: "Content") -> "Content":
        return Content(rows=self.rows - other.rows, total=(self.total - other.total) & _MASK)

    @property
    def version(self) -> str:
        """The data version: equal contents have equal versions."""
        return f"{self.rows:x}-{self.total:016x}"

    @staticmethod
    def from_version(version: str) -> "Content":
        rows, _, total = version.partition("-")
        return Content(rows=int(rows, 16), total=int(total, 16))


NO_CONTENT = Content()


def row_hash_sql(columns: Sequence[Column], *, of: str = "") -> str:
    """The hash as a Spark expression."""
    parts: list[str] = []
    for each in sorted(columns, key=lambda each: each.name):
        name = column(each.name, "spark", of=of)
        pieces = [str(_tag(each)), name]
        if each.type == "array<string>":
            nulls = f"IF(exists({name}, x -> x IS NULL), transform({name}, x -> x IS NULL), NULL)"
            pieces += [f"size({name})", nulls]
        parts.append(f"IF({name} IS NULL, 0L, xxhash64({', '.join(pieces)}))")
    return f"xxhash64({' ^ '.join(parts)})"


def row_hashes(columns: Sequence[Column], values: Sequence[ColumnValues]) -> Hashes:
    """The hashes of rows given column by column."""
    arrays = [_chunked(each, held) for each, held in zip(columns, values, strict=True)]
    total = len(arrays[0]) if arrays else 0
    parts: list[Hashes] = []
    for first in range(0, total, _ROWS_AT_ONCE):
        mixed = np.zeros(min(_ROWS_AT_ONCE, total - first), dtype=np.uint64)
        for each, array in zip(columns, arrays, strict=True):
            mixed ^= hashed_values(_one(array.slice(first, _ROWS_AT_ONCE)), each.type, _tag(each))
        parts.append(hash_longs(mixed, long_hash_seed(_SEED)))
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.uint64)


def content_of(columns: Sequence[Column], values: Sequence[ColumnValues]) -> Content:
    return content_of_hashes(row_hashes(columns, values))


def content_of_hashes(hashes: Hashes) -> Content:
    return Content(rows=len(hashes), total=int(np.add.reduce(hashes, dtype=np.uint64)))


def _tag(each: Column) -> int:
    """A number for the column's name that a Spark INT holds."""
    return zlib.crc32(each.name.encode()) & 0x7FFFFFFF


def _chunked(each: Column, values: ColumnValues) -> pa.ChunkedArray:
    kind = arrow_type(each.type)
    held: Any = values
    if not isinstance(values, pa.Array | pa.ChunkedArray):
        held = pa.array(values, type=kind)
    whole = pa.chunked_array([held]) if isinstance(held, pa.Array) else held
    return whole if whole.type == kind else whole.cast(kind)


def _one(array: pa.ChunkedArray) -> pa.Array:
    return array.chunk(0) if array.num_chunks == 1 else pa.concat_arrays(array.chunks)
