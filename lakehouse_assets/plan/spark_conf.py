"""Which configuration a Spark driver of ours gets, from the machine and the profile."""

from collections.abc import Sequence
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
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }


def cluster_conf(settings: Settings, *, master: str, jars: Sequence[Path], python: str) -> dict[str, str]:
    """Configuration of an application on a cluster: the JARs travel to the executors.

    What is not said here (the executors' memory, their number, the driver's address) is the cluster's own, from
    the `spark-defaults.conf` of SPARK_CONF_DIR.
    """
    refuse_unreachable(settings.tables, settings.endpoint)
    return {
        **session_conf(settings),
        "spark.master": master,
        "spark.app.name": "lakehouse",
        "spark.driver.memory": f"{settings.driver_memory_mb}m",
        "spark.driver.extraJavaOptions": _java_options(settings.profile),
        "spark.jars": ",".join(str(jar) for jar in jars),
        # The workers of one build; without it, an application takes all that a standalone cluster has.
        "spark.cores.max": str(settings.cores),
        **_python_conf(python),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }


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
        # Rows that are only marked as deleted stay in their files, and DuckDB reads these whole.
        "spark.databricks.delta.merge.deletionVectors.persistent": "false",
        "spark.databricks.delta.delete.deletionVectors.persistent": "false",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        # A worker that gives nothing and takes nothing is ended; else the run would wait for it for ever.
        "spark.sql.execution.pyspark.udf.idleTimeoutSeconds": str(WORKER_IDLE_SECONDS),
        "spark.sql.execution.pyspark.udf.killOnIdleTimeout": "true",
        # Re-planning between stages pays for itself on large inputs only.
        "spark.sql.adaptive.enabled": "true" if settings.profile == "bulk" else "false",
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
            return "-XX:+UseParallelGC"
        case _:
            assert_never(profile)
