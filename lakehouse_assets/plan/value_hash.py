"""Spark's xxhash64 of the values of one column, many at once.

`hash_ints` and `hash_longs` are XXH64 of 4 and 8 bytes, written out for numpy; unsigned numbers wrap around, as the
algorithm wants. Bytes of any length go through the library, those that repeat only once.
"""

# pyright: standard
# pyarrow comes without types, so that strict checking would complain of every call to it.

from collections.abc import Sequence
from itertools import pairwise
from typing import assert_never

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from xxhash import xxh64_intdigest

from lakehouse_assets.contracts.table import ColumnType

Hashes = npt.NDArray[np.uint64]

_PRIMES = (
    0x9E3779B185EBCA87,
    0xC2B2AE3D27D4EB4F,
    0x165667B19E3779F9,
    0x85EBCA77C2B2AE63,
    0x27D4EB2F165667C5,
)
_P1, _P2, _P3, _P4, _ = (np.uint64(prime) for prime in _PRIMES)
_MASK = (1 << 64) - 1
_SEED = 42
_SAMPLE = 1_024
"""Rows by which texts are found to repeat or not."""


def hashed_values(array: pa.Array, kind: ColumnType, tag: int) -> Hashes:
    """xxhash64(tag, value) of each value, 0 for NULL."""
    seed = xxh64_intdigest(tag.to_bytes(4, "little"), _SEED)
    if array.null_count == len(array):
        return np.zeros(len(array), dtype=np.uint64)
    if not array.null_count:
        return _hashed(array, kind, seed)
    valid = np.asarray(array.is_valid().cast(pa.uint8())).astype(bool)
    hashes = np.zeros(len(array), dtype=np.uint64)
    hashes[valid] = _hashed(array.drop_null(), kind, seed)
    return hashes


def hash_longs(values: Hashes, start: np.uint64) -> Hashes:
    """XXH64 of 8 bytes each; `start` is `long_hash_seed` of the seed."""
    hashes = start ^ (_rotated(values * _P2, 31) * _P1)
    return _avalanched(_rotated(hashes, 27) * _P1 + _P4)


def hash_ints(values: Hashes, start: np.uint64) -> Hashes:
    """XXH64 of 4 bytes each, given as unsigned numbers below 2³²; `start` is `int_hash_seed` of the seed."""
    hashes = start ^ (values * _P1)
    return _avalanched(_rotated(hashes, 23) * _P2 + _P3)


def long_hash_seed(seed: int) -> np.uint64:
    return np.uint64((seed + _PRIMES[4] + 8) & _MASK)


def int_hash_seed(seed: int) -> np.uint64:
    return np.uint64((seed + _PRIMES[4] + 4) & _MASK)


def _hashed(array: pa.Array, kind: ColumnType, seed: int) -> Hashes:
    """Of an array without NULLs."""
    match kind:
        case "string" | "binary":
            return _hashed_texts(array.cast(pa.binary()), seed)
        case "int" | "date":
            numbers = np.asarray(array.view(pa.int32())).view(np.uint32)
            return hash_ints(numbers.astype(np.uint64), int_hash_seed(seed))
        case "boolean":
            return hash_ints(np.asarray(array.cast(pa.uint8())).astype(np.uint64), int_hash_seed(seed))
        case "bigint" | "timestamp":
            return hash_longs(np.asarray(array.view(pa.int64())).view(np.uint64), long_hash_seed(seed))
        case "double":
            numbers = np.asarray(array) + 0.0  # -0.0 and 0.0 are one value, and so are all that is not a number
            numbers[np.isnan(numbers)] = np.nan
            return hash_longs(numbers.view(np.uint64), long_hash_seed(seed))
        case "array<string>":
            return _hashed_arrays(array.to_pylist(), seed)
        case _:
            assert_never(kind)


def _hashed_texts(array: pa.Array, seed: int) -> Hashes:
    """Texts that repeat (paths, kinds) are hashed once. Finding that out for ones that don't costs as much again."""
    sample = array.slice(0, _SAMPLE)
    if len(sample.unique()) * 2 > len(sample):
        return _hashed_bytes(array, seed)
    encoded = array.dictionary_encode()
    return _hashed_bytes(encoded.dictionary, seed)[np.asarray(encoded.indices)]


def _hashed_bytes(array: pa.Array, seed: int) -> Hashes:
    _, offsets, data = array.buffers()
    held = data.to_pybytes() if data is not None else b""
    edges = np.frombuffer(offsets, dtype=np.int32)[array.offset : array.offset + len(array) + 1].tolist()
    digest = xxh64_intdigest
    made = (digest(held[start:end], seed) for start, end in pairwise(edges))
    return np.fromiter(made, dtype=np.uint64, count=len(array))


def _hashed_arrays(values: Sequence[Sequence[str | None]], seed: int) -> Hashes:
    known: dict[tuple[str | None, ...], int] = {}
    for value in values:
        item = tuple(value)
        if item not in known:
            known[item] = _hashed_items(item, seed)
    return np.fromiter((known[tuple(value)] for value in values), dtype=np.uint64, count=len(values))


def _hashed_items(items: tuple[str | None, ...], seed: int) -> int:
    pieces = [*(item.encode() for item in items if item is not None), len(items).to_bytes(4, "little")]
    if None in items:
        pieces += [int(item is None).to_bytes(4, "little") for item in items]
    for piece in pieces:
        seed = xxh64_intdigest(piece, seed)
    return seed


def _rotated(values: Hashes, bits: int) -> Hashes:
    return (values << np.uint64(bits)) | (values >> np.uint64(64 - bits))


def _avalanched(values: Hashes) -> Hashes:
    values = (values ^ (values >> np.uint64(33))) * _P2
    values = (values ^ (values >> np.uint64(29))) * _P3
    return values ^ (values >> np.uint64(32))
