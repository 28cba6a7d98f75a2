"""Plans: what is chosen, why, and how it reads in print. No table and no engine is needed for any of it."""

from dataclasses import replace

import pytest

from lakehouse_assets.contracts.table import Strategy, TableContract
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.plan.pruning import FileFacts
from lakehouse_assets.plan.scope import Scopes, equal_scopes
from lakehouse_assets.plan.write_facts import BatchFacts, TableFacts, Violation, WriteRequest
from lakehouse_assets.plan.write_plan import (
    Executor,
    WritePlan,
    idempotency_key,
    may_move,
    plan_write,
)
from lakehouse_assets_tests.support.writes import THINGS

COLUMNS = {each.name: each.type for each in THINGS.columns}
BATCH = BatchFacts(columns=COLUMNS, rows=5)
FILE = FileFacts(size=100, rows=10, partition={"repo": "a"}, owner_min="a.py", owner_max="m.py")
FILLED = TableFacts(version=3, columns=COLUMNS, files=(FILE,))
OF_A = equal_scopes("repo", ["a"])
EMPTY = TableFacts(version=0, columns=COLUMNS)


def planned(
    contract: TableContract = THINGS,
    batch: BatchFacts = BATCH,
    table: TableFacts = FILLED,
    *,
    scopes: Scopes = OF_A,
    strategy: Strategy = "upsert",
    owners: tuple[str, ...] | None = None,
    executor: Executor = "auto",
    because: str = "",
) -> WritePlan:
    request = WriteRequest(scopes=scopes, strategy=strategy, owners=owners, key="things-run-1")
    return plan_write(contract, request, batch, table, path="/lake/things", executor=executor, because=because)


def test_a_plan_in_print_tells_all_that_was_decided():
    text = str(planned(owners=("b.py", "it's.py")))
    assert text.startswith("write to things: upsert as merge\n")
    assert "executor   spark (the rows are on Spark)" in text
    assert "key        things-run-1" in text
    assert r"rows       those where t.`repo` IN ('a') AND t.`path` IN ('b.py', 'it\'s.py')" in text
    assert "files      1 of 1 can be touched, 0 pruned" in text
    assert "MERGE INTO delta.`/lake/things` AS t USING {batch} AS s" in text


def test_files_without_statistics_are_named_in_print():
    table = replace(FILLED, files=(replace(FILE, owner_min=None),))
    assert "1 of 1 can be touched, 0 pruned, 1 for want of statistics" in str(planned(table=table, owners=("z.py",)))


def test_a_merge_repeats_its_predicate_where_it_deletes():
    *_, last = planned(owners=("b.py",)).statement.splitlines()
    assert last == "WHEN NOT MATCHED BY SOURCE AND t.`repo` IN ('a') AND t.`path` IN ('b.py') THEN DELETE"


def test_a_merge_writes_only_rows_that_differ_and_takes_null_for_equal_to_null():
    lines = planned().statement.splitlines()
    assert lines[2].startswith("WHEN MATCHED AND NOT (t.`size` <=> s.`size` AND ")
    assert "`repo` =" not in lines[2], "keys are not set: they are equal"


def test_an_upsert_of_keys_and_an_append_delete_nothing():
    assert "DELETE" not in planned(owners=()).statement
    appended = planned(strategy="append_new").statement
    assert "DELETE" not in appended
    assert "UPDATE" not in appended


@pytest.mark.parametrize(
    ("strategy", "rows", "table", "action"),
    [
        ("upsert", 5, EMPTY, "append"),
        ("upsert", 0, EMPTY, "nothing"),
        ("upsert", 5, FILLED, "merge"),
        ("upsert", 0, FILLED, "merge"),
        ("replace_partitions", 5, EMPTY, "append"),
        ("replace_partitions", 5, FILLED, "replace"),
        ("replace_partitions", 0, FILLED, "replace"),
        ("replace_partitions", 0, EMPTY, "nothing"),
        ("append_new", 5, EMPTY, "append"),
        ("append_new", 5, FILLED, "merge"),
        ("append_new", 0, FILLED, "nothing"),
        ("delete_matching", 5, FILLED, "delete"),
        ("delete_matching", 5, EMPTY, "nothing"),
        ("delete_matching", 0, FILLED, "nothing"),
    ],
)
def test_only_what_has_to_be_compared_is_merged(strategy: Strategy, rows: int, table: TableFacts, action: str):
    assert planned(batch=replace(BATCH, rows=rows), table=table, strategy=strategy).action == action


def test_an_empty_upsert_of_keys_does_nothing():
    assert planned(batch=replace(BATCH, rows=0), owners=()).action == "nothing"


def test_owners_that_no_file_can_have_are_appended():
    assert planned(owners=("z.py",)).action == "append"


def test_rows_that_this_process_has_are_written_here_unless_the_run_works_on_spark():
    plan = planned(batch=replace(BATCH, in_process=True))
    assert (plan.executor, plan.executor_reason) == ("delta-rs", "the rows are in this process")
    plan = planned(batch=replace(BATCH, in_process=True), because="local: 3 changed files")
    assert (plan.executor, plan.executor_reason) == ("delta-rs", "local: 3 changed files")
    plan = planned(batch=replace(BATCH, in_process=True), executor="spark", because="spark: first build of nodes")
    assert (plan.executor, plan.executor_reason) == ("spark", "spark: first build of nodes")


def test_rows_that_are_on_spark_are_written_by_it_however_few():
    plan = planned(batch=replace(BATCH, rows=1), because="local: 3 changed files")
    assert (plan.executor, plan.executor_reason) == ("spark", "the rows are on Spark")


def test_rows_that_are_made_while_they_are_written_are_spark_s():
    plan = planned(batch=replace(BATCH, rows=None))
    assert (plan.action, plan.executor) == ("merge", "spark")


def test_a_table_that_asks_for_more_than_delta_rs_has_is_left_to_spark():
    asking = replace(FILLED, beyond_delta_rs=("deletionVectors",))
    plan = planned(table=asking, executor="delta-rs")
    assert plan.executor == "spark"
    assert plan.executor_reason == "the table asks its writers for deletionVectors, which delta-rs has not"


def test_a_scope_that_leaves_a_partition_column_open_is_refused():
    with pytest.raises(BadInputError, match="says nothing of repo"):
        planned(scopes=())


def test_rows_that_break_rules_are_refused_with_the_first_of_them():
    broken = Violation(rule="name is NULL", rows=1_200, examples=("(name=None)",))
    with pytest.raises(BadInputError, match=r"name is NULL in 1,200 rows, such as \(name=None\)"):
        planned(batch=replace(BATCH, violations=(broken,)))


def test_columns_come_by_policy():
    wide = replace(BATCH, columns={**COLUMNS, "extra": "double"})
    with pytest.raises(BadInputError, match="the batch has extra"):
        planned(batch=wide)
    assert "extra" not in planned(replace(THINGS, schema_policy="discard"), wide).columns
    plan = planned(replace(THINGS, schema_policy="evolve"), wide)
    assert plan.add_columns == (("extra", "double"),)
    assert "new column extra double" in str(plan)
    with pytest.raises(BadInputError, match=r"the new column extra is decimal\(1,0\)"):
        planned(replace(THINGS, schema_policy="evolve"), replace(BATCH, columns={**COLUMNS, "extra": "decimal(1,0)"}))


def test_a_column_that_only_the_table_has_is_written_as_null_not_left_as_it_was():
    plan = planned(table=replace(FILLED, columns={**COLUMNS, "old": "int"}))
    assert plan.add_columns == ()
    assert "`old` = s.`old`" in plan.statement


def test_a_table_that_lacks_a_column_gets_it_only_where_it_may_evolve():
    narrow = replace(FILLED, columns={name: kind for name, kind in COLUMNS.items() if name != "size"})
    with pytest.raises(BadInputError, match="the table lacks size"):
        planned(table=narrow)
    assert planned(replace(THINGS, schema_policy="evolve"), table=narrow).add_columns == (("size", "bigint"),)


def test_keys_are_looked_for_elsewhere_only_if_they_do_not_say_where_a_row_is():
    def asked(contract: TableContract, strategy: Strategy = "upsert", owners: tuple[str, ...] | None = None) -> bool:
        return may_move(contract, WriteRequest(scopes=OF_A, strategy=strategy, owners=owners, key="k"))

    assert not asked(THINGS, owners=("x.py",))
    assert asked(replace(THINGS, key=("path", "name")))
    assert asked(replace(THINGS, key=("repo", "name")), owners=("x.py",))
    assert not asked(replace(THINGS, key=("repo", "name")))
    assert not asked(replace(THINGS, key=("name",)), strategy="delete_matching")


def test_the_idempotency_key_is_of_run_asset_and_partitions_in_any_order():
    assert idempotency_key("r", "t", ["a", "b"]) == idempotency_key("r", "t", ["b", "a"])
    others = {idempotency_key(*each) for each in (("r", "t", ["a", "b"]), ("r", "t", ["ab"]), ("s", "t", ["a", "b"]))}
    assert len(others) == 3
