"""Examinations that `lakehouse doctor` makes: each tells what it saw and, if it is not well, what to do."""

import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Literal

from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.core.errors import LakehouseError
from lakehouse_assets.core.java import find_java
from lakehouse_assets.core.settings import PROJECT_ROOT, Settings
from lakehouse_assets.lake.environment_holds import environments
from lakehouse_assets.lake.jars import delta_jars
from lakehouse_assets.lake.known_tables import VERSION_TABLE
from lakehouse_assets.lake.model_tables import named
from lakehouse_assets.lake.server import port_is_free, running_server
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.sources.sql.ingested import ingested_contracts

LOW_DISK_BYTES = 2_000_000_000


@dataclass(frozen=True, kw_only=True)
class Finding:
    check: str
    status: Literal["ok", "warning", "error"]
    seen: str
    remedy: str = ""


def examine(settings: Settings) -> list[Finding]:
    """All findings, in the order in which a run would stumble over them."""
    examinations: list[tuple[str, Callable[[Settings], Iterator[Finding]]]] = [
        ("python", _python),
        ("java", _java),
        ("jars", _jars),
        ("disk", _disk),
        ("server", _server),
        ("lake", _lake),
    ]
    findings: list[Finding] = []
    for check, examination in examinations:
        try:
            findings += examination(settings)
        except LakehouseError as error:
            findings.append(Finding(check=check, status="error", seen=error.seen, remedy=error.remedy))
    return findings


def _python(settings: Settings) -> Iterator[Finding]:
    wrong: list[str] = []
    for requirement in requires("lakehouse_assets") or []:
        name, _, rest = requirement.partition("==")
        pinned = rest.partition(";")[0].strip()
        if not pinned or "extra ==" in requirement:
            continue
        package = name.partition("[")[0]
        try:
            if version(package) != pinned:
                wrong.append(f"{package} {version(package)} instead of {pinned}")
        except PackageNotFoundError:
            wrong.append(f"{package} is not installed")
    running = ".".join(map(str, sys.version_info[:3]))
    if wrong:
        yield Finding(check="python", status="error", seen=f"Python {running}: {'; '.join(wrong)}", remedy="make setup")
    else:
        yield Finding(check="python", status="ok", seen=f"Python {running}, all pinned packages as pinned")


def _java(settings: Settings) -> Iterator[Finding]:
    java = find_java()
    yield Finding(check="java", status="ok", seen=f"Java {java.major} at {java.home}")


def _jars(settings: Settings) -> Iterator[Finding]:
    jars = delta_jars()
    yield Finding(check="jars", status="ok", seen=f"{len(jars)} Delta JARs in {jars[0].parent}")


def _disk(settings: Settings) -> Iterator[Finding]:
    there = next(folder for folder in (settings.home, *settings.home.parents) if folder.exists())
    free = shutil.disk_usage(there).free
    low = free < LOW_DISK_BYTES
    yield Finding(
        check="disk",
        status="warning" if low else "ok",
        seen=f"{free / 1e9:.1f} GB free where the lake is ({settings.home})",
        remedy="free some space, or set LAKEHOUSE_HOME to a larger disk" if low else "",
    )


def _server(settings: Settings) -> Iterator[Finding]:
    state = running_server(settings)
    if state is not None:
        yield Finding(check="server", status="ok", seen=f"resident Spark server at {state.url}, pid {state.pid}")
    elif port_is_free(settings.resident_port):
        seen = f"no resident Spark server; port {settings.resident_port} is free for one"
        yield Finding(check="server", status="ok", seen=seen)
    else:
        yield Finding(
            check="server",
            status="warning",
            seen=f"port {settings.resident_port} is taken by a process that is not this home's Spark server",
            remedy="set LAKEHOUSE_RESIDENT_PORT to a free port before `lakehouse server start`",
        )


def _lake(settings: Settings) -> Iterator[Finding]:
    lake = Lake(settings.lake)
    ingested = ingested_contracts(settings)
    there = [contract for contract in CATALOG.values() if lake.exists(contract)]
    folders = sorted(each.name for each in lake.root.iterdir()) if lake.root.is_dir() else []
    versions = [name for name in folders if VERSION_TABLE.fullmatch(name)]
    for contract in (*there, *ingested, *map(named, versions)):
        lake.open(contract)
    known = {*CATALOG, *versions, *(each.name for each in ingested)}
    strays = [name for name in folders if not name.startswith(".") and name not in known]
    beside = f" and {len(ingested)} ingested ones" if ingested else ""
    beside += f", {len(versions)} of models" if versions else ""
    seen = f"{len(there)} of {len(CATALOG)} tables made{beside}, their logs readable"
    held = {each.table for each in environments(settings)}  # models may read what is in the lake, whoever put it there
    read, foreign = [name for name in strays if name in held], [name for name in strays if name not in held]
    if read:
        seen += f"; read by environments, though no ingest names them: {', '.join(read)}"
    if foreign:
        yield Finding(
            check="lake", status="warning", seen=f"{seen}; not ours: {', '.join(foreign)}", remedy=_remedy(foreign)
        )
    else:
        yield Finding(check="lake", status="ok", seen=seen)
    if (PROJECT_ROOT / "dagster.yaml").exists() and not (PROJECT_ROOT / ".env").exists():
        yield Finding(check="dagster", status="warning", seen="there is no .env for `dagster dev`", remedy="make setup")


def _remedy(foreign: list[str]) -> str:
    return f"if nothing else reads {'it' if len(foreign) == 1 else 'them'}, move {', '.join(foreign)} out of the lake"
