"""A run works in one place, whichever of its steps and processes asks, and decides for itself."""

import pytest
from dagster import DagsterInstance
from dagster._core.test_utils import create_run_for_test

from lakehouse_assets.lake import run_engine
from lakehouse_assets.lake.run_engine import ENGINE_TAG, REASON_TAG, engine_of_run, engine_tags, writer_for
from lakehouse_assets.plan.engine import ASKED_FOR, EngineChoice

SPARK = EngineChoice(engine="spark", reason="first build of nodes of shop", much_changed=True)
LOCAL = EngineChoice(engine="local", reason="1 changed files, at most 500")


@pytest.fixture
def instance() -> DagsterInstance:
    return DagsterInstance.ephemeral()


def in_another_process() -> None:
    run_engine._known.clear()


def unasked() -> EngineChoice:
    pytest.fail("it was decided already")


def test_the_first_who_asks_decides_for_the_run_and_its_tags_tell_the_others(instance: DagsterInstance):
    run = create_run_for_test(instance)
    assert engine_of_run(instance, run.run_id, None) is None
    assert engine_of_run(instance, run.run_id, lambda: SPARK) == SPARK
    assert engine_of_run(instance, run.run_id, unasked) == SPARK
    in_another_process()
    assert engine_of_run(instance, run.run_id, unasked) == SPARK
    found = instance.get_run_by_id(run.run_id)
    assert found is not None
    assert (found.tags[ENGINE_TAG], found.tags[REASON_TAG]) == ("spark", "first build of nodes of shop")


def test_what_the_plan_of_a_command_decided_stands(instance: DagsterInstance):
    run = create_run_for_test(instance, tags=engine_tags(LOCAL))
    assert engine_of_run(instance, run.run_id, unasked) == LOCAL


def test_a_run_that_executes_another_again_decides_anew(instance: DagsterInstance):
    first = create_run_for_test(instance)
    engine_of_run(instance, first.run_id, lambda: SPARK)
    told = instance.get_run_by_id(first.run_id)
    assert told is not None
    again = create_run_for_test(instance, tags=told.tags, parent_run_id=first.run_id, root_run_id=first.run_id)
    assert engine_of_run(instance, again.run_id, lambda: LOCAL) == LOCAL
    in_another_process()
    assert engine_of_run(instance, again.run_id, unasked) == LOCAL


def test_a_run_on_spark_is_written_by_it_and_another_by_who_has_the_rows():
    assert writer_for(SPARK, "auto") == ("spark", "spark: first build of nodes of shop")
    assert writer_for(LOCAL, "auto") == ("auto", "local: 1 changed files, at most 500")
    assert writer_for(None, "auto") == ("auto", "")
    assert writer_for(None, "spark") == ("spark", ASKED_FOR)
