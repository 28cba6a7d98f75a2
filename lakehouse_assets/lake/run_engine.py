"""The engine of a run, decided once, whichever of its steps and processes asks first.

It stands in the tags of the run, where the UI shows it and where the run's other processes find it.
"""

from collections.abc import Callable
from typing import Any

from lakehouse_assets.core.settings import WantedEngine
from lakehouse_assets.plan.engine import ASKED_FOR, EngineChoice
from lakehouse_assets.plan.write_plan import Executor

ENGINE_TAG = "lakehouse/engine"
REASON_TAG = "lakehouse/engine_because"
SPARK_TAG = "lakehouse/spark"
"""What Spark did in the run, by its own count."""
_MUCH_TAG = ".dagster/lakehouse_much_changed"
_OF_TAG = ".dagster/lakehouse_engine_of"
"""The run that decided: one that executes another again has that one's tags, but not its reasons."""

_known: dict[str, EngineChoice] = {}
"""By run, the last one that this process took part in."""


def engine_tags(choice: EngineChoice) -> dict[str, str]:
    """The choice as tags of a run."""
    return {ENGINE_TAG: choice.engine, REASON_TAG: choice.reason, _MUCH_TAG: "yes" if choice.much_changed else "no"}


def engine_of_run(instance: Any, run_id: str, decide: Callable[[], EngineChoice] | None) -> EngineChoice | None:
    """What was decided for a run; else `decide` does so now, for good. None if nobody has and nobody can."""
    if run_id not in _known:
        run = instance.get_run_by_id(run_id)
        tags = run.tags if run is not None else {}
        is_own = run is not None and (run.parent_run_id is None or tags.get(_OF_TAG) == run_id)
        if ENGINE_TAG in tags and is_own:
            choice = EngineChoice(
                engine=tags[ENGINE_TAG], reason=tags[REASON_TAG], much_changed=tags.get(_MUCH_TAG) == "yes"
            )
        elif decide is None:
            return None
        else:
            choice = decide()
            if run is not None:
                instance.add_run_tags(run_id, engine_tags(choice) | {_OF_TAG: run_id})
        _known.clear()
        _known[run_id] = choice
    return _known[run_id]


def writer_for(choice: EngineChoice | None, wanted: WantedEngine) -> tuple[Executor, str]:
    """Who writes in a run, and why. Rows that are on Spark are written by it, whatever the run was meant to be."""
    if choice is not None:
        return ("spark" if choice.engine == "spark" else "auto"), str(choice)
    return ("spark", ASKED_FOR) if wanted == "spark" else ("auto", "")
