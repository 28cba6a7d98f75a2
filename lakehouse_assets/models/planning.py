"""From facts to a plan: for each model what became of it, what will be built, for which parts, and why.

Invariant: a part of a version's table is built once for what its sources hold. It is left as it is if the rows it
came from in the end are the same, or if its inputs hold the same rows as when it was made: either makes it equal.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from types import MappingProxyType
from typing import Literal

from lakehouse_assets.core.hashing import fingerprint, json_fingerprint
from lakehouse_assets.models.categories import Change, categorize
from lakehouse_assets.models.environment import Environment, Member
from lakehouse_assets.models.facts import BuiltPart, Contents, Facts, whole
from lakehouse_assets.models.intervals import Span, intervals, span_of
from lakehouse_assets.models.meaning import Meaning
from lakehouse_assets.models.project import shares_partitions
from lakehouse_assets.plan.row_hash import Content

StepAction = Literal["build", "refresh", "share", "keep", "view", "remove"]
"""`build`: its table is not there yet; `refresh`: some of its parts are to be made anew; `share`: another environment
has built it; `keep`: it is as it should be; `view`: there is nothing to store."""

WHOLE = ""
"""The one part of a model that is made as a whole."""


@dataclass(frozen=True, kw_only=True)
class PartKey:
    """What a part is to be made from; the ledger keeps it with the rows."""

    sources: str
    inputs: Contents


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


@dataclass(frozen=True, kw_only=True)
class _After:
    """A model as it will be: by part, what it came from and what it holds, as far as that is known."""

    sources: Mapping[str, str]
    contents: Contents
    rows: int | None


def make_plan(facts: Facts) -> Plan:
    after: dict[str, _After] = {}
    steps: list[Step] = []
    for name, meaning in facts.target.items():
        change = categorize(facts.stored.get(name), meaning, facts.stored, facts.target)
        if meaning.header.materialization == "view":
            key = _key(facts, meaning, WHOLE, after)
            after[name] = _After(sources={WHOLE: key.sources}, contents={WHOLE: whole(key.inputs)}, rows=None)
            steps.append(Step(name=name, action="view", change=change, reason="it is not stored", meaning=meaning))
            continue
        step = _step(facts, meaning, change, after)
        after[name] = _after(facts, meaning, step)
        steps.append(step)
    for name in sorted(set(facts.stored) - set(facts.target)):
        change = Change(category="removed")
        steps.append(Step(name=name, action="remove", change=change, reason="its file is gone", meaning=None))
    sources = {
        name: Member(kind="source", version=state.code_version, table=name, table_version=state.table_version)
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


def _step(facts: Facts, meaning: Meaning, change: Change, after: Mapping[str, _After]) -> Step:
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
    keys = {part: _key(facts, meaning, part, after) for part in _wanted_parts(facts, meaning, there)}
    lookback = _lookback(facts, meaning, keys)
    by_time = meaning.header.materialization == "by_time"
    stale = {
        part: key
        for part, key in keys.items()
        if part not in there or ((not by_time or part in lookback) and not _is_fresh(there[part], key))
    }
    if built is None:
        copied = tuple(part for part in stale if part in _copied(facts, meaning))
        made = {part: key for part, key in stale.items() if part not in copied}
        return Step(
            name=name,
            action="build",
            change=change,
            reason="this version has not been built yet",
            meaning=meaning,
            parts=MappingProxyType(made),
            copied=copied,
            rows_to_read=_rows(facts, meaning, made, after),
        )
    if not stale:
        reason = "its inputs hold what it was made from" if same else "this version is built already"
        return Step(
            name=name,
            action="keep" if same else "share",
            change=change,
            reason=reason,
            meaning=meaning,
            table_version=built.table_version,
        )
    return Step(
        name=name,
        action="refresh",
        change=change,
        reason=_why(stale, there),
        meaning=meaning,
        parts=MappingProxyType(stale),
        rows_to_read=_rows(facts, meaning, stale, after),
    )


def _wanted_parts(facts: Facts, meaning: Meaning, there: Mapping[str, BuiltPart]) -> list[str]:
    """The parts that the table is to have; also those it has whose partitions are gone, so that their rows go."""
    header = meaning.header
    match header.materialization:
        case "by_partition":
            found: set[str] = set(there)
            for name in meaning.inputs:
                if shares_partitions(meaning, name, facts.target, facts.tables):
                    found |= set(_parts_of(facts, name))
            return sorted(found)
        case "by_time":
            return intervals(header.interval, *_range(facts, meaning))
        case _:
            return [WHOLE]


def _parts_of(facts: Facts, name: str) -> Sequence[str]:
    if name in facts.sources:
        return list(facts.sources[name].contents)
    meaning = facts.target.get(name)
    if meaning is None:
        return []
    built = facts.built.get(meaning.table)
    return _wanted_parts(facts, meaning, built.parts if built else {})


def _range(facts: Facts, meaning: Meaning) -> tuple[date, date]:
    """The days that the environment wants of the model; today is not over, so it is not among them."""
    start = meaning.header.start or date.min
    return max(start, facts.environment.start or start), min(facts.environment.end or facts.today, facts.today)


def _lookback(facts: Facts, meaning: Meaning, keys: Mapping[str, PartKey]) -> set[str]:
    count = meaning.header.lookback
    return set(sorted(keys)[-count:]) if count else set()


def _copied(facts: Facts, meaning: Meaning) -> set[str]:
    """Intervals outside the restated range, which the version before has and which mean the same."""
    span = facts.restate.get(meaning.name)
    before = facts.stored.get(meaning.name)
    if span is None or before is None or before.table not in facts.built:
        return set()
    if (before.rows.version, before.header.data) != (meaning.rows.version, meaning.header.data):
        return set()
    spans = {part: span_of(meaning.header.interval, part) for part in facts.built[before.table].parts}
    return {part for part, each in spans.items() if each.end <= span.start or each.start >= span.end}


def _key(facts: Facts, meaning: Meaning, part: str, after: Mapping[str, _After]) -> PartKey:
    sources: dict[str, str | None] = {}
    inputs: dict[str, str | None] = {}
    for name in meaning.inputs:
        same = shares_partitions(meaning, name, facts.target, facts.tables)
        if name in after:
            held = after[name]
            sources[name] = held.sources.get(part) if same else json_fingerprint(dict(held.sources))
            inputs[name] = held.contents.get(part, "") if same else whole(held.contents)
        elif name in facts.sources:
            contents = facts.sources[name].contents
            sources[name] = inputs[name] = contents.get(part, "") if same else whole(contents)
        else:
            sources[name] = inputs[name] = ""  # a table that nothing has made yet holds no rows
    return PartKey(sources=json_fingerprint(sources), inputs=MappingProxyType(inputs))


def _is_fresh(built: BuiltPart, key: PartKey) -> bool:
    known = None not in key.inputs.values()
    return built.sources == key.sources or (known and dict(built.inputs) == dict(key.inputs))


def _after(facts: Facts, meaning: Meaning, step: Step) -> _After:
    built = facts.built.get(meaning.table)
    kept = dict(built.parts) if built else {}
    if step.copied:
        before = facts.stored[meaning.name].table
        kept |= {part: facts.built[before].parts[part] for part in step.copied}
    sources = {part: each.sources for part, each in kept.items()}
    contents: dict[str, str | None] = {part: each.content for part, each in kept.items()}
    for part, key in step.parts.items():
        sources[part], contents[part] = key.sources, None
    rows = None if None in contents.values() else sum(_count(content) for content in contents.values())
    return _After(sources=MappingProxyType(sources), contents=MappingProxyType(contents), rows=rows)


def _count(content: str | None) -> int:
    return Content.from_version(content).rows if content and "-" in content else 0


def _rows(facts: Facts, meaning: Meaning, parts: Mapping[str, PartKey], after: Mapping[str, _After]) -> int | None:
    """Rows that will be read, by the log; None where an input is yet to be made."""
    total = 0
    for name in meaning.inputs:
        if shares_partitions(meaning, name, facts.target, facts.tables) and name in facts.sources:
            total += sum(_count(facts.sources[name].contents.get(part)) for part in parts)
        elif name in facts.sources:
            total += facts.sources[name].rows
        elif name in after:
            rows = after[name].rows
            if rows is None:
                return None
            total += rows
    return total


def _why(stale: Mapping[str, PartKey], there: Mapping[str, BuiltPart]) -> str:
    new = [part for part in stale if part not in there]
    moved: set[str] = set()
    for part, key in stale.items():
        if part in there:
            old = there[part].inputs
            moved |= {name for name, content in key.inputs.items() if content is None or old.get(name) != content}
    said = [f"{len(new)} of its parts are missing"] if new else []
    said += [f"{', '.join(sorted(moved))} moved"] if moved else []
    return " and ".join(said)


def restating(environment: Environment, restate: Mapping[str, Span | None]) -> dict[str, str]:
    """A mark for each model to be restated, the same for the same request at the same revision."""
    place = f"{environment.name}-{environment.revision}"
    return {name: fingerprint([place, name, str(span)]) for name, span in restate.items()}
