"""The facts that set-up decides on. Reads, and asks interpreters for their version; changes nothing."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from lakehouse_assets.core.bootstrap.plan import (
    BROWSERS,
    PYTHON_NAMES,
    Environment,
    Facts,
    Interpreter,
    Version,
    rebuild_reason,
)
from lakehouse_assets.core.errors import EnvironmentNotReadyError
from lakehouse_assets.core.java import find_java

VENV = ".venv"
STAMP = "lakehouse-setup-stamp"
ENV_FILE = ".env"
REQUIREMENTS = ("pyproject.toml", "constraints.txt")

_QUESTION = (
    "import importlib.util as u, json, sys; "
    "print(json.dumps([sys._base_executable, sys.version_info[:3], "
    "all(map(u.find_spec, ('venv', 'ensurepip')))]))"
)
_ANSWER_SECONDS = 30


def gather_facts(root: Path, *, dev: bool, browser: bool = False, environ: dict[str, str] | None = None) -> Facts:
    env = dict(os.environ) if environ is None else environ
    environment = read_environment(root / VENV)
    keep = rebuild_reason(environment) is None
    return Facts(
        root=root,
        home=home_directory(root, env),
        dev=dev,
        requirements=tuple(_read(root / name) for name in REQUIREMENTS),
        environment=environment,
        interpreters=() if keep else find_interpreters(env),
        no_java=missing_java(env),
        lacks_browser=browser and not any(shutil.which(name, path=env.get("PATH")) for name in BROWSERS),
        can_install_packages=os.geteuid() == 0 and shutil.which("apt-get", path=env.get("PATH")) is not None,
        env_file=(root / ENV_FILE).read_text() if (root / ENV_FILE).is_file() else None,
    )


def home_directory(root: Path, env: dict[str, str]) -> Path:
    """The same answer as the settings give, which need pydantic and so cannot be asked yet."""
    given = env.get("LAKEHOUSE_HOME")
    return Path(given).expanduser().absolute() if given else root / ".lakehouse"


def read_environment(folder: Path) -> Environment | None:
    """What is known of an environment without starting it, from `pyvenv.cfg`, its files and our stamp."""
    if not os.path.lexists(folder):
        return None
    marker = folder / "pyvenv.cfg"
    lines = marker.read_text(errors="replace").splitlines() if marker.is_file() else []
    configured = {key.strip(): value.strip() for key, _, value in (line.partition("=") for line in lines)}
    version = _parse_version(configured.get("version", configured.get("version_info", "")))
    command = configured.get("command", "")
    made_for = {f" {folder}", f" {folder.resolve()}"}
    stamp = folder / STAMP
    return Environment(
        version=version or (0, 0, 0),
        complete=os.access(folder / "bin" / "python", os.X_OK) and _has_pip(folder),
        moved=bool(command) and not any(command.endswith(place) for place in made_for),
        stamp=stamp.read_text() if stamp.is_file() else None,
    )


def find_interpreters(env: dict[str, str]) -> tuple[Interpreter, ...]:
    """The running Python and those on PATH. A name that does not run (a version manager's shim) is passed over."""
    on_path = [shutil.which(name, path=env.get("PATH")) for name in PYTHON_NAMES]
    commands = dict.fromkeys([*filter(None, on_path), sys.executable])
    found = {each.executable: each for each in map(_ask, commands) if each is not None}
    return tuple(found.values())


def missing_java(env: dict[str, str]) -> EnvironmentNotReadyError | None:
    """What to tell about Java, if none can be used."""
    try:
        find_java(env)
    except EnvironmentNotReadyError as error:
        return error
    return None


def _ask(command: str) -> Interpreter | None:
    try:
        answer = subprocess.run(
            [command, "-I", "-c", _QUESTION], capture_output=True, text=True, timeout=_ANSWER_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if answer.returncode != 0:
        return None
    executable, (major, minor, micro), can_make_venv = json.loads(answer.stdout)
    return Interpreter(executable=Path(executable), version=(major, minor, micro), can_make_venv=can_make_venv)


def _has_pip(folder: Path) -> bool:
    """Whether pip was installed to its end: its RECORD is written last."""
    return any(folder.glob("lib/python*/site-packages/pip-*.dist-info/RECORD"))


def _parse_version(text: str) -> Version | None:
    parts = text.split(".")[:3]
    if len(parts) != 3 or not all(part.isdecimal() for part in parts):
        return None
    return int(parts[0]), int(parts[1]), int(parts[2])


def _read(path: Path) -> bytes:
    if path.is_file():
        return path.read_bytes()
    raise EnvironmentNotReadyError(
        subject=str(path),
        seen="the file is not there",
        why="it says which packages to install",
        remedy="run set-up from the root of a whole checkout, with `make setup`",
    )
