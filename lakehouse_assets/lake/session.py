"""One Spark session per process: in process, attached to the resident server, or on a cluster.

Invariant: a process has at most one session, whoever asks for it, and none until somebody does;
`stop` leaves no JVM of ours behind. A JVM that we launched also ends when this process is killed,
because it watches the pipe that we hold.
"""

import atexit
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, assert_never

from lakehouse_assets.core.diagnostics import phase, report
from lakehouse_assets.core.errors import EnvironmentNotReadyError, LakeStateError
from lakehouse_assets.core.java import find_java
from lakehouse_assets.core.settings import InProcess, Remote, Resident, Settings
from lakehouse_assets.lake.code_archive import code_archive
from lakehouse_assets.lake.jars import lake_jars
from lakehouse_assets.lake.server import resident_url
from lakehouse_assets.plan.given_conf import laid_over, not_on_running
from lakehouse_assets.plan.spark_conf import cluster_conf, driver_conf, session_conf
from lakehouse_assets.plan.store_conf import store_reach

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

LOG_CONF = Path(__file__).with_name("log4j2.properties")
_JVM_EXIT_SECONDS = 30
_PER_SESSION = (
    "spark.sql.session.timeZone",
    "spark.sql.shuffle.partitions",
    "spark.sql.parquet.outputTimestampType",
    "spark.databricks.delta.merge.deletionVectors.persistent",
    "spark.databricks.delta.delete.deletionVectors.persistent",
    "spark.sql.execution.pyspark.udf.idleTimeoutSeconds",
    "spark.sql.execution.pyspark.udf.killOnIdleTimeout",
)
"""Set anew on a server that somebody else may have configured; the rest is the server's own."""
_LOG_TAIL_LINES = 15


@dataclass(frozen=True, kw_only=True)
class SparkUse:
    """What Spark has done so far, by its own count; None for what a server does not tell its clients."""

    version: str
    executors: int | None = None
    cores: int | None = None
    tasks: int | None = None
    web: str = ""
    """Where its web UI is, while it runs."""

    def since(self, before: "SparkUse | None") -> "SparkUse":
        """The same with the tasks since then."""
        if before is None or before.tasks is None or self.tasks is None:
            return self
        return replace(self, tasks=self.tasks - before.tasks)

    def __str__(self) -> str:
        if self.tasks is None:
            return f"Spark {self.version}, on a server"
        held = f"{self.executors} executor{'s' if self.executors != 1 else ''} with {self.cores} cores"
        return f"Spark {self.version}, {held}, {self.tasks:,} tasks"


class SparkRuntime:
    """The process's session and how it was come by."""

    def __init__(self, settings: Settings, given: Mapping[str, str] | None = None) -> None:
        self.settings = settings
        self._given = dict(given or {})
        self._session: SparkSession | None = None
        self._owns_jvm = False

    @property
    def session(self) -> "SparkSession":
        if self._session is None:
            with phase("spark", self.settings.spark.mode, "session start"):
                self._session = self._open()
                _hush_values()
            if (use := self.use) is not None and use.web:
                report("spark", use.web, "web UI")
            atexit.register(self.stop)
        return self._session

    def take(self, given: Mapping[str, str]) -> None:
        """Take settings of a user's: at the start, or on the running session if it still takes them."""
        if self._session is not None and given != self._given:
            _set_on(self._session, given, "this process's Spark session, which runs,")
            ours = session_conf(self.settings)
            for name in self._given.keys() - given.keys():
                if name in ours and self._session.conf.isModifiable(name):
                    self._session.conf.set(name, ours[name])
        self._given = dict(given)

    @property
    def use(self) -> SparkUse | None:
        """What the session has done so far; None if there is none."""
        session = self._session
        if session is None:
            return None
        if not self._owns_jvm:
            return SparkUse(version=session.version)
        context: Any = session.sparkContext
        listed = context._jsc.sc().statusStore().executorList(False)
        found = [listed.apply(number) for number in range(listed.size())]
        # A driver that is no executor has done no task; on one machine it is the only one.
        workers = [each for each in found if each.id() != "driver"] or found
        return SparkUse(
            version=session.version,
            executors=len(workers),
            cores=sum(each.totalCores() for each in workers),
            tasks=sum(each.totalTasks() for each in found),
            web=context.uiWebUrl or "",
        )

    @property
    def started(self) -> bool:
        return self._session is not None

    def stop(self) -> None:
        """End the session, and the JVM if it is ours."""
        session, self._session = self._session, None
        if session is None:
            return
        atexit.unregister(self.stop)
        session.stop()
        if self._owns_jvm:
            _end_jvm()

    def _open(self) -> "SparkSession":
        target = self.settings.spark
        match target:
            case InProcess():
                return self._in_process()
            case Resident():
                url = resident_url(self.settings)
                if url is not None:
                    return self._attach(url)
                if target.required:
                    raise EnvironmentNotReadyError(
                        subject="resident Spark server",
                        seen="LAKEHOUSE_SPARK asks for it and it is not running, or not for this LAKEHOUSE_LAKE",
                        why="the run would wait for nothing",
                        remedy="run `lakehouse server start` (after `stop`, if it is up), or unset LAKEHOUSE_SPARK "
                        "to run in process",
                    )
                return self._in_process()
            case Remote():
                return self._connect(target.url) if target.is_connect else self._on_cluster(target.url)
            case _:
                assert_never(target)

    def _in_process(self) -> "SparkSession":
        conf = driver_conf(self.settings, jars=lake_jars(self.settings), python=sys.executable, log_conf=LOG_CONF)
        return self._launch(laid_over(conf, self._given), launch_environment() | LOCAL_ONLY)

    def _on_cluster(self, master: str) -> "SparkSession":
        python = self.settings.worker_python or sys.executable
        own = cluster_defaults()
        conf = cluster_conf(self.settings, master=master, jars=lake_jars(self.settings), python=python, own=own)
        self.settings.events.mkdir(parents=True, exist_ok=True)
        session = self._launch(laid_over(conf, self._given), launch_environment(python))
        session.sparkContext.addPyFile(str(code_archive(self.settings.archives)))
        return session

    def _launch(self, conf: dict[str, str], environ: dict[str, str]) -> "SparkSession":
        from pyspark.sql import SparkSession

        if SparkSession.getActiveSession() is not None:
            raise LakeStateError(
                subject="Spark session",
                seen="this process has one that was not opened here",
                why="its settings (Delta, time zone, parallelism) are not ours, and would silently apply",
                remedy="stop it before using the lake, or run the lake in a process of its own",
            )
        self._owns_jvm = True
        context = _launch_context(conf, environ, self.settings.home / "logs" / "spark.log")
        return SparkSession(context)

    def _connect(self, url: str) -> "SparkSession":
        """Attach to a server that may be anywhere: its workers get our code. The resident one's have it."""
        session = self._attach(url)
        session.addArtifacts(str(code_archive(self.settings.archives)), pyfile=True)
        return session

    def _attach(self, url: str) -> "SparkSession":
        from pyspark.sql import SparkSession

        report("spark", url, "attached")
        session = SparkSession.builder.remote(url).getOrCreate()
        for key in _PER_SESSION:
            session.conf.set(key, session_conf(self.settings)[key])
        _set_on(session, self._given, f"the Spark server {url}")
        return session


def _set_on(session: "SparkSession", given: Mapping[str, str], where: str) -> None:
    """Set what a session takes while it runs; refused before anything is set if it does not take all."""
    wanted = {name: value for name, value in given.items() if session.conf.get(name, None) != value}
    for name in wanted:
        if not session.conf.isModifiable(name):
            raise not_on_running(name, where)
    for name, value in wanted.items():
        session.conf.set(name, value)


def cluster_defaults() -> dict[str, str]:
    """What the `spark-defaults.conf` of SPARK_CONF_DIR says: a name and a value a line, with `=` or blanks between."""
    place = Path(os.environ.get("SPARK_CONF_DIR") or Path(os.environ.get("SPARK_HOME", "")) / "conf")
    file = place / "spark-defaults.conf"
    found: dict[str, str] = {}
    for line in file.read_text().split("\n") if file.is_file() else ():
        name, _, value = line.strip().replace("=", " ", 1).partition(" ")
        if name and not name.startswith("#"):
            found[name] = value.strip()
    return found


LOCAL_ONLY = {"SPARK_LOCAL_IP": "127.0.0.1"}
"""For a driver whose workers are on this machine: Spark looks up the machine's own name, which need not resolve."""


def launch_environment(python: str = sys.executable) -> dict[str, str]:
    """What a JVM of ours needs to know before it has a configuration."""
    return {
        "JAVA_HOME": str(find_java().home),
        # PySpark's driver takes the workers' interpreter from here, whatever the configuration says.
        "PYSPARK_PYTHON": python,
    }


def _launch_context(conf: dict[str, str], environ: dict[str, str], log: Path) -> "SparkContext":
    """A Spark context in a JVM of its own, whose chatter goes to `log` instead of people's terminals."""
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkRuntimeError
    from pyspark.java_gateway import launch_gateway

    os.environ |= environ
    spark_conf = SparkConf().setAll(list(conf.items()))
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        try:
            gateway = launch_gateway(spark_conf, {"stdout": output, "stderr": output})
        except PySparkRuntimeError as error:
            tail = log.read_text(errors="replace").splitlines()[-_LOG_TAIL_LINES:]
            raise EnvironmentNotReadyError(
                subject="Spark",
                seen="its JVM did not start; its last lines were:\n  " + "\n  ".join(tail) + "\n",
                why="nothing can be built without it",
                remedy=f"mend what {log} names (too little memory is common), then run it again",
            ) from error
    return SparkContext(conf=spark_conf, gateway=gateway)


def _hush_values() -> None:
    """Keep PySpark from writing each query's error with its values to standard error: it is told where it is raised."""
    from pyspark.logger import PySparkLogger

    PySparkLogger.getLogger("SQLQueryContextLogger").disabled = True


def _end_jvm() -> None:
    """Close the gateway's pipe and wait for the JVM; PySpark itself leaves it running until Python ends."""
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    if gateway is None:
        return
    SparkContext._gateway = None
    SparkContext._jvm = None
    gateway.shutdown()
    process = getattr(gateway, "proc", None)
    if process is None:
        return
    if process.stdin is not None:
        process.stdin.close()
    process.wait(timeout=_JVM_EXIT_SECONDS)


_ANY = {
    "home",
    "tables",
    "endpoint",
    "engine",
    "models",
    "ingest",
    "project",
    "environment",
    "environments",
    "variables",
}
"""Settings that a session does not depend on."""

_runtime: SparkRuntime | None = None
_given: dict[str, str] = {}
"""What a user gave to the resource `spark` of the run that is under way."""


def _needs_another(running: Settings, wanted: Settings) -> bool:
    """Whether a session with other settings is needed. One that reads an object store reads folders as well."""
    if wanted.is_on_object_store and store_reach(wanted) != store_reach(running):
        return True
    return running.model_dump(exclude=_ANY) != wanted.model_dump(exclude=_ANY)


def spark_use() -> SparkUse | None:
    """What this process's session has done so far; None if it has none."""
    return _runtime.use if _runtime is not None else None


def give_conf(given: Mapping[str, str]) -> None:
    """Let the process's session have settings of a user's, whoever starts it; in place of those given before."""
    global _given
    _given = dict(given)


def runtime_for(settings: Settings) -> SparkRuntime:
    """The process's one runtime. While it runs, settings that need another Spark are refused."""
    global _runtime
    if _runtime is None or not _runtime.started:
        _runtime = SparkRuntime(settings)
    elif _needs_another(_runtime.settings, settings):
        raise LakeStateError(
            subject="Spark session",
            seen="this process has one that was started with other settings",
            why="a process has one session, and it would not behave as the new settings say",
            remedy="stop it first, or use a process of its own",
        )
    _runtime.take(_given)
    return _runtime
