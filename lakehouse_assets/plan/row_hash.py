"""A row's content as 64 bits, the same from Spark and from Arrow, and a partition's content as their sum.

The hash is Spark's xxhash64, chained over the columns in the order of their names: a table that grew has them in
another order than its contract. It passes over NULLs, so each value comes behind a number
that stands for its column's name, and behind an array its length and where its NULLs are. A column that is
NULL adds nothing, so that a new column leaves old rows' hashes as they were. The sum is free of order and can be kept
up to date: what was deleted is subtracted, what was inserted added.
"""

import math
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from lakehouse_assets.contracts.table import Column, ColumnType
from lakehouse_assets.plan.sql_text import column

_SEED = 42
_MASK = (1 << 64) - 1
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_DAY = date(1970, 1, 1)


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
        parts += [f"IF({name} IS NULL, NULL, {_tag(each)})", name]
        if each.type.startswith("array"):
            parts.append(f"IF({name} IS NULL, NULL, size({name}))")
            parts.append(f"IF(exists({name}, x -> x IS NULL), transform({name}, x -> x IS NULL), NULL)")
    return f"xxhash64({', '.join(parts)})"


def row_hashes(columns: Sequence[Column], values: Sequence[Sequence[Any]]) -> Iterator[int]:
    """The hashes of rows given column by column as Python values; as unsigned numbers."""
    from xxhash import xxh64_intdigest

    ordered = sorted(zip(columns, values, strict=True), key=lambda pair: pair[0].name)
    known = [(struct.pack("<i", _tag(each)), _encoder(each.type)) for each, _ in ordered]
    for row in zip(*(held for _, held in ordered), strict=True):
        seed = _SEED
        for value, (tag, encode) in zip(row, known, strict=True):
            if value is None:
                continue
            seed = xxh64_intdigest(tag, seed)
            for piece in encode(value):
                seed = xxh64_intdigest(piece, seed)
        yield seed


def _tag(each: Column) -> int:
    """A number for the column's name that a Spark INT holds."""
    return zlib.crc32(each.name.encode()) & 0x7FFFFFFF


def content_of(columns: Sequence[Column], values: Sequence[Sequence[Any]]) -> Content:
    rows = 0
    total = 0
    for value in row_hashes(columns, values):
        rows += 1
        total += value
    return Content(rows=rows, total=total & _MASK)


def _encoder(column_type: ColumnType) -> Callable[[Any], Sequence[bytes]]:
    encoders: dict[ColumnType, Callable[[Any], Sequence[bytes]]] = {
        "string": lambda value: (value.encode(),),
        "int": lambda value: (struct.pack("<i", value),),
        "bigint": lambda value: (struct.pack("<q", value),),
        "double": _double,
        "boolean": lambda value: (struct.pack("<i", int(value)),),
        "date": lambda value: (struct.pack("<i", (value - _EPOCH_DAY).days),),
        "timestamp": lambda value: (struct.pack("<q", _microseconds(value)),),
        "array<string>": _array,
        "binary": lambda value: (value,),
    }
    return encoders[column_type]


def _array(value: Sequence[str | None]) -> Sequence[bytes]:
    pieces = [*(item.encode() for item in value if item is not None), struct.pack("<i", len(value))]
    if None in value:
        pieces += [struct.pack("<i", item is None) for item in value]
    return pieces


def _double(value: float) -> Sequence[bytes]:
    """-0.0 and 0.0 are one value, and so are all that is not a number."""
    return (struct.pack("<d", math.nan if math.isnan(value) else value + 0.0),)


def _microseconds(value: datetime) -> int:
    passed = value - _EPOCH
    return (passed.days * 86_400 + passed.seconds) * 1_000_000 + passed.microseconds
