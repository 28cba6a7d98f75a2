"""Two states of some files' definitions in, what became of each definition out.

Definitions are the same if they have one descriptor in one file, or in a file and what it was renamed to. What is gone
from one place and came, equal in name, signature and body, in another has moved. Within a file a definition has moved
if its order among its neighbours changed; that lines above it came or went does not move it.

Lambdas are part of the definition around them. A definition whose signature and body both changed counts by its
signature, which is what others rely on.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lakehouse_assets.change.similarity import name_distance
from lakehouse_assets.extract.symbols import symbol_of

DefinitionChange = Literal["added", "removed", "signature_changed", "body_changed", "moved"]

COLUMNS = ("parent", "kind", "name", "descriptor", "line", "signature", "signature_hash", "body_hash")
"""The columns of a file's definitions that are compared, of those that an extract has."""

_NOT_BY_ITSELF = "lambda"


@dataclass(frozen=True, kw_only=True, slots=True)
class Definition:
    """A definition as it stands in a file."""

    path: str
    descriptor: str
    parent: str | None
    kind: str
    name: str
    line: int
    signature: str | None
    signature_hash: str
    body_hash: str

    @property
    def symbol(self) -> str:
        return symbol_of(self.path, self.descriptor)


@dataclass(frozen=True, kw_only=True, slots=True)
class ChangedDefinition:
    path: str
    """File that it is in; of a removed one the file it was in, by its present path."""
    change: DefinitionChange
    old: Definition | None = None
    new: Definition | None = None

    @property
    def present(self) -> Definition:
        """As it is, or was if it is gone."""
        found = self.new or self.old
        assert found is not None
        return found

    @property
    def body_differs(self) -> bool:
        return self.old is not None and self.new is not None and self.old.body_hash != self.new.body_hash


@dataclass(frozen=True, kw_only=True)
class FilePair:
    """A file before and after: the columns of its definitions; None where there was or is none."""

    path: str
    old_path: str | None
    old: Mapping[str, Sequence[Any]] | None
    new: Mapping[str, Sequence[Any]] | None


def definition_changes(files: Iterable[FilePair]) -> tuple[ChangedDefinition, ...]:
    """What changed in the files, in the order of path, line and descriptor."""
    found: list[ChangedDefinition] = []
    removed: list[tuple[str, Definition]] = []
    added: list[Definition] = []
    for file in files:
        old = _definitions(file.old, file.old_path or file.path)
        new = _definitions(file.new, file.path)
        removed += [(file.path, each) for descriptor, each in old.items() if descriptor not in new]
        added += [each for descriptor, each in new.items() if descriptor not in old]
        found += _kept(file.path, old, new)
    found += _moved_or_not(removed, added)
    return tuple(sorted(found, key=_order))


def _order(change: ChangedDefinition) -> tuple[str, int, str]:
    return change.path, change.present.line, change.present.symbol


def _definitions(columns: Mapping[str, Sequence[Any]] | None, path: str) -> dict[str, Definition]:
    """By descriptor, in the order of the text."""
    if columns is None:
        return {}
    descriptors = columns["descriptor"]
    return {
        descriptor: Definition(
            path=path,
            descriptor=descriptor,
            parent=descriptors[parent] if parent >= 0 else None,
            kind=kind,
            name=name,
            line=line,
            signature=signature,
            signature_hash=signature_hash,
            body_hash=body_hash,
        )
        for parent, kind, name, descriptor, line, signature, signature_hash, body_hash in zip(
            *(columns[name] for name in COLUMNS), strict=True
        )
        if kind != _NOT_BY_ITSELF
    }


def _kept(path: str, old: Mapping[str, Definition], new: Mapping[str, Definition]) -> Iterable[ChangedDefinition]:
    """Definitions that both states have under one descriptor, if anything about them changed."""
    out_of_order = _out_of_order(old, new)
    for descriptor, after in new.items():
        before = old.get(descriptor)
        if before is None:
            continue
        change: DefinitionChange
        if (before.kind, before.signature_hash) != (after.kind, after.signature_hash):
            change = "signature_changed"
        elif before.body_hash != after.body_hash:
            change = "body_changed"
        elif before.path != after.path or descriptor in out_of_order:
            change = "moved"
        else:
            continue
        yield ChangedDefinition(path=path, change=change, old=before, new=after)


def _out_of_order(old: Mapping[str, Definition], new: Mapping[str, Definition]) -> set[str]:
    """Definitions that passed one of their neighbours: as few as explain the new order."""
    if [each for each in old if each in new] == [each for each in new if each in old]:
        return set()
    place = {descriptor: number for number, descriptor in enumerate(old)}
    families: dict[str | None, list[str]] = {}
    for descriptor, each in new.items():
        if descriptor in old:
            families.setdefault(each.parent, []).append(descriptor)
    moved: set[str] = set()
    for family in families.values():
        stayed = _longest_rise([place[descriptor] for descriptor in family])
        moved.update(descriptor for descriptor in family if place[descriptor] not in stayed)
    return moved


def _longest_rise(numbers: Sequence[int]) -> set[int]:
    """The longest selection that rises, in its order: what can be taken to have stayed where it was."""
    tails: list[int] = []
    at_length: list[int] = []
    for number in numbers:
        length = bisect_left(tails, number)
        tails[length : length + 1] = [number]
        at_length.append(length)
    chosen: set[int] = set()
    wanted, below = len(tails) - 1, None
    for number, length in zip(reversed(numbers), reversed(at_length), strict=True):
        if length == wanted and (below is None or number < below):
            chosen.add(number)
            wanted, below = wanted - 1, number
    return chosen


def _moved_or_not(removed: Sequence[tuple[str, Definition]], added: Sequence[Definition]) -> list[ChangedDefinition]:
    """Pair what went with what came where both are equal, the closest places first."""
    came: dict[tuple[str, ...], list[Definition]] = {}
    for each in added:
        came.setdefault(_content(each), []).append(each)
    pairs = sorted(
        (
            (name_distance(old.path, new.path), old.symbol, new.symbol, path, old, new)
            for path, old in removed
            if old.kind != "module"
            for new in came.get(_content(old), ())[:_COPIES_WEIGHED]
        ),
        key=lambda pair: pair[:3],
    )
    found: list[ChangedDefinition] = []
    gone: set[str] = set()
    placed: set[str] = set()
    for _, old_symbol, new_symbol, _, old, new in pairs:
        if old_symbol not in gone and new_symbol not in placed:
            gone.add(old_symbol)
            placed.add(new_symbol)
            found.append(ChangedDefinition(path=new.path, change="moved", old=old, new=new))
    found += [ChangedDefinition(path=p, change="removed", old=old) for p, old in removed if old.symbol not in gone]
    found += [ChangedDefinition(path=new.path, change="added", new=new) for new in added if new.symbol not in placed]
    return found


_COPIES_WEIGHED = 20
"""Equal definitions that came, of which the closest is looked for; there may be any number of copies."""


def _content(definition: Definition) -> tuple[str, ...]:
    return definition.kind, definition.name, definition.signature_hash, definition.body_hash
