"""Plans for environments of this lake: the facts gathered, the decision left to `models/planning.py`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from lakehouse_assets.core.errors import BadInputError, LakeStateError
from lakehouse_assets.lake.environments import Environments, kept_meanings
from lakehouse_assets.lake.known_tables import known_tables
from lakehouse_assets.lake.model_facts import built_tables, source_states
from lakehouse_assets.lake.model_tables import named
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.models.environment import inherited, known
from lakehouse_assets.models.facts import Facts
from lakehouse_assets.models.files import files_in
from lakehouse_assets.models.graph import select
from lakehouse_assets.models.intervals import Span, read_span
from lakehouse_assets.models.meaning import Meaning
from lakehouse_assets.models.model import Model
from lakehouse_assets.models.planning import Plan, make_plan, moved_part, restating
from lakehouse_assets.models.project import parse_models
from lakehouse_assets.models.stepped import SteppedModel
from lakehouse_assets.models.target import target_of


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is asked of an environment: which models are chosen, and which are to be built once more."""

    environment: str
    selection: tuple[str, ...] = ()
    restate: tuple[str, ...] = ()
    """Models, or `model:2026-01-01..2026-02-01`."""


def plan_for(
    lake: Lake,
    folder: Path,
    request: Request,
    *,
    variables: Mapping[str, str] | None = None,
    today: date | None = None,
) -> Plan:
    """The plan that would bring the environment to what the folder's models say."""
    environments = Environments(lake).all()
    environment = inherited(environments, known(environments, request.environment))
    tables = known_tables(lake)
    local = parse_models(files_in(folder, variables), tables)
    stored = kept_meanings(lake, environment.members)
    chosen = _chosen(local, stored, request.selection)
    restate = dict(_restated(each, {*local, *stored}) for each in request.restate)
    target = target_of(local, stored, chosen, tables, restating(environment, restate))
    _check_ranges(restate, target)
    read = {name for meaning in target.values() for name in meaning.inputs}
    return make_plan(
        Facts(
            environment=environment,
            stored=stored,
            target=target,
            chosen=frozenset(chosen),
            tables=tables,
            built=built_tables(lake, [each.table for each in (*target.values(), *stored.values())]),
            sources=source_states(lake, tables, read),
            today=today or datetime.now(UTC).date(),
            restate=restate,
        )
    )


def check_unmoved(plan: Plan, expected: str | None) -> None:
    """Refuse to go on if this is not the plan that was looked at."""
    if expected is not None and expected != plan.id:
        raise LakeStateError(
            subject=f"plan {expected}",
            seen=f"{moved_part(expected, plan.id)} moved since; the plan is now {plan.id}",
            why="something else would be done than what was looked at",
            remedy=f"look at `lakehouse plan {plan.environment.name}` and apply that",
        )


def check_there(lake: Lake, plan: Plan) -> None:
    """Refuse a plan whose tables a garbage collection has taken since; those that are built are safe from now on."""
    tables = {step.name: step.meaning.table for step in plan.steps if step.meaning and step.meaning.table}
    rests_on = [step.name for step in plan.steps if step.action in ("keep", "share", "refresh")]
    gone = [name for name in rests_on if not lake.exists(named(tables[name]))]
    if gone:
        raise LakeStateError(
            subject=f"plan {plan.id}",
            seen=f"the tables of {', '.join(gone)} were there when it was made, and are gone",
            why="it says that they need not be built",
            remedy=f"plan {plan.environment.name} again; what is missing will be built",
        )


def _chosen(local: Mapping[str, Model | SteppedModel], stored: Mapping[str, Meaning], words: Sequence[str]) -> set[str]:
    names = {*local, *stored}
    inputs = {name: tuple(local[name].inputs) if name in local else stored[name].inputs for name in names}
    parents = {name: tuple(each for each in its if each in names) for name, its in inputs.items()}
    tags = {name: (local[name] if name in local else stored[name]).header.tags for name in names}
    return select(parents, tags, words)


def _check_ranges(restate: Mapping[str, Span | None], target: Mapping[str, Meaning]) -> None:
    for name, span in restate.items():
        kind = target[name].header.materialization if name in target else "by_time"
        if span is not None and kind != "by_time":
            raise BadInputError(
                subject=f"restate '{name}:{span}'",
                seen=f"{name} is stored as {kind}, not by time",
                why="its rows belong to no days, so a range of them cannot be built once more",
                remedy=f"restate all of it: --restate {name}",
            )


def _restated(text: str, names: set[str]) -> tuple[str, Span | None]:
    name, _, span = text.partition(":")
    if name not in names:
        raise BadInputError(
            subject=f"restate {text!r}",
            seen=f"there is no model {name!r}",
            why="nothing could be built once more",
            remedy="see `lakehouse models list`",
        )
    return name, read_span(span) if span else None
