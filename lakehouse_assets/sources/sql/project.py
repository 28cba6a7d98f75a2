"""A project's YAML files read into one: connections, what is ingested, what is delivered.

Files of the folder that is named as the chosen environment are laid over those of the ingest folder: they say only what
differs. `${NAME}` in connections and in headers is filled when these are used, so that no secret is ever in what was
read; everywhere else it is filled here.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from lakehouse_assets.contracts.files import FileIngest, HttpIngest
from lakehouse_assets.contracts.ingest import Ingest, SqlProject
from lakehouse_assets.core.errors import BadInputError, LakehouseError
from lakehouse_assets.core.overlays import laid_over
from lakehouse_assets.core.problems import first_problem
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.core.text import nearest
from lakehouse_assets.core.variables import every_text, filled_known, filled_text

_PARTS = tuple(SqlProject.model_fields)
_LATE = ("connections", "headers")
"""Where secrets stand: filled when they are used."""


def load_project(settings: Settings, folder: Path | None = None) -> SqlProject:
    """All `*.yaml` files of the folder, by default that of the settings; one that is not there has none."""
    folder = folder or settings.ingest
    _refuse_strangers(folder, settings)
    whole = _read(folder)
    if settings.environment:
        whole = laid_over(whole, _read(folder / settings.environment))
    filled = _placed(_filled(whole, settings, str(folder)), settings.project)
    try:
        project = SqlProject.model_validate(filled)
    except ValidationError as error:
        place, problem = first_problem(error, SqlProject)
        where = ".".join(map(str, place))
        raise _bad(folder, f"{where + ': ' if where else ''}{problem}") from None
    _refuse_unknown(project, settings, folder)
    return project


def _refuse_unknown(project: SqlProject, settings: Settings, folder: Path) -> None:
    """What is delivered is a table or a model; models are looked at only if there is something else than tables."""
    others = [each for each in project.deliver if not project.has_table(each.asset)]
    if not others:
        return
    from lakehouse_assets.models.files import look_at

    try:
        models = {each.header.name for each in look_at(settings.models, settings.variables)}
    except LakehouseError:
        return  # told where models are read; a delivery asks its environment anyway
    for each in others:
        if each.asset not in models:
            near = nearest(each.asset, [*project.tables, *models])
            seen = f"{each.name}: there is no table {each.asset} in the lake, nor among what comes in, nor a model"
            raise _bad(folder, f"{seen}{near and f'; {near}'}")


def _read(folder: Path) -> dict[str, Any]:
    whole: dict[str, Any] = {name: {} if name == "connections" else [] for name in _PARTS}
    for path in sorted(folder.glob("*.yaml")):
        try:
            held = yaml.safe_load(path.read_text()) or {}
        except yaml.YAMLError as error:
            raise _bad(path, f"it is no YAML: {' '.join(str(error).split())}") from None
        if not isinstance(held, dict):
            raise _bad(path, f"it does not have the parts {', '.join(_PARTS)}")
        for part, said in held.items():
            if part not in _PARTS:
                near = nearest(str(part), _PARTS)
                raise _bad(path, f"it has other parts than {', '.join(_PARTS)}: {part}{near and f'; {near}'}")
            if not isinstance(said or whole[part], type(whole[part])):
                raise _bad(path, f"{part} is no {'mapping' if part == 'connections' else 'list'}")
        for name, connection in (held.get("connections") or {}).items():
            if whole["connections"].setdefault(name, connection) != connection:
                raise _bad(path, f"the connection {name} is another one in another file")
        for part in _PARTS[1:]:
            whole[part] += held.get(part) or []
    return whole


def _refuse_strangers(folder: Path, settings: Settings) -> None:
    """A folder of YAML files that no environment is named by would never be read."""
    for each in sorted({path.parent for path in folder.glob("*/*.yaml")}):
        if each.name not in settings.environments:
            near = nearest(each.name, settings.environments)
            raise _bad(each, f"there is no environment {each.name!r} in lakehouse.toml{near and f'; {near}'}")


def _filled(whole: Any, settings: Settings, subject: str) -> Any:
    """Variables of the settings file count everywhere; those of the environment wait where secrets stand."""
    own = {name: value for name, value in settings.variables.items() if name not in os.environ}
    every = {**settings.variables, **os.environ}
    if not isinstance(whole, dict | list):
        return every_text(whole, lambda text: filled_text(text, every, subject=subject))
    if isinstance(whole, list):
        return [_filled(each, settings, subject) for each in whole]
    return {
        name: every_text(said, lambda text: filled_known(text, own))
        if name in _LATE
        else _filled(said, settings, subject)
        for name, said in whole.items()
    }


def _placed(whole: dict[str, Any], project: Path | None) -> dict[str, Any]:
    """Paths that begin nowhere begin in the project's folder, from wherever the command is run."""

    def placed(thing: Any) -> Any:
        if project is None or not isinstance(thing, dict) or str(thing.get("path") or "$").startswith("$"):
            return thing  # a variable that is filled later may begin anywhere
        return {**thing, "path": str(project / Path(thing["path"]).expanduser())}

    streams = [
        {**each, "source": placed(each.get("source"))} if isinstance(each, dict) and "source" in each else each
        for each in whole["streams"]
    ]
    connections = {name: placed(each) for name, each in whole["connections"].items()}
    files = [placed(each) for each in whole["files"]]
    return {**whole, "connections": connections, "files": files, "streams": streams}


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
    near = nearest(name, known)
    return BadInputError(
        subject=f"ingest {name}",
        seen=f"there is none of that name among {', '.join(known) or 'none at all'}",
        why="there is nothing to read",
        remedy=near or "name one of these, or write it into a file of the ingest folder (LAKEHOUSE_INGEST)",
    )


def _bad(path: Path, seen: str) -> LakehouseError:
    return BadInputError(
        subject=str(path),
        seen=seen,
        why="nothing is read from it, and nothing was run",
        remedy="mend the file; the README has an example",
    )
