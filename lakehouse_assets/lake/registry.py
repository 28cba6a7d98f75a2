"""The registered repositories: the table `repositories`.

Invariant: a name stands for one repository. Adding the same one again changes nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from difflib import get_close_matches

from lakehouse_assets.contracts.repositories import REPOSITORIES
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.repository import Repository
from lakehouse_assets.lake.small_writes import write_rows
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
        while True:
            known = self.all()
            changed = _changed(known, wanted, update=update)
            new = [each for each in changed if each.name not in known]
            if new and write_rows(self._lake, REPOSITORIES, _rows(new)).rows_inserted < len(new):
                continue  # somebody took one of the names meanwhile: it is theirs, or the same repository
            if replaced := [each for each in changed if each.name in known]:
                write_rows(self._lake, REPOSITORIES, _rows(replaced), strategy="upsert")
            return changed

    def remove(self, names: Iterable[str]) -> list[Repository]:
        gone = self.get(names)
        if gone:
            write_rows(self._lake, REPOSITORIES, _rows(gone), strategy="delete_matching")
        return gone


def _changed(known: Mapping[str, Repository], wanted: Sequence[Repository], *, update: bool) -> list[Repository]:
    """Those that are new or have new settings; refused where a name is taken."""
    changed: dict[str, Repository] = {}
    for repository in wanted:
        before = changed.get(repository.name) or known.get(repository.name)
        if before == repository:
            continue
        if before is not None and not (update and repository.name not in changed):
            raise _name_taken(before, repository)
        changed[repository.name] = repository
    return list(changed.values())


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


def _from_row(row: dict[str, object]) -> Repository:
    row = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items() if key != "added_at"}
    return Repository(name=row.pop("repo"), **row)  # pyright: ignore[reportArgumentType]  # typed by the contract


def _rows(repositories: Iterable[Repository]) -> list[dict[str, object]]:
    now = datetime.now(UTC)
    return [
        {
            "repo": each.name,
            "location": each.location,
            "kind": each.kind,
            "ref": each.ref,
            "include": list(each.include),
            "exclude": list(each.exclude),
            "languages": list(each.languages),
            "added_at": now,
        }
        for each in repositories
    ]


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
