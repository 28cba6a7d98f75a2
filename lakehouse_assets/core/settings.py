"""Settings of one process: where things live and which Spark to use. Typed, refused early.

From the environment, and below it from the settings file (`core/overlays.py`).
"""

import os
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.overlays import Overlay, read_overlay
from lakehouse_assets.core.places import (
    Endpoint,
    Provider,
    StorePlace,
    endpoint_of,
    is_store,
    provider_of,
    tables_place,
)

PROJECT_ROOT = Path(__file__).resolve().parents[2]
DEFAULT_RESIDENT_PORT = 15002
DEFAULT_MODELS = Path(__file__).resolve().parents[1] / "models" / "default"
DEFAULT_EXPLORER_PORT = 3001
DEFAULT_KEEP_LOG_DAYS = 30

_KEEPS = "a vacuum removes what is not kept"

Profile = Literal["update", "bulk"]
WantedEngine = Literal["auto", "spark", "local"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class InProcess(_Frozen):
    """A Spark driver inside this process."""

    mode: Literal["in-process"] = "in-process"


class Resident(_Frozen):
    """The local Spark Connect server that `lakehouse server start` keeps warm. Required, or used only if it is up."""

    mode: Literal["resident"] = "resident"
    required: bool = True


class Remote(_Frozen):
    """A Spark Connect endpoint (`sc://…`) or the master of a cluster (`spark://…`, `yarn`, `k8s://…`)."""

    mode: Literal["remote"] = "remote"
    url: str

    @property
    def is_connect(self) -> bool:
        return self.url.startswith("sc://")


SparkTarget = InProcess | Resident | Remote


class Settings(_Frozen):
    """Everything a process needs to know about its surroundings."""

    home: Path
    tables: str | None = None
    """Where the tables are if not in the home: a folder, or the address of a store (`core/places.py`)."""
    endpoint: Endpoint = Endpoint()
    ingest: Path
    """Folder of the YAML files that say which tables come in from databases and go out to them."""
    spark: SparkTarget
    profile: Profile
    resident_port: int
    explorer_port: int
    engine: WantedEngine
    cores: int
    driver_memory_mb: int
    keep_commits: int = 20
    """Published commits of each repository that stay readable without a pin."""
    keep_days: int = 0
    """Published commits that are younger than so many days stay readable as well."""
    keep_log_days: int = DEFAULT_KEEP_LOG_DAYS
    """How long entries of the tables' logs stay that nobody holds: they are small, and tell what happened."""
    keep_runs_days: int = 90
    """How long Dagster's own records of runs are kept."""
    worker_python: str | None = None
    """Interpreter of Spark's workers on other machines, where it is not at the same place as this process's."""
    models: Path = DEFAULT_MODELS
    """Folder of SQL models."""
    project: Path | None = None
    """Folder of the settings file; without one, there is none."""
    environment: str = ""
    """The environment whose section of the settings file is laid over the base; empty for the base alone."""
    environments: tuple[str, ...] = ()
    """Those that the settings file has."""
    variables: dict[str, str] = Field(default_factory=dict)
    """What the settings file lets `${NAME}` stand for."""

    @property
    def lake(self) -> Path | StorePlace:
        """Where the tables are. All else is in the home, whose locks spare the writers of a machine conflicts."""
        here = self.home / "lake"
        if self.tables is None:
            return here
        return StorePlace(url=self.tables, machine=here) if self.is_on_object_store else Path(self.tables)

    @property
    def is_on_object_store(self) -> bool:
        return is_store(self.tables)

    @property
    def provider(self) -> Provider | None:
        """Whose store the tables are in; None if they are on a disk."""
        return provider_of(self.tables) if self.tables is not None and is_store(self.tables) else None

    @property
    def locks(self) -> Path:
        """The folder of the locks of this lake's users."""
        lake = self.lake
        return lake if isinstance(lake, Path) else lake.machine

    @property
    def mirrors(self) -> Path:
        """Bare copies of repositories that are not read in place: URLs and plain directories."""
        return self.home / "git"

    def story_url(self, run_id: str) -> str:
        """Where the explorer shows the story of a run."""
        return f"http://127.0.0.1:{self.explorer_port}/runs/{run_id}"

    @property
    def events(self) -> Path:
        """Spark's event logs of applications on clusters, for its history server."""
        return self.home / "spark-events"

    @property
    def archives(self) -> Path:
        """Our code as it was sent to workers on other machines."""
        return self.home / "archives"

    @property
    def server(self) -> Path:
        return self.home / "server"


def load_settings(environ: dict[str, str] | None = None) -> Settings:
    """Read the settings from `environ` (default: the process's own) and the settings file."""
    given = dict(os.environ) if environ is None else environ
    overlay = read_overlay(given)
    try:
        return _settings(overlay.under(given), overlay)
    except BadInputError as error:
        if error.subject not in overlay.values or given.get(error.subject):
            raise
        raise BadInputError(
            subject=overlay.named(error.subject), seen=error.seen, why=error.why, remedy=error.remedy
        ) from None


def _settings(env: dict[str, str], overlay: Overlay) -> Settings:
    project = overlay.path.parent if overlay.path else None
    cores = _positive(env, "LAKEHOUSE_CORES", _available_cores())
    tables = tables_place(env)
    return Settings(
        home=home_directory(env, project),
        tables=tables,
        endpoint=endpoint_of(tables, env),
        ingest=Path(env.get("LAKEHOUSE_INGEST") or _root(project) / "ingest").expanduser().absolute(),
        spark=parse_spark(env.get("LAKEHOUSE_SPARK") or "auto"),
        profile=_profile(env.get("LAKEHOUSE_PROFILE") or "bulk"),
        resident_port=_positive(env, "LAKEHOUSE_RESIDENT_PORT", DEFAULT_RESIDENT_PORT),
        explorer_port=_positive(env, "LAKEHOUSE_EXPLORER_PORT", DEFAULT_EXPLORER_PORT),
        engine=_engine(env),
        cores=cores,
        driver_memory_mb=_positive(env, "LAKEHOUSE_DRIVER_MEMORY_MB", _default_driver_memory_mb(cores)),
        keep_commits=_whole(env, "LAKEHOUSE_KEEP_COMMITS", 20, at_least=1, why=_KEEPS),
        keep_days=_whole(env, "LAKEHOUSE_KEEP_DAYS", 0, at_least=0, why=_KEEPS),
        keep_log_days=_whole(env, "LAKEHOUSE_KEEP_LOG_DAYS", DEFAULT_KEEP_LOG_DAYS, at_least=0, why=_KEEPS),
        keep_runs_days=_whole(env, "LAKEHOUSE_KEEP_RUNS_DAYS", 90, at_least=1, why="older runs are forgotten"),
        worker_python=env.get("LAKEHOUSE_WORKER_PYTHON") or None,
        models=_models_folder(env),
        project=project,
        environment=overlay.environment,
        environments=overlay.environments,
        variables=dict(overlay.variables),
    )


def _models_folder(env: dict[str, str]) -> Path:
    """`LAKEHOUSE_MODELS`, or the models that come with the package."""
    given = env.get("LAKEHOUSE_MODELS")
    return Path(given).expanduser().absolute() if given else DEFAULT_MODELS


def home_directory(env: dict[str, str], project: Path | None = None) -> Path:
    """`LAKEHOUSE_HOME`, or `.lakehouse` in the project."""
    given = env.get("LAKEHOUSE_HOME")
    if given:
        return Path(given).expanduser().absolute()
    return _root(project) / ".lakehouse"


def _root(project: Path | None) -> Path:
    """The folder of the settings file; else the checkout, or the working folder when installed elsewhere."""
    if project is not None:
        return project
    return PROJECT_ROOT if (PROJECT_ROOT / "pyproject.toml").exists() else Path.cwd()


def parse_spark(text: str) -> SparkTarget:
    """`auto`, `in-process`, `resident`, or the URL of a Connect server or of a cluster's master."""
    match text:
        case "auto":
            return Resident(required=False)
        case "in-process":
            return InProcess()
        case "resident":
            return Resident()
        case _ if text == "yarn" or text.startswith(("sc://", "spark://", "k8s://", "local-cluster[")):
            return Remote(url=text)
        case _:
            raise BadInputError(
                subject="LAKEHOUSE_SPARK",
                seen=f"{text!r} is none of auto, in-process, resident, sc://…, spark://…, k8s://…, yarn",
                why="the run would not know which Spark to use",
                remedy="set it to one of these, or unset it (auto: the resident server if it is up, else in-process)",
            )


def _profile(text: str) -> Profile:
    match text:
        case "update" | "bulk":
            return text
        case _:
            raise BadInputError(
                subject="LAKEHOUSE_PROFILE",
                seen=f"{text!r} is neither update nor bulk",
                why="the profile sets the JVM's compiler and collector",
                remedy="use update for small, frequent runs and bulk for long first builds",
            )


def _engine(env: dict[str, str]) -> WantedEngine:
    if env.get("LAKEHOUSE_EXECUTOR"):
        raise BadInputError(
            subject="LAKEHOUSE_EXECUTOR",
            seen="it is set, and there is no such setting any more",
            why="runs would work where nobody asked them to",
            remedy="unset it, and set LAKEHOUSE_ENGINE to spark or local if it is to be forced (local: without Spark)",
        )
    text = env.get("LAKEHOUSE_ENGINE") or "auto"
    match text:
        case "auto" | "spark" | "local":
            return text
        case _:
            raise BadInputError(
                subject="LAKEHOUSE_ENGINE",
                seen=f"{text!r} is none of auto, spark, local",
                why="it decides where runs make and write their rows",
                remedy="unset it (auto: Spark for builds, this process for small updates), or force one of the two",
            )


def _positive(env: dict[str, str], name: str, default: int) -> int:
    return _whole(env, name, default, at_least=1, why="it sizes what the run may use")


def _whole(env: dict[str, str], name: str, default: int, *, at_least: int, why: str) -> int:
    text = env.get(name)
    if not text:
        return default
    if not text.isdecimal() or int(text) < at_least:
        raise BadInputError(
            subject=name,
            seen=f"{text!r} is not a {'positive ' if at_least else ''}whole number",
            why=why,
            remedy=f"unset it for the default ({default}), or give a number",
        )
    return int(text)


def _available_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _default_driver_memory_mb(cores: int) -> int:
    """Return 1 GiB a core, but between 1 GiB and a quarter of the machine's memory.

    Python workers and Delta's readers need the rest. With 4 GiB for 2 cores the JVM grew to 5.6 GB in a build of 18,000
    files that needs no more than 2.
    """
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(1024, min(1024 * cores, total // (4 * 1024 * 1024)))
