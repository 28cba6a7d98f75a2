"""Every table's columns are described in the UI, with what they come from."""

import pytest
from dagster import AssetKey, TableColumnDep

from lakehouse_assets.assets.column_lineage import DECLARED, lineage_into
from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.definitions import defs
from lakehouse_assets.plan.sql_lineage import Source

TABLES = {
    key.path[-1]: spec.metadata
    for definition in defs.assets or ()
    for key, spec in getattr(definition, "specs_by_key", {}).items()
    if key.path[-1] in CATALOG
}


@pytest.mark.parametrize("name", TABLES)
def test_every_column_of_a_table_asset_is_described(name: str):
    shown = TABLES[name]["dagster/column_schema"]
    contract = CATALOG[name]
    assert [(column.name, column.type, column.description) for column in shown.columns] == [
        (column.name, column.type, column.description) for column in contract.columns
    ]


@pytest.mark.parametrize("name", DECLARED)
def test_what_is_declared_are_columns_of_tables(name: str):
    contract = CATALOG[name]
    assert set(DECLARED[name]) <= {*contract.column_names, "*"}
    for sources in lineage_into(contract).values():
        assert all(source.column in CATALOG[source.relation].column_names for source in sources)


def test_rows_that_sql_makes_have_the_lineage_of_the_sql():
    found = lineage_into(CATALOG["impacted_callers"])
    assert found["impacted_path"] == tuple(
        Source(*each) for each in [("definitions", "path"), ("diffs", "old_path"), ("diffs", "path"), ("links", "path")]
    )
    assert "distance" not in found
    assert found["reason"] == (Source("links", "kind"),)


def test_rows_that_both_make_have_both():
    assert lineage_into(CATALOG["edges"])["method"] == (Source("extracts", "payload"), Source("links", "method"))


def test_the_assets_carry_it_for_dagster_and_for_people():
    shown = TABLES["global_props"]
    deps = shown["dagster/column_lineage"].deps_by_column
    assert TableColumnDep(asset_key=AssetKey("links"), column_name="dst_def") in deps["def_id"]
    assert "| `def_id` | `links.caller_def`, `links.dst_def` |" in shown["column_lineage"].value
    assert "-- step global_props" in shown["steps"].value


def test_what_comes_from_outside_the_lake_is_left_out():
    assert "dagster/column_lineage" not in TABLES["commits"]
