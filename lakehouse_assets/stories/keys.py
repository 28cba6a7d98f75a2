"""Keys of materializations in parts that people can read."""

import json
from collections.abc import Mapping
from typing import Any

from lakehouse_assets.plan.cursors import read_position
from lakehouse_assets.plan.marks import read_mark
from lakehouse_assets.stories.records import KeyPart, PartitionKey


def partition_key(now: Mapping[str, Any], before: Mapping[str, Any] | None) -> PartitionKey:
    """The parts of a key as `writes` keeps it, against those of the materialization before."""
    new, old = _parts(now), {} if before is None else _parts(before)
    return PartitionKey(
        partition=now["partition"],
        parts=tuple(KeyPart(name=name, old=old.get(name), new=value) for name, value in new.items()),
        content_before=None if before is None else before["data_version"],
        content_after=now["data_version"],
    )


def because(key: PartitionKey) -> str:
    """Why a partition was made, in words."""
    what = f"{key.partition}: " if key.partition else ""
    if all(part.old is None for part in key.parts):
        return f"{what}never made before"
    changed = [part.name for part in key.parts if part.changed and not part.name.startswith("changes read of")]
    return f"{what}{', '.join(changed)} changed" if changed else f"{what}asked for again"


def _parts(key: Mapping[str, Any]) -> dict[str, str]:
    parts = {"code": key["code_version"], "settings": key["settings_hash"], "policy": key["policy_hash"]}
    # What is read from git is read up to a commit; what follows from tables, up to versions of them; from a database,
    # up to a mark.
    if key["cursor"].startswith('{"mark"'):
        parts["mark"] = str(read_mark(key["cursor"]))
        return {name: value for name, value in parts.items() if value}
    position = read_position(key["cursor"]) if key["cursor"].startswith("{") else None
    if position is None:
        parts["commit"] = key["cursor"]
    else:
        parts["commit"] = position.commit
        parts |= {f"changes read of {name}": f"up to version {c.end - 1}" for name, c in position.cursors.items()}
    inputs: Mapping[str, str | None] = json.loads(key["input_versions"])
    parts |= {f"content of {name}": value or "not known" for name, value in inputs.items()}
    return {name: value for name, value in parts.items() if value}
