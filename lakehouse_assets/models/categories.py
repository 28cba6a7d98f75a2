"""What a change of a model means to those who read it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from lakehouse_assets.models.meaning import ROWS, Meaning, Part, Read

Category = Literal["new", "unchanged", "metadata only", "added columns", "breaking", "indirect", "removed"]
"""`added columns` leaves all columns and rows as they were, so that only those who read a new column are affected;
`indirect`: the model itself is as it was, and something that it reads has changed."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """What became of a model; `details` say it in words, `through` names the inputs' parts that brought it."""

    category: Category
    details: tuple[str, ...] = ()
    through: tuple[Read, ...] = ()


def categorize(
    old: Meaning | None, new: Meaning | None, olds: Mapping[str, Meaning], news: Mapping[str, Meaning]
) -> Change:
    """The change from one meaning to another; the others' meanings tell which of its inputs moved."""
    if new is None:
        return Change(category="removed")
    if old is None:
        return Change(category="new")
    through = _moved(old, new, olds, news)
    if old.data == new.data:
        if old.metadata == new.metadata:
            return Change(category="unchanged")
        return Change(category="metadata only", details=_metadata_details(old, new))
    if old.own_data == new.own_data:
        return Change(category="indirect", through=through)
    details = _details(old, new)
    kept = old.header.data == new.header.data and old.rows.own == new.rows.own
    same = all(name in new.columns and new.columns[name].own == part.own for name, part in old.columns.items())
    return Change(category="added columns" if kept and same else "breaking", details=details, through=through)


def _moved(old: Meaning, new: Meaning, olds: Mapping[str, Meaning], news: Mapping[str, Meaning]) -> tuple[Read, ...]:
    """Parts of models that it read and reads, whose versions differ. A change of rows speaks for all columns."""

    def version(meanings: Mapping[str, Meaning], read: Read) -> str | None:
        meaning = meanings.get(read[0])
        return meaning.as_source.versions.get(read[1]) if meaning else None

    moved = sorted(read for read in old.reads & new.reads if version(olds, read) != version(news, read))
    whole = {table for table, column in moved if column == ROWS}
    return tuple(read for read in moved if read[1] == ROWS or read[0] not in whole)


def _details(old: Meaning, new: Meaning) -> tuple[str, ...]:
    said = [
        f"{name}: {_word(old.header.data[name])} → {_word(new.header.data[name])}"
        for name in new.header.data
        if name in old.header.data and old.header.data[name] != new.header.data[name]
    ]
    if old.rows.own != new.rows.own:
        said.append("which rows there are")
    said += [f"column {name} added" for name in new.columns if name not in old.columns]
    said += [f"column {name} removed" for name in old.columns if name not in new.columns]
    if old.rows.own == new.rows.own:  # else every column's SQL differs by that alone
        said += [f"column {name} changed" for name in new.columns if _differs(old.columns.get(name), new.columns[name])]
    return tuple(said)


def _differs(old: Part | None, new: Part) -> bool:
    return old is not None and old.own != new.own


def _metadata_details(old: Meaning, new: Meaning) -> tuple[str, ...]:
    before, after = old.header.metadata, new.header.metadata
    said = [name for name in after if before[name] != after[name]]
    return tuple(said) or ("order of the columns",)


def _word(value: object) -> str:
    return ", ".join(map(str, value)) or "none" if isinstance(value, list) else str(value)
