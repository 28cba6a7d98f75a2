"""Parts of models: which there are to be, what each is to be made from, and which are as they should be.

A part is a partition, an interval of time, or the whole of a model. It is known by the rows that it came from in the
end (its sources), and by what its inputs held when it was made: if either is the same, so are its rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType

from lakehouse_assets.core.hashing import fingerprint, json_fingerprint
from lakehouse_assets.models.facts import BuiltPart, Contents, Facts, whole
from lakehouse_assets.models.intervals import Span, intervals, merged, span_of
from lakehouse_assets.models.meaning import Meaning
from lakehouse_assets.models.project import shares_partitions
from lakehouse_assets.plan.row_hash import Content

WHOLE = ""
"""The one part of a model that is made as a whole."""


@dataclass(frozen=True, kw_only=True)
class PartKey:
    """What a part is to be made from; the ledger keeps it with the rows."""

    sources: str
    inputs: Contents


@dataclass(frozen=True, kw_only=True)
class After:
    """A model as it will be: by part, what it came from and what it holds, as far as that is known."""

    sources: Mapping[str, str]
    contents: Contents
    rows: int | None


def wanted_parts(facts: Facts, meaning: Meaning, there: Mapping[str, BuiltPart]) -> list[str]:
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
    return wanted_parts(facts, meaning, built.parts if built else {})


def _range(facts: Facts, meaning: Meaning) -> tuple[date, date]:
    """The days that the environment wants of the model; today is not over, so it is not among them."""
    start = meaning.header.start or date.min
    return max(start, facts.environment.start or start), min(facts.environment.end or facts.today, facts.today)


def looked_back(meaning: Meaning, keys: Mapping[str, PartKey]) -> set[str]:
    count = meaning.header.lookback
    return set(sorted(keys)[-count:]) if count else set()


def copied_parts(facts: Facts, meaning: Meaning) -> set[str]:
    """Intervals outside the restated range, which the version before has and which mean the same."""
    span = facts.restate.get(meaning.name)
    before = facts.stored.get(meaning.name)
    if span is None or before is None or before.table not in facts.built:
        return set()
    if _rows_of(before) != _rows_of(meaning):
        return set()
    spans = {part: span_of(meaning.header.interval, part) for part in facts.built[before.table].parts}
    return {part for part, each in spans.items() if each.end <= span.start or each.start >= span.end}


def _rows_of(meaning: Meaning) -> tuple[object, ...]:
    """All that decides a model's rows, whether or not it is built once more."""
    columns = {name: part.version for name, part in meaning.columns.items()}
    return meaning.rows.version, columns, meaning.header.data


def part_key(facts: Facts, meaning: Meaning, part: str, after: Mapping[str, After]) -> PartKey:
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


def is_fresh(built: BuiltPart, key: PartKey) -> bool:
    known = None not in key.inputs.values()
    return built.sources == key.sources or (known and dict(built.inputs) == dict(key.inputs))


def after_step(facts: Facts, meaning: Meaning, parts: Mapping[str, PartKey], copied: Sequence[str]) -> After:
    built = facts.built.get(meaning.table)
    kept = dict(built.parts) if built else {}
    if copied:
        before = facts.stored[meaning.name].table
        kept |= {part: facts.built[before].parts[part] for part in copied}
    sources = {part: each.sources for part, each in kept.items()}
    contents: dict[str, str | None] = {part: each.content for part, each in kept.items()}
    for part, key in parts.items():
        sources[part], contents[part] = key.sources, None
    if meaning.header.materialization == "by_key":
        # It keeps rows of what it was made from before: only what it holds tells what is made of it.
        seen = built.table_version if built else -1
        sources = {
            part: fingerprint([meaning.table, content or f"{sources[part]} over {seen}"])
            for part, content in contents.items()
        }
    return After(
        sources=MappingProxyType(sources),
        contents=MappingProxyType(contents),
        rows=_rows_after(facts, meaning, contents),
    )


def _rows_after(facts: Facts, meaning: Meaning, contents: Contents) -> int | None:
    """How many rows a model will have: what it has, where nothing better is known."""
    if None not in contents.values():
        return sum(_count(content) for content in contents.values())
    shown = facts.stored.get(meaning.name)
    there = [facts.built[each.table] for each in (meaning, shown) if each is not None and each.table in facts.built]
    return sum(_count(part.content) for part in there[0].parts.values()) if there else None


def _count(content: str | None) -> int:
    return Content.from_version(content).rows if content and "-" in content else 0


def rows_to_read(
    facts: Facts, meaning: Meaning, parts: Mapping[str, PartKey], after: Mapping[str, After]
) -> int | None:
    """Rows that will be read, by the log; about so many where an input is to be made anew, None where it is new."""
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


def why_stale(stale: Mapping[str, PartKey], there: Mapping[str, BuiltPart]) -> str:
    new = [part for part in stale if part not in there]
    moved = _moved_inputs(stale, there)
    said = [f"{len(new)} of its parts are missing"] if new else []
    said += [f"{moved} moved"] if moved else []
    return " and ".join(said)


def why_closed(meaning: Meaning, closed: Mapping[str, PartKey], there: Mapping[str, BuiltPart]) -> str:
    """What to tell of intervals that are over and not made again, though their inputs moved; nothing if there are none.

    Which of them the moved rows belong to is not known without asking the query.
    """
    if not closed:
        return ""
    spans = merged(meaning.header.interval, closed)
    whole = Span(start=spans[0].start, end=spans[-1].end)
    return (
        f"{_moved_inputs(closed, there)} moved since {whole} was built, which stays as it is because it is over: "
        f"if rows of these days changed, --restate {meaning.name}:{whole}, or set a lookback"
    )


def _moved_inputs(parts: Mapping[str, PartKey], there: Mapping[str, BuiltPart]) -> str:
    moved: set[str] = set()
    for part, key in parts.items():
        if part in there:
            old = there[part].inputs
            moved |= {name for name, content in key.inputs.items() if content is None or old.get(name) != content}
    return ", ".join(sorted(moved))
