"""All relational steps, by name."""

from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType

from lakehouse_assets.change.activity_steps import ACTIVITY_STEPS
from lakehouse_assets.change.diff_steps import DIFF_STEPS
from lakehouse_assets.change.edge_steps import EDGE_STEPS
from lakehouse_assets.change.impact_steps import IMPACT_STEPS
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.lake.graph_work import LINKED_EDGES, OUTSIDE
from lakehouse_assets.lake.integrity_steps import INTEGRITY_STEPS
from lakehouse_assets.lake.missing_contents import CONTENTS
from lakehouse_assets.lake.question_steps import QUESTION_STEPS
from lakehouse_assets.link.global_props import GLOBAL_PROPS_ROWS
from lakehouse_assets.plan.relational_step import RelationalStep

STEPS: Mapping[str, RelationalStep] = MappingProxyType(
    {
        step.name: step
        for step in (
            CONTENTS,
            OUTSIDE,
            LINKED_EDGES,
            GLOBAL_PROPS_ROWS,
            *ACTIVITY_STEPS,
            *DIFF_STEPS,
            *IMPACT_STEPS,
            *EDGE_STEPS,
            *QUESTION_STEPS,
            *INTEGRITY_STEPS,
        )
    }
)
"""In the order of the data's way."""


def step_named(name: str) -> RelationalStep:
    if name in STEPS:
        return STEPS[name]
    near = get_close_matches(name, STEPS, n=1)
    raise BadInputError(
        subject=f"step {name!r}",
        seen="no relational step has this name",
        why="there is nothing to show",
        remedy=f"did you mean {near[0]!r}?" if near else "`lakehouse steps` lists them",
    )
