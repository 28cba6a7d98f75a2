"""Environments: frozen mappings from names to versions of tables, each revision written as a whole.

Invariant: what a reader of an environment sees is decided by one revision of it: for every name a table, and the
version of that table. So a new revision is seen at once or not at all, an earlier one can be taken up again, and work
for one environment changes nothing that another shows.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import date, datetime
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, Literal

from lakehouse_assets.core.errors import BadInputError

MemberKind = Literal["source", "view", "table"]
"""`source`: a table that is no model, shared by all; `view` and `table`: models."""

Action = Literal["create", "apply", "promote", "rollback", "drop"]


@dataclass(frozen=True, kw_only=True)
class Member:
    """What a name stands for: which version, in which table, at which version of that table's log."""

    kind: MemberKind
    version: str
    """Of a model its fingerprint, of a source the version of the code that makes it."""
    metadata: str = ""
    table: str = ""
    table_version: int = -1
    apart: Mapping[str, int] = field(default_factory=dict[str, int])
    """Repositories that had rows at that version which no publication told of: the version of each that one did, or -1
    where none ever has, and it has no rows."""


Members = Mapping[str, Member]


@dataclass(frozen=True, kw_only=True)
class Environment:
    """One revision of an environment. What it leaves open it has from its base."""

    name: str
    revision: int = 0
    base: str | None = None
    description: str = ""
    owner: str = ""
    start: date | None = None
    end: date | None = None
    expires_at: datetime | None = None
    action: Action = "create"
    execution: str = ""
    changed_at: datetime | None = None
    members: Members = field(default_factory=lambda: MappingProxyType({}))

    @property
    def models(self) -> dict[str, Member]:
        return {name: member for name, member in self.members.items() if member.kind != "source"}

    def next(self, action: Action, members: Members | None = None, *, execution: str, now: datetime) -> "Environment":
        return replace(
            self,
            revision=self.revision + 1,
            action=action,
            members=self.members if members is None else members,
            execution=execution,
            changed_at=now,
        )


@dataclass(frozen=True, kw_only=True)
class Difference:
    """How a name differs between two environments; None where one has not got it."""

    name: str
    left: Member | None
    right: Member | None

    @property
    def what(self) -> str:
        if self.left is None or self.right is None:
            return "only in the second" if self.left is None else "only in the first"
        if self.left.version != self.right.version:
            return "another version"
        if self.left.metadata != self.right.metadata:
            return "other metadata"
        return "other data of the same version"


def differences(left: Environment, right: Environment) -> tuple[Difference, ...]:
    names = sorted({*left.members, *right.members})
    pairs = (Difference(name=name, left=left.members.get(name), right=right.members.get(name)) for name in names)
    return tuple(pair for pair in pairs if pair.left != pair.right)


def known(environments: Mapping[str, Environment], name: str) -> Environment:
    """The environment of that name; refused with the nearest one."""
    if name in environments:
        return environments[name]
    near = get_close_matches(name, environments, n=1)
    raise BadInputError(
        subject=f"environment {name!r}",
        seen="there is none of that name",
        why="it says which version of each table is meant",
        remedy=f"did you mean {near[0]!r}?" if near else f"make it with `lakehouse env create {name}`",
    )


def inherited(environments: Mapping[str, Environment], environment: Environment) -> Environment:
    """The environment with what it leaves open taken from its base, that one's base, and so on."""
    full, seen = environment, {environment.name}
    base = environment.base
    while base is not None and base in environments and base not in seen:
        seen.add(base)
        above = environments[base]
        full = replace(
            full,
            owner=full.owner or above.owner,
            start=full.start or above.start,
            end=full.end or above.end,
        )
        base = above.base
    return full


def members_text(members: Members) -> dict[str, Any]:
    return {name: asdict(member) for name, member in sorted(members.items())}


def members_from(value: Mapping[str, Any]) -> Members:
    return MappingProxyType({name: Member(**said) for name, said in value.items()})
