"""Is an asset partition fresh, and if not, because of which part of its key?"""

import json
from dataclasses import dataclass
from typing import Literal

KeyPart = Literal["never materialized", "code_version", "settings_hash", "policy_hash", "cursor", "input_versions"]


@dataclass(frozen=True, kw_only=True)
class MaterializationKey:
    """What an asset partition is made from; equal keys give equal rows."""

    asset: str
    partition: str
    cursor: str
    code_version: str
    settings_hash: str
    policy_hash: str = ""
    input_versions: str = "{}"
    """Data versions of the inputs by asset, as JSON with sorted keys."""


@dataclass(frozen=True, kw_only=True)
class Staleness:
    """One reason why a partition is stale, with the value it was made with and the value it should have."""

    asset: str
    partition: str
    part: KeyPart
    old: str | None
    new: str

    @property
    def differing(self) -> tuple[str, str]:
        """The old and the new value; of several inputs those that differ, each by name."""
        if self.part != "input_versions" or self.old is None:
            return self.old or "", self.new
        old, new = json.loads(self.old), json.loads(self.new)
        names = sorted(name for name in {*old, *new} if old.get(name) != new.get(name))
        before, after = (", ".join(f"{name} {held.get(name) or 'none'}" for name in names) for held in (old, new))
        return before, after


def stale_because(wanted: MaterializationKey, stored: MaterializationKey | None) -> list[Staleness]:
    """Every part of the key that differs; empty means fresh."""

    def reason(part: KeyPart, old: str | None, new: str) -> Staleness:
        return Staleness(asset=wanted.asset, partition=wanted.partition, part=part, old=old, new=new)

    if stored is None:
        return [reason("never materialized", None, wanted.cursor)]
    pairs: list[tuple[KeyPart, str, str]] = [
        ("code_version", stored.code_version, wanted.code_version),
        ("settings_hash", stored.settings_hash, wanted.settings_hash),
        ("policy_hash", stored.policy_hash, wanted.policy_hash),
        ("cursor", stored.cursor, wanted.cursor),
        ("input_versions", stored.input_versions, wanted.input_versions),
    ]
    return [reason(part, old, new) for part, old, new in pairs if old != new]
