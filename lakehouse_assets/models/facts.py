"""What planning is told of the lake: which versions are built, from what, and what the sources hold now."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from types import MappingProxyType

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.hashing import json_fingerprint
from lakehouse_assets.models.environment import Environment
from lakehouse_assets.models.intervals import Span
from lakehouse_assets.models.meaning import Meaning

Contents = Mapping[str, str | None]
"""By partition, or by input, the fingerprint of its rows; None where it has to be counted."""


def whole(contents: Contents) -> str | None:
    """One fingerprint for all; None if one of them is not known."""
    return None if None in contents.values() else json_fingerprint(dict(contents))


@dataclass(frozen=True, kw_only=True)
class BuiltPart:
    """One partition or interval of a version's table, and what it was made from."""

    sources: str
    """Fingerprint of the rows that all of it came from in the end: of sources, not of models."""
    inputs: Contents
    content: str | None


@dataclass(frozen=True, kw_only=True)
class Built:
    """A version's table."""

    table_version: int
    parts: Mapping[str, BuiltPart]


@dataclass(frozen=True, kw_only=True)
class SourceState:
    """A table that is no model."""

    code_version: str
    table_version: int
    contents: Contents
    rows: int
    bytes: int
    apart: Mapping[str, int] = field(default_factory=dict[str, int])
    """Repositories that are read at versions of their own; see `Member.apart`."""


@dataclass(frozen=True, kw_only=True)
class Facts:
    environment: Environment
    stored: Mapping[str, Meaning]
    """The models that the environment has now."""
    target: Mapping[str, Meaning]
    """Those that it is to have, each after what it reads."""
    chosen: frozenset[str]
    tables: Mapping[str, TableContract]
    built: Mapping[str, Built]
    """By table, what is there of the target's versions and of the environment's own."""
    sources: Mapping[str, SourceState]
    today: date
    restate: Mapping[str, Span | None] = field(default_factory=lambda: MappingProxyType({}))
    """Models to be built once more, each for a range of time or as a whole."""
