"""Which configuration a Spark driver of ours gets, from where it runs.

Three profiles. `update`: runs of seconds, so the first compiler only, one collector thread, plans as they were made, no
web UI. `bulk`: builds on this machine, so both compilers, G1, plans adapted between stages, the web UI. On a cluster
the same, with an event log, and what its own `spark-defaults.conf` says stands.
"""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import assert_never

from lakehouse_assets.core.settings import Profile, Settings
from lakehouse_assets.plan.store_conf import refuse_unreachable, store_conf

WORKER_IDLE_SECONDS = 900
"""Far beyond the seconds that the parsing of one file may take."""


def driver_conf(settings: Settings, *, jars: Sequence[Path], python: str, log_conf: Path) -> dict[str, str]:
    """Configuration of a driver on this machine, in process or resident."""
    refuse_unreachable(settings.tables, settings.endpoint)
    return {
        **session_conf(settings),
        "spark.master": f"local[{settings.cores}]",
        "spark.app.name": "lakehouse",
        "spark.driver.memory": f"{settings.driver_memory_mb}m",
        # On the class path, not in spark.jars: nothing is copied and re-served at each start.
        "spark.driver.extraClassPath": ":".join(str(jar) for jar in jars),
        "spark.driver.extraJavaOptions": f"{_java_options(settings.profile)} -Dlog4j2.configurationFile={log_conf}",
        # A laptop's own host name often does not resolve; nothing but this machine talks to the driver.
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        # Driver and executor are one process. Were it to believe, after a laptop's sleep of two minutes, that the
        # executor is lost, it would never take it back, and end itself when sixty heartbeats have failed: in minutes.
        "spark.storage.blockManagerHeartbeatTimeoutMs": "3650d",
        **_python_conf(python),
        "spark.sql.warehouse.dir": str(settings.home / "warehouse"),
        "spark.sql.adaptive.enabled": "true" if settings.profile == "bulk" else "false",
        "spark.ui.enabled": "true" if settings.profile == "bulk" else "false",
        "spark.ui.showConsoleProgress": "false",
    }


def cluster_conf(
    settings: Settings, *, master: str, jars: Sequence[Path], python: str, own: Collection[str] = ()
) -> dict[str, str]:
    """Configuration of an application on a cluster: the JARs travel to the executors.

    `own` names what the cluster's `spark-defaults.conf` says itself; only what nothing would work without is said
    here all the same. What is not said at all (the executors' memory, their number, whether it changes, the driver's
    address) is the cluster's own.
    """
    refuse_unreachable(settings.tables, settings.endpoint)
    wished = {
        "spark.driver.memory": f"{settings.driver_memory_mb}m",
        "spark.driver.extraJavaOptions": _java_options("bulk"),
        # The workers of one build; without it, an application takes all that a standalone cluster has.
        "spark.cores.max": str(settings.cores),
        "spark.sql.adaptive.enabled": "true",
        "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
        "spark.ui.enabled": "true",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": settings.events.as_uri(),
    }
    if "spark.dynamicAllocation.enabled" in own:
        del wished["spark.cores.max"]
    return {
        **{name: value for name, value in session_conf(settings).items() if name not in own or name not in _SIZES},
        **{name: value for name, value in wished.items() if name not in own},
        "spark.master": master,
        "spark.app.name": "lakehouse",
        "spark.jars": ",".join(str(jar) for jar in jars),
        **_python_conf(python),
        "spark.ui.showConsoleProgress": "false",
    }


_SIZES = ("spark.default.parallelism", "spark.sql.shuffle.partitions", "spark.databricks.delta.snapshotPartitions")
"""What a cluster may say better; all else of a session makes rows what they are."""


def session_conf(settings: Settings) -> dict[str, str]:
    """What holds wherever the driver is: Delta, UTC, and parallelism that fits the machine."""
    cores = str(settings.cores)
    return {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.session.timeZone": "UTC",
        # INT96 by default, which delta-rs reads as nanoseconds: moments before 1677 and after 2262 come out as others.
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
        "spark.default.parallelism": cores,
        "spark.sql.shuffle.partitions": cores,
        # 50 by default: with few cores, a small MERGE would spend its time reading the log in 50 tasks.
        "spark.databricks.delta.snapshotPartitions": cores,
        # Readers of data files by name would see deleted rows, also where somebody has turned these on for a table.
        "spark.databricks.delta.merge.deletionVectors.persistent": "false",
        "spark.databricks.delta.delete.deletionVectors.persistent": "false",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        # A worker that gives nothing and takes nothing is ended; else the run would wait for it for ever.
        "spark.sql.execution.pyspark.udf.idleTimeoutSeconds": str(WORKER_IDLE_SECONDS),
        "spark.sql.execution.pyspark.udf.killOnIdleTimeout": "true",
        **store_conf(settings.tables, settings.endpoint),
    }


def _python_conf(python: str) -> dict[str, str]:
    """Without these, workers take the system's python3, which has none of our libraries."""
    return {"spark.pyspark.python": python, "spark.pyspark.driver.python": python}


def _java_options(profile: Profile) -> str:
    match profile:
        case "update":
            # The first compiler only: short runs end before the second has earned what it costs.
            return "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
        case "bulk":
            return "-XX:+UseG1GC"
        case _:
            assert_never(profile)
