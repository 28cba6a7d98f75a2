"""The definitions as `dagster dev` finds them."""

from dagster._core.workspace.autodiscovery import loadable_targets_from_python_module

from lakehouse_assets.automation.checks import contract_checks
from lakehouse_assets.definitions import defs


def test_dagster_finds_one_set_of_definitions_in_the_module():
    (target,) = loadable_targets_from_python_module("lakehouse_assets.definitions", working_directory=None)
    assert target.attribute == "defs"


def test_every_asset_says_who_owns_it_and_what_it_holds_and_those_of_the_sync_share_the_pool_of_writers():
    everything = list(defs.resolve_asset_graph().asset_nodes)
    for node in everything:
        assert node.owners, node.key
        assert node.description, node.key
        assert node.kinds, node.key
        assert node.group_name != "default", node.key
    nodes = [node for node in everything if node.group_name in ("git", "graph", "change")]
    assert len(nodes) > 15
    for node in nodes:
        assert "lakehouse/strategy" in node.tags, node.key
        assert node.pools == {"lake"}, node.key


def test_the_lake_s_own_records_are_in_the_lineage_without_partitions_and_nobody_can_make_them():
    graph = defs.resolve_asset_graph()
    nodes = {node.key.path[-1]: node for node in graph.asset_nodes if node.group_name == "artifacts"}
    assert set(nodes) == {"materializations", "writes", "quarantine", "plans"}
    for node in nodes.values():
        assert node.description, node.key
        assert node.owners, node.key
        assert (node.is_partitioned, node.is_executable) == (False, False)
        assert {key.path[-1] for key in node.parent_keys} == {"graph_versions"}


def test_the_nightly_job_looks_at_everything():
    job = defs.resolve_job_def("check_everything")
    assert {node.name for node in job.nodes} == {"contracts", "integrity", "heads"}


def test_every_table_that_an_asset_of_the_code_graph_makes_has_a_check_of_its_contract():
    checked = {key.asset_key.path[-1] for key in contract_checks.check_keys}
    groups = ("git", "graph", "change", "activity", "impact", "scip")
    made = {node.key.path[-1] for node in defs.resolve_asset_graph().asset_nodes if node.group_name in groups}
    assert checked == made
