"""The settings file: what holds everywhere, and what differs from environment to environment.

`lakehouse.toml` has a section `base` and one for each environment, such as `dev` and `prod`; `LAKEHOUSE_ENV` names the
one that is laid over the base. A section has settings by their names in small letters, and `variables`, which stand for
`${NAME}` in the project's other files. Variables of the process's environment win over both: what is set for one run
needs no file to be edited. Unknown names are refused, for a setting that is misspelt would silently not hold.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeGuard

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.text import nearest
from lakehouse_assets.core.variables import filled_text

FILE_NAME = "lakehouse.toml"
BASE = "base"
PREFIX = "LAKEHOUSE_"
_VARIABLES = "variables"
_PATHS = ("home", "ingest", "models", "cache", "lake")
_NAMES = (
    *_PATHS,
    "spark",
    "profile",
    "executor",
    "cores",
    "driver_memory_mb",
    "keep_commits",
    "keep_days",
    "keep_log_days",
    "keep_runs_days",
    "resident_port",
    "explorer_port",
)


@dataclass(frozen=True, kw_only=True)
class Overlay:
    """What the settings file says for the chosen environment; without a file, nothing."""

    path: Path | None = None
    environment: str = ""
    """The environment that is laid over the base; empty for the base alone."""
    environments: tuple[str, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict[str, str])
    """By the names that the process's environment has for them (`LAKEHOUSE_HOME`)."""
    variables: Mapping[str, str] = field(default_factory=dict[str, str])

    def under(self, env: Mapping[str, str]) -> dict[str, str]:
        """The process's environment over what the file says."""
        return {**self.values, **{name: value for name, value in env.items() if value}}

    def named(self, setting: str) -> str:
        """A setting by its place in the file, for who has to mend it."""
        return f"{self.path}: {setting.removeprefix(PREFIX).lower()}"


def read_overlay(env: Mapping[str, str]) -> Overlay:
    """The file that `LAKEHOUSE_SETTINGS` names, else `lakehouse.toml` in the working folder or the nearest above it."""
    path = _file(env)
    chosen = env.get(f"{PREFIX}ENV", "")
    if path is None:
        if chosen:
            raise _refused(
                f"{PREFIX}ENV", f"{chosen!r} is chosen, and there is no {FILE_NAME} here or above", "write the file"
            )
        return Overlay()
    held = _read(path)
    names = tuple(name for name in held if name != BASE)
    if chosen and chosen not in held:
        remedy = nearest(chosen, held) or f"it has {', '.join(held) or 'no section'}"
        raise _refused(f"{PREFIX}ENV", f"{path} has no section {chosen!r}", remedy)
    settings: dict[str, Any] = {}
    variables: dict[str, str] = {}
    for section in dict.fromkeys((BASE, chosen or BASE)):
        said = held.get(section, {})
        settings |= {name: value for name, value in said.items() if name != _VARIABLES}
        variables |= said.get(_VARIABLES, {})
    variables = {
        name: env.get(name) or filled_text(value, env, subject=f"{path}: {name}") for name, value in variables.items()
    }
    known = {**env, **variables}
    return Overlay(
        path=path,
        environment="" if chosen == BASE else chosen,
        environments=names,
        values={f"{PREFIX}{name.upper()}": _text(path, name, value, known) for name, value in settings.items()},
        variables=variables,
    )


def laid_over(base: Any, over: Any) -> Any:
    """What `base` says where `over` says nothing: mappings name by name, lists of things by the things' names."""
    if is_mapping(base) and is_mapping(over):
        return {**base, **{name: laid_over(base[name], said) if name in base else said for name, said in over.items()}}
    if _is_list(base) and _is_list(over) and all(_identity(each) for each in (*base, *over)):
        things = {_identity(each): each for each in base}
        if len(things) < len(base):  # a name that is there twice is refused by who reads it, not hidden here
            return [*base, *over]
        for each in over:
            things[_identity(each)] = laid_over(things.get(_identity(each), {}), each)
        return list(things.values())
    return over


def is_mapping(value: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _is_list(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def _identity(thing: Any) -> tuple[str, ...]:
    """By what a thing of a list is told from others; nothing where there is no such."""
    if not is_mapping(thing):
        return ()
    names = ("name",) if "name" in thing else ("asset", "connection", "table")
    return tuple(str(thing[name]) for name in names) if thing.keys() >= {*names} else ()


def _file(env: Mapping[str, str]) -> Path | None:
    given = env.get(f"{PREFIX}SETTINGS")
    if given:
        path = Path(given).expanduser().absolute()
        if not path.is_file():
            raise _refused(f"{PREFIX}SETTINGS", f"there is no file {path}", "name one that is there, or unset it")
        return path
    here = Path.cwd()
    return next((each / FILE_NAME for each in (here, *here.parents) if (each / FILE_NAME).is_file()), None)


def _read(path: Path) -> dict[str, dict[str, Any]]:
    try:
        held: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise _refused(str(path), f"it is no TOML: {error}", "mend the file") from None
    for section, said in held.items():
        if not is_mapping(said):
            near = nearest(section, _NAMES)
            remedy = f"write it below [{BASE}] or an environment's name"
            raise _refused(
                f"{path}: {section}", "it stands outside any section", f"{remedy}; {near}" if near else remedy
            )
        for name in said:
            if name not in (*_NAMES, _VARIABLES):
                remedy = nearest(name, (*_NAMES, _VARIABLES)) or f"there are {', '.join(_NAMES)} and {_VARIABLES}"
                raise _refused(f"{path}: {section}.{name}", "there is no such setting", remedy)
        named = said.get(_VARIABLES, {})
        if not is_mapping(named) or not all(isinstance(value, str) for value in named.values()):
            raise _refused(f"{path}: {section}.{_VARIABLES}", "variables are texts by name", "quote the values")
    return held


def _text(path: Path, name: str, value: Any, variables: Mapping[str, str]) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise _refused(f"{path}: {name}", f"{value!r} is neither text nor a whole number", "write one of these")
    text = filled_text(str(value), variables, subject=f"{path}: {name}")
    if name not in _PATHS or "://" in text:
        return text
    return str(path.parent / Path(text).expanduser())


def _refused(subject: str, seen: str, remedy: str) -> BadInputError:
    why = "a setting that is not understood would silently not hold"
    return BadInputError(subject=subject, seen=seen, why=why, remedy=remedy)
