"""A project's YAML files read into one: connections, what is ingested, what is delivered."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from lakehouse_assets.contracts.files import FileIngest, HttpIngest
from lakehouse_assets.contracts.ingest import Ingest, SqlProject
from lakehouse_assets.core.errors import BadInputError, LakehouseError


def load_project(folder: Path) -> SqlProject:
    """All `*.yaml` files of the folder together; a folder that is not there has none."""
    lists = [name for name in SqlProject.model_fields if name != "connections"]
    whole: dict[str, Any] = {"connections": {}, **{name: [] for name in lists}}
    for path in sorted(folder.glob("*.yaml")):
        try:
            held = yaml.safe_load(path.read_text()) or {}
        except yaml.YAMLError as error:
            raise _bad(path, f"it is no YAML: {' '.join(str(error).split())}") from None
        if not isinstance(held, dict) or set(held) - set(whole):
            raise _bad(path, f"it has other parts than {', '.join(whole)}")
        for name, connection in (held.get("connections") or {}).items():
            if whole["connections"].setdefault(name, connection) != connection:
                raise _bad(path, f"the connection {name} is another one in another file")
        for part in lists:
            whole[part] += held.get(part) or []
    try:
        return SqlProject.model_validate(whole)
    except ValidationError as error:
        # Without the input: an address may hold a password.
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise _bad(folder, f"{where + ': ' if where else ''}{first['msg']}") from None


def chosen_source(project: SqlProject, name: str) -> Ingest | FileIngest | HttpIngest:
    found = next((each for each in (*project.ingest, *project.files, *project.http) if each.name == name), None)
    if found is None:
        raise _unknown(name, project.tables)
    return found


def chosen_ingest(project: SqlProject, name: str) -> Ingest:
    """One that has a mark."""
    found = chosen_source(project, name)
    if not isinstance(found, Ingest):
        raise _unknown(name, [each.name for each in project.ingest])
    return found


def _unknown(name: str, known: Sequence[str]) -> BadInputError:
    return BadInputError(
        subject=f"ingest {name}",
        seen=f"there is none of that name among {', '.join(known) or 'none at all'}",
        why="there is nothing to read",
        remedy="name one of these, or write it into a file of the ingest folder (LAKEHOUSE_INGEST)",
    )


def _bad(path: Path, seen: str) -> LakehouseError:
    return BadInputError(
        subject=str(path),
        seen=seen,
        why="nothing is read from it, and nothing was run",
        remedy="mend the file; the README has an example",
    )
