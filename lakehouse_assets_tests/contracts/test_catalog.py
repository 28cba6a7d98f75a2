"""Tables and checks come from the contracts alone."""

import pytest

from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.contracts.schemas import arrow_schema, spark_schema
from lakehouse_assets.core.settings import PROJECT_ROOT

every_contract = pytest.mark.parametrize("contract", CATALOG.values(), ids=list(CATALOG))


@every_contract
def test_every_column_is_described_in_a_sentence(contract):
    for column in contract.columns:
        assert len(column.description) > 5, column.name
        assert column.description.endswith("."), column.name


@every_contract
def test_a_contract_is_named_as_its_module(contract):
    assert (PROJECT_ROOT / "lakehouse_assets" / "contracts" / f"{contract.name}.py").exists()


@every_contract
def test_each_engine_sees_the_same_columns(contract):
    spark_names = spark_schema(contract.columns).names
    assert spark_names == arrow_schema(contract.columns).names == list(contract.column_names)
