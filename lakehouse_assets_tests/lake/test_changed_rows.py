"""Which rows differ, against a comparison row by row in Python."""

import math
import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.table import REPO, Column, TableContract
from lakehouse_assets.lake import changed_rows, rows
from lakehouse_assets.lake.changed_rows import OPERATION, compare
from lakehouse_assets.lake.rows import picked
from lakehouse_assets.plan.write_facts import WriteRequest

MIXED = TableContract(
    name="mixed",
    description="Keys of three types.",
    columns=(
        REPO,
        Column(name="number", type="bigint", description="A number."),
        Column(name="part", type="double", description="A fraction."),
        Column(name="text", type="string", nullable=True, description="A text."),
        Column(name="words", type="array<string>", nullable=True, description="Words."),
    ),
    key=("repo", "number", "part"),
    partition_by=("repo",),
    strategy="upsert",
)
REQUEST = WriteRequest(scopes=(), strategy="upsert", key="k")
Key = tuple[Any, ...]


def made(chance: random.Random) -> dict[Key, dict[str, Any]]:
    found: dict[Key, dict[str, Any]] = {}
    for _ in range(chance.randrange(200)):
        key = (chance.choice("ab"), chance.randrange(8), chance.choice((0.0, 1.5, math.inf)))
        text, words = chance.choice((None, "", "x", "y")), chance.choice((None, [], [None], ["x"], ["x", "y"]))
        found[key] = dict(zip(MIXED.column_names, (*key, text, words), strict=True))
    return found


def table(found: dict[Key, dict[str, Any]], chance: random.Random) -> pa.Table:
    """The rows in any order, in chunks of any size."""
    listed = list(found.values())
    chance.shuffle(listed)
    cut = chance.randrange(len(listed) + 1)
    schema = arrow_schema(MIXED.columns)
    return pa.concat_tables([pa.Table.from_pylist(part, schema=schema) for part in (listed[:cut], listed[cut:])])


@pytest.mark.parametrize("many_keys", [False, True])
def test_rows_differ_as_a_comparison_one_by_one_says(many_keys: bool, monkeypatch: pytest.MonkeyPatch):
    if many_keys:  # their combinations would not fit into 64 bits
        monkeypatch.setattr(changed_rows, "_MOST_CODES", 2)
    for seed in range(100):
        chance = random.Random(seed)
        new, old = made(chance), made(chance)
        changed, outcome = compare(MIXED, REQUEST, table(new, chance), table(old, chance), counted=True)
        expected = {
            **dict.fromkeys(new.keys() - old.keys(), "insert"),
            **dict.fromkeys(old.keys() - new.keys(), "delete"),
            **{key: "update" for key in new.keys() & old.keys() if new[key] != old[key]},
        }
        told = {tuple(row[name] for name in MIXED.key): row for row in changed.to_pylist()}
        assert len(told) == changed.num_rows
        assert {key: row.pop(OPERATION) for key, row in told.items()} == expected
        assert all(row == new[key] for key, row in told.items() if key in new)
        counts = [list(expected.values()).count(each) for each in ("insert", "update", "delete")]
        assert [outcome.inserted, outcome.updated, outcome.deleted] == counts


def test_a_value_that_is_no_number_is_equal_to_itself_and_minus_zero_to_zero():
    row = {"repo": "a", "number": 1, "part": math.nan, "text": None, "words": None}
    zero = {**row, "part": 0.0}
    schema = arrow_schema(MIXED.columns)
    batch = pa.Table.from_pylist([row, {**zero, "part": -0.0}], schema=schema)
    changed, outcome = compare(MIXED, REQUEST, batch, pa.Table.from_pylist([row, zero], schema=schema), counted=True)
    assert changed.num_rows == 0
    assert outcome.unchanged == 2


def test_rows_are_picked_of_columns_that_are_too_long_for_their_offsets(monkeypatch: pytest.MonkeyPatch):
    held = pa.table({"text": pa.chunked_array([["a", None], ["c", "d", "e"]]), "size": [1, 2, 3, 4, 5]})
    numbers = np.array([4, 1, 0, 3], dtype=np.int64)
    expected = held.take(pa.array(numbers))
    monkeypatch.setattr(rows, "_MOST_BYTES", 0)
    monkeypatch.setattr(rows, "_ROWS_A_CHUNK", 3)
    assert picked(held, numbers).equals(expected)
    assert picked(held, numbers).schema == held.schema
