"""The rules of rows: what pandera finds by one check, and by its own declarations of the same contract."""

from typing import Any

import pandera.polars as pandera
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandera.errors import SchemaErrors

from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.contracts.row_rules import broken_rows, rules_of
from lakehouse_assets.contracts.rule_names import DUPLICATE_KEY, needed_columns
from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.table import Column, TableContract
from lakehouse_assets_tests.support.writes import THINGS, table_of, thing

every_contract = pytest.mark.parametrize("contract", CATALOG.values(), ids=list(CATALOG))


def frame_of(contract: TableContract, rows: list[dict[str, Any]]) -> pl.DataFrame:
    frame = pl.from_arrow(table_of(contract, rows))
    assert isinstance(frame, pl.DataFrame)
    return frame


def declared(contract: TableContract) -> pandera.DataFrameSchema:
    """The contract as pandera declares such things: each is a query of its own there."""
    columns = {
        each.name: pandera.Column(
            nullable=each.nullable, checks=pandera.Check.isin(each.one_of) if each.one_of else None
        )
        for each in contract.columns
    }
    return pandera.DataFrameSchema(columns, unique=list(contract.key), name=contract.name)


names = st.sampled_from(["x", "y", None])
rows = st.lists(
    st.builds(thing, st.sampled_from(["a", None]), names, names, kind=st.sampled_from(["a", "b", "c", None])),
    max_size=6,
)


@given(rows)
def test_one_check_refuses_what_pandera_s_declarations_refuse_and_names_the_rows(batch: list[dict[str, Any]]):
    frame = frame_of(THINGS, batch)
    keys = [(row["repo"], row["path"], row["name"]) for row in batch]
    bad = [
        row
        for row, key in zip(batch, keys, strict=True)
        if None in key or keys.count(key) > 1 or row["kind"] not in ("a", "b", None)
    ]
    assert broken_rows(THINGS, frame).to_dicts() == bad
    if bad:
        with pytest.raises(SchemaErrors):
            declared(THINGS).validate(frame, lazy=True)
    else:
        declared(THINGS).validate(frame, lazy=True)


@every_contract
def test_every_promise_of_a_contract_is_a_rule(contract: TableContract):
    names = [rule.name for rule in rules_of(contract, contract.column_names)]
    nulls = [f"{each.name} is NULL" for each in contract.columns if not each.nullable]
    values = [f"{each.name} is none of {', '.join(each.one_of)}" for each in contract.columns if each.one_of]
    assert names == [*nulls, *values, DUPLICATE_KEY]


@every_contract
def test_a_row_of_nulls_breaks_a_rule_and_no_rows_break_none(contract: TableContract):
    schema = arrow_schema(contract.columns)
    nothing = pl.from_arrow(pa.table([pa.nulls(1, kind) for kind in schema.types], schema=schema))
    assert isinstance(nothing, pl.DataFrame)
    assert broken_rows(contract, nothing).height == 1
    assert broken_rows(contract, nothing.clear()).is_empty()


def test_settings_of_pandera_s_own_do_not_switch_the_rules_off():
    from pandera.config import ValidationDepth, config_context

    frame = frame_of(THINGS, [thing("a", "x", "f", kind="c")])
    with config_context(validation_enabled=False, validation_depth=ValidationDepth.SCHEMA_ONLY):
        assert broken_rows(THINGS, frame).height == 1


@pytest.mark.parametrize("name", ["*", "^a$", "^.*$", "a b", "ä"])
def test_a_column_s_name_is_no_pattern(name: str):
    contract = TableContract(
        name="odd",
        description="One row per value.",
        columns=(
            Column(name="a", type="bigint", nullable=True, description="Another."),
            Column(name=name, type="string", one_of=("x",), description="The value."),
        ),
        key=(name,),
        strategy="upsert",
    )
    assert needed_columns(contract, contract.column_names) == [name]
    assert broken_rows(contract, frame_of(contract, [{"a": None, name: "x"}])).is_empty()
    for bad in ("y", None):
        assert broken_rows(contract, frame_of(contract, [{"a": 1, name: bad}])).height == 1


def test_a_float_that_is_no_number_is_not_null():
    contract = TableContract(
        name="floats",
        description="One row per name.",
        columns=(
            Column(name="name", type="string", description="The name."),
            Column(name="value", type="double", description="A value."),
        ),
        key=("name",),
        strategy="upsert",
    )
    assert broken_rows(contract, frame_of(contract, [{"name": "a", "value": float("nan")}])).is_empty()
