"""A registered repository as plain data: it travels to Spark workers and into fingerprints."""

import re
from dataclasses import dataclass
from typing import Literal

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.hashing import json_fingerprint

RepositoryKind = Literal["local_git", "remote_git", "directory"]

_FIT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


@dataclass(frozen=True, kw_only=True)
class Repository:
    """One row of `repositories`, less the time it was added."""

    name: str
    location: str
    kind: RepositoryKind
    ref: str | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()

    @property
    def settings_hash(self) -> str:
        """Fingerprint of what decides which rows the repository gives at a commit."""
        return json_fingerprint(
            {
                "location": self.location,
                "ref": self.ref,
                "include": self.include,
                "exclude": self.exclude,
                "languages": self.languages,
            }
        )


def check_name(name: str) -> str:
    """Refuse a name that cannot serve as partition key, folder and SQL literal alike."""
    if _FIT_NAME.fullmatch(name):
        return name
    cleaned = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._")[:128]
    raise BadInputError(
        subject=f"repository name {name!r}",
        seen="a name is 1 to 128 letters, digits, '.', '_' and '-', the first a letter or digit",
        why="the name is the partition key in Dagster and a folder in the lake",
        remedy=f"choose another, such as {cleaned!r}" if cleaned else "choose a name such as 'my-repo'",
    )
