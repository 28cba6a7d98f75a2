"""The table `plans`: each relational step, from the run on in which it came to mean what it means.

Invariant: a row is written where a step's meaning, lineage or assets differ from its newest row, and nowhere else.
Cost: a read of the newest fingerprints, once a process and lake; a run that writes nothing does not even ask.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from lakehouse_assets.contracts.plans import PLANS
from lakehouse_assets.contracts.schemas import arrow_rows
from lakehouse_assets.core.hashing import json_text
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.object_path import LakePath
from lakehouse_assets.lake.small_writes import small_service
from lakehouse_assets.lake.steps import STEPS
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.relational_step import RelationalStep
from lakehouse_assets.plan.staleness import MaterializationKey
from lakehouse_assets.plan.step_analysis import analysis_of, lineage_of

_ONE = ""
"""A table without partitions is one, without a name."""

Told = tuple[str, str, tuple[str, ...]]
"""Fingerprint, lineage and assets: what a row is written for."""

_known: dict[LakePath, dict[str, Told]] = {}
"""The newest rows by lake, for runs that follow in one process."""


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """A row of `plans`, but for the texts."""

    step: str
    run_id: str
    since: datetime
    fingerprint: str


def record_plans(lake: Lake, run_id: str) -> list[str]:
    """Write the steps that have changed; their names."""
    present = {name: _told(step) for name, step in STEPS.items()}
    if lake.root not in _known or not lake.exists(PLANS):
        _known[lake.root] = _newest(lake)
    changed = [name for name, told in present.items() if _known[lake.root].get(name) != told]
    if changed:
        _write(lake, run_id, [STEPS[name] for name in changed])
        _known[lake.root] = present
    return changed


def recorded(lake: Lake, step: str | None = None) -> list[Recorded]:
    """The rows of all steps, or of one, oldest first."""
    rows = lake.rows(PLANS, columns=("step", "run_id", "since", "fingerprint"))
    found = [Recorded(**row) for row in rows if step in (None, row["step"])]
    return sorted(found, key=lambda each: (each.since, each.step))


def _told(step: RelationalStep) -> Told:
    return analysis_of(step).fingerprint, lineage_text(step), step.assets


def lineage_text(step: RelationalStep) -> str:
    return json_text({name: [".".join(each) for each in sources] for name, sources in lineage_of(step).items()})


def _newest(lake: Lake) -> dict[str, Told]:
    rows = lake.rows(PLANS, columns=("step", "since", "fingerprint", "lineage", "assets"))
    rows.sort(key=lambda row: row["since"])
    return {row["step"]: (row["fingerprint"], row["lineage"], tuple(row["assets"])) for row in rows}


def _write(lake: Lake, run_id: str, steps: list[RelationalStep]) -> None:
    now = datetime.now(UTC)
    rows = arrow_rows(PLANS.columns, [_row(step, run_id, now) for step in steps])
    key = MaterializationKey(
        asset=PLANS.name, partition=_ONE, cursor=run_id, code_version="", settings_hash="", policy_hash=""
    )
    small_service(lake).write(PLANS, Batch(rows=rows, keys=(key,)), {_ONE: ()}, run_id=run_id)


def _row(step: RelationalStep, run_id: str, now: datetime) -> dict[str, Any]:
    analysis = analysis_of(step)
    return {
        "step": step.name,
        "run_id": run_id,
        "since": now,
        "assets": list(step.assets),
        "dialect": step.dialect,
        "fingerprint": analysis.fingerprint,
        "sql": analysis.canonical,
        "tree": analysis.tree,
        "lineage": lineage_text(step),
    }
