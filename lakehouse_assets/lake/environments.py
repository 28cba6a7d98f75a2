"""The environments and the models' versions that the lake knows: read by anyone, changed one revision at a time.

Invariant: a revision of an environment is one row, so it is there as a whole or not at all. Two that are made from the
same revision have the same number, and only the first gets into the table; the other is told.
"""

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from lakehouse_assets.contracts.environments import ENVIRONMENTS
from lakehouse_assets.contracts.model_versions import MODEL_VERSIONS
from lakehouse_assets.core.errors import LakeStateError
from lakehouse_assets.core.hashing import json_text
from lakehouse_assets.lake.small_writes import write_rows
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.models.environment import Environment, Member, members_from, members_text
from lakehouse_assets.models.meaning import Meaning
from lakehouse_assets.models.stored import as_stored, from_stored

_TOLD = ("model", "version", "metadata", "text", "sql", "parts")


class Environments:
    def __init__(self, lake: Lake) -> None:
        self._lake = lake

    def history(self, name: str) -> list[Environment]:
        """The revisions of an environment since it was last created, oldest first."""
        revisions = [each for each in self._all() if each.name == name]
        starts = [i for i, each in enumerate(revisions) if each.action == "create"]
        return revisions[starts[-1] :] if starts else []

    def all(self) -> dict[str, Environment]:
        """The revision in force of every environment that was not dropped, by name."""
        newest = {each.name: each for each in self._all()}
        return {name: each for name, each in sorted(newest.items()) if each.action != "drop"}

    def newest_revision(self, name: str) -> int:
        """The number of the last revision, also of an environment that was dropped; 0 if there never was one."""
        return max((each.revision for each in self._all() if each.name == name), default=0)

    def put(self, environment: Environment) -> None:
        """Make this the revision in force; refused if another with its number came first."""
        row = {
            "environment": environment.name,
            "revision": environment.revision,
            "base": environment.base,
            "description": environment.description,
            "owner": environment.owner,
            "start_date": environment.start,
            "end_date": environment.end,
            "expires_at": environment.expires_at,
            "action": environment.action,
            "execution": environment.execution,
            "changed_at": environment.changed_at,
            "members": json_text(members_text(environment.members)),
        }
        done = write_rows(self._lake, ENVIRONMENTS, [row], run_id=f"{environment.execution}-{uuid4().hex}")
        if done.rows_inserted != 1:
            other = next(
                each for each in self._all() if (each.name, each.revision) == (environment.name, environment.revision)
            )
            raise LakeStateError(
                subject=f"environment {environment.name!r}",
                seen=f"another {other.action} (execution {other.execution}) made revision {other.revision} meanwhile",
                why="this one was planned against the revision before, so its outcome was not put in force",
                remedy="plan again; what was built stays and is not built again",
            )

    def _all(self) -> list[Environment]:
        rows = sorted(self._lake.rows(ENVIRONMENTS), key=lambda row: (row["environment"], row["revision"]))
        return [_environment(row) for row in rows]


def keep_versions(lake: Lake, meanings: Iterable[Meaning]) -> None:
    """Keep what models said and meant; versions that are kept already stay as they are."""
    now = datetime.now(UTC)
    rows = [
        {
            "model": each.name,
            "version": each.data,
            "metadata": each.metadata,
            "table_name": each.table,
            "text": each.text,
            "sql": each.sql,
            "parts": json_text(as_stored(each)),
            "applied_at": now,
        }
        for each in meanings
    ]
    if rows:
        write_rows(lake, MODEL_VERSIONS, rows, run_id=uuid4().hex)


def kept_meanings(lake: Lake, members: Mapping[str, Member]) -> dict[str, Meaning]:
    """The meanings of an environment's models, each after what it reads."""
    wanted = {(name, each.version, each.metadata): name for name, each in members.items() if each.kind != "source"}
    found: dict[str, Meaning] = {}
    if wanted:
        for row in lake.rows(MODEL_VERSIONS, columns=_TOLD):
            if (row["model"], row["version"], row["metadata"]) in wanted:
                found[row["model"]] = _meaning(row)
    missing = sorted(set(wanted.values()) - set(found))
    if missing:
        raise LakeStateError(
            subject=f"models {', '.join(missing)}",
            seen=f"{MODEL_VERSIONS.name} does not have the versions that the environment maps them to",
            why="what they mean is not known",
            remedy="restore the table to a version that has them, or roll the environment back",
        )
    ordered: dict[str, Meaning] = {}
    for name in sorted(found):
        _after_inputs(found, name, ordered)
    return ordered


def kept_versions(lake: Lake) -> list[Meaning]:
    """Every version of every model that was ever applied."""
    return [_meaning(row) for row in lake.rows(MODEL_VERSIONS, columns=_TOLD)]


def _meaning(row: Mapping[str, Any]) -> Meaning:
    return from_stored(row["model"], row["text"], row["sql"], json.loads(row["parts"]))


def _after_inputs(found: Mapping[str, Meaning], name: str, ordered: dict[str, Meaning]) -> None:
    if name not in ordered:
        for parent in found[name].inputs:
            if parent in found:
                _after_inputs(found, parent, ordered)
        ordered[name] = found[name]


def _environment(row: Mapping[str, Any]) -> Environment:
    return Environment(
        name=row["environment"],
        revision=row["revision"],
        base=row["base"],
        description=row["description"],
        owner=row["owner"],
        start=row["start_date"],
        end=row["end_date"],
        expires_at=row["expires_at"],
        action=row["action"],
        execution=row["execution"],
        changed_at=row["changed_at"],
        members=members_from(json.loads(row["members"])),
    )
