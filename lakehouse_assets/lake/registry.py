"""The registered repositories: the table `repositories`, changed under a lock, read by anyone.

Invariant: a name stands for one repository. Adding the same one again changes nothing.
"""

import fcntl
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from difflib import get_close_matches

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, write_deltalake

from lakehouse_assets.contracts.repositories import REPOSITORIES
from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.repository import Repository
from lakehouse_assets.lake.concurrency import retried
from lakehouse_assets.lake.tables import Lake


class Registry:
    def __init__(self, lake: Lake) -> None:
        self._lake = lake

    def all(self) -> dict[str, Repository]:
        """Every repository by name, in the order of names."""
        rows = sorted(self._lake.rows(REPOSITORIES), key=lambda row: row["repo"])
        return {row["repo"]: _from_row(row) for row in rows}

    def get(self, names: Iterable[str]) -> list[Repository]:
        """The named repositories, in the order asked; an unknown name is refused with the nearest one."""
        known = self.all()
        return [registered(known, name) for name in dict.fromkeys(names)]

    def add(self, repositories: Iterable[Repository], *, update: bool = False) -> list[Repository]:
        """Register all or none; gives those that were new or changed. `update` lets a known name take new settings."""
        wanted = list(repositories)
        with self._locked():
            return retried(f"table {REPOSITORIES.name}", lambda: self._add(wanted, update=update))

    def _add(self, repositories: list[Repository], *, update: bool) -> list[Repository]:
        table = self._lake.ensure(REPOSITORIES)  # before it is read: who writes on another version finds a conflict
        known = self.all()
        changed: dict[str, Repository] = {}
        for repository in repositories:
            before = changed.get(repository.name) or known.get(repository.name)
            if before == repository:
                continue
            if before is not None and not (update and repository.name not in changed):
                raise _name_taken(before, repository)
            changed[repository.name] = repository
        if changed:
            _write(table, list(changed.values()), replaced=[name for name in changed if name in known])
        return list(changed.values())

    def remove(self, names: Iterable[str]) -> list[Repository]:
        with self._locked():
            gone = self.get(names)
            if gone:
                self._lake.open(REPOSITORIES).delete(_any_of([repository.name for repository in gone]))
        return gone

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Two commands at once must not both find a name free; those of other machines find it at their commit."""
        self._lake.locks.mkdir(parents=True, exist_ok=True)
        with (self._lake.locks / ".registry.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def _write(table: DeltaTable, repositories: list[Repository], *, replaced: list[str]) -> None:
    batch, alone = _to_arrow(repositories), CommitProperties(max_commit_retries=0)
    if not replaced:
        write_deltalake(table, batch, mode="append", commit_properties=alone)
        return
    same = "t.repo = s.repo"
    merge = table.merge(batch, predicate=same, source_alias="s", target_alias="t", commit_properties=alone)
    merge.when_matched_update_all().when_not_matched_insert_all().execute()


def registered(known: Mapping[str, Repository], name: str) -> Repository:
    """The repository of that name; an unknown name is refused with the nearest one."""
    if name not in known:
        near = get_close_matches(name, known, n=1)
        raise BadInputError(
            subject=f"repository {name!r}",
            seen="no repository of that name is registered",
            why="there is nothing to read it from",
            remedy=f"did you mean {near[0]!r}? See `lakehouse repo list`"
            if near
            else f"register it with `lakehouse repo add {name} PATH_OR_URL`",
        )
    return known[name]


def _any_of(names: list[str]) -> str:
    """Names are letters, digits, '.', '_' and '-' (`check_name`), so they need no escaping."""
    return "repo IN ({})".format(", ".join(f"'{name}'" for name in names))


def _from_row(row: dict[str, object]) -> Repository:
    row = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items() if key != "added_at"}
    return Repository(name=row.pop("repo"), **row)  # pyright: ignore[reportArgumentType]  # typed by the contract


def _to_arrow(repositories: list[Repository]) -> pa.Table:
    now = datetime.now(UTC)
    columns: dict[str, list[object]] = {
        "repo": [r.name for r in repositories],
        "location": [r.location for r in repositories],
        "kind": [r.kind for r in repositories],
        "ref": [r.ref for r in repositories],
        "include": [list(r.include) for r in repositories],
        "exclude": [list(r.exclude) for r in repositories],
        "languages": [list(r.languages) for r in repositories],
        "added_at": [now for _ in repositories],
    }
    return pa.table(columns, schema=arrow_schema(REPOSITORIES.columns))


def _name_taken(before: Repository, after: Repository) -> BadInputError:
    different = [
        f"{field} {getattr(before, field)!r} against {getattr(after, field)!r}"
        for field in ("location", "ref", "include", "exclude", "languages")
        if getattr(before, field) != getattr(after, field)
    ]
    return BadInputError(
        subject=f"repository {after.name!r}",
        seen=f"the name is taken by one with {'; '.join(different)}",
        why="one name is one partition in every table",
        remedy="choose another name, or say --update to give this one the new settings",
    )
