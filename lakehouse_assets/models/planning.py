"""From facts to a plan: for each model what became of it, what will be built, for which parts, and why.

Invariant: a part of a version's table is built once for what its sources hold. It is left as it is if the rows it
came from in the end are the same, or if its inputs hold the same rows as when it was made: either makes it equal.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from lakehouse_assets.core.hashing import fingerprint, json_fingerprint
from lakehouse_assets.models.categories import Change, categorize
from lakehouse_assets.models.environment import Environment, Member
from lakehouse_assets.models.facts import BuiltPart, Facts, whole
from lakehouse_assets.models.intervals import Span
from lakehouse_assets.models.meaning import Meaning
from lakehouse_assets.models.parts import (
    WHOLE,
    After,
    PartKey,
    after_step,
    copied_parts,
    is_fresh,
    looked_back,
    part_key,
    rows_to_read,
    wanted_parts,
    why_closed,
    why_stale,
)

StepAction = Literal["build", "refresh", "share", "keep", "view", "remove"]
"""`build`: its table is not there yet; `refresh`: some of its parts are to be made anew; `share`: another environment
has built it; `keep`: it is as it should be; `view`: there is nothing to store."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """What happens to one model."""

    name: str
    action: StepAction
    change: Change
    reason: str
    meaning: Meaning | None
    parts: Mapping[str, PartKey] = field(default_factory=lambda: MappingProxyType({}))
    """What will be made."""
    copied: tuple[str, ...] = ()
    """Intervals whose rows are taken over from the version before."""
    closed: tuple[str, ...] = ()
    """Intervals that stay as they were built, though what they were made from has moved since."""
    rows_to_read: int | None = None
    chosen: bool = True
    """Whether it was chosen; one that was not stays at what the environment shows of it."""
    table_version: int | None = None
    """Version of its table that the plan saw: what others are made from, if it does not run."""

    @property
    def runs(self) -> bool:
        return self.action in ("build", "refresh")


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Everything that applying does, decided."""

    environment: Environment
    steps: tuple[Step, ...]
    sources: Mapping[str, Member]
    id: str

    @property
    def running(self) -> tuple[Step, ...]:
        return tuple(step for step in self.steps if step.runs)

    @property
    def moves(self) -> bool:
        """Whether applying gives the environment other members than it has."""
        before = self.environment.members
        models = {step.name: step.meaning for step in self.steps if step.meaning is not None}
        same = all(
            name in before and (before[name].version, before[name].metadata) == (meaning.data, meaning.metadata)
            for name, meaning in models.items()
        )
        gone = any(step.action == "remove" for step in self.steps)
        sources = {name: member for name, member in before.items() if member.kind == "source"}
        return bool(self.running) or gone or not same or sources != dict(self.sources)


def make_plan(facts: Facts) -> Plan:
    after: dict[str, After] = {}
    steps: list[Step] = []
    for name, meaning in facts.target.items():
        change = categorize(facts.stored.get(name), meaning, facts.stored, facts.target)
        if meaning.header.materialization == "view":
            key = part_key(facts, meaning, WHOLE, after)
            after[name] = After(sources={WHOLE: key.sources}, contents={WHOLE: whole(key.inputs)}, rows=None)
            steps.append(Step(name=name, action="view", change=change, reason="it is not stored", meaning=meaning))
            continue
        step = _step(facts, meaning, change, after)
        after[name] = after_step(facts, meaning, step.parts, step.copied)
        steps.append(step)
    for name in sorted(set(facts.stored) - set(facts.target)):
        change = Change(category="removed")
        steps.append(Step(name=name, action="remove", change=change, reason="its file is gone", meaning=None))
    sources = {
        name: Member(
            kind="source",
            version=state.code_version,
            table=name,
            table_version=state.table_version,
            apart=state.apart,
        )
        for name, state in sorted(facts.sources.items())
    }
    return Plan(
        environment=facts.environment, steps=tuple(steps), sources=MappingProxyType(sources), id=_id(facts, steps)
    )


def moved_part(planned: str, now: str) -> str:
    """Which of the things that a plan rests on has moved since, by the ids of the plans."""
    names = ("the environment", "the models or what was chosen of them", "what the tables hold")
    pairs = zip(names, planned.split("."), now.split("."), strict=False)
    return " and ".join(name for name, old, new in pairs if old != new) or "the form of the id"


def _id(facts: Facts, steps: Sequence[Step]) -> str:
    models = json_fingerprint(
        [(step.name, step.meaning and (step.meaning.data, step.meaning.metadata)) for step in steps]
    )
    data = json_fingerprint(
        [
            {name: [state.table_version, whole(state.contents)] for name, state in facts.sources.items()},
            [(step.name, step.action, sorted(step.parts)) for step in steps],
        ]
    )
    return f"{facts.environment.name}-{facts.environment.revision}.{models[:8]}.{data[:8]}"


def _step(facts: Facts, meaning: Meaning, change: Change, after: Mapping[str, After]) -> Step:
    name = meaning.name
    built = facts.built.get(meaning.table)
    there: Mapping[str, BuiltPart] = built.parts if built else {}
    same = name in facts.environment.members and facts.environment.members[name].version == meaning.data
    if same and name not in facts.chosen and built is not None:
        return Step(
            name=name,
            action="keep",
            change=change,
            reason="it was not chosen",
            meaning=meaning,
            chosen=False,
            table_version=built.table_version,
        )
    keys = {part: part_key(facts, meaning, part, after) for part in wanted_parts(facts, meaning, there)}
    lookback = looked_back(meaning, keys)
    by_time = meaning.header.materialization == "by_time"
    stale = {
        part: key
        for part, key in keys.items()
        if part not in there or ((not by_time or part in lookback) and not is_fresh(there[part], key))
    }
    if built is None:
        copied = tuple(part for part in stale if part in copied_parts(facts, meaning))
        made = {part: key for part, key in stale.items() if part not in copied}
        return Step(
            name=name,
            action="build",
            change=change,
            reason="this version has not been built yet",
            meaning=meaning,
            parts=MappingProxyType(made),
            copied=copied,
            rows_to_read=rows_to_read(facts, meaning, made, after),
        )
    closed = {part: key for part, key in keys.items() if part not in stale and not is_fresh(there[part], key)}
    left = why_closed(meaning, closed, there)
    if not stale:
        made = "its inputs hold what it was made from" if same and not closed else "this version is built already"
        reason = "; ".join(filter(None, [made, left]))
        return Step(
            name=name,
            action="keep" if same else "share",
            change=change,
            reason=reason,
            meaning=meaning,
            closed=tuple(closed),
            table_version=built.table_version,
        )
    return Step(
        name=name,
        action="refresh",
        change=change,
        reason="; ".join(filter(None, [why_stale(stale, there), left])),
        meaning=meaning,
        closed=tuple(closed),
        parts=MappingProxyType(stale),
        rows_to_read=rows_to_read(facts, meaning, stale, after),
    )


def restating(environment: Environment, restate: Mapping[str, Span | None]) -> dict[str, str]:
    """A mark for each model to be restated, the same for the same request at the same revision."""
    place = f"{environment.name}-{environment.revision}"
    return {name: fingerprint([place, name, str(span)]) for name, span in restate.items()}
