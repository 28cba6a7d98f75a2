"""Settings of Spark that a user gives to the resource `spark`, laid over ours.

What is given wins, but for what rows and tables rely on: that is refused by name. Settings that hold a list get ours
and the given ones. Credentials are refused: Spark shows its settings in logs and pages.
"""

import re
from collections.abc import Mapping
from typing import Any

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.text import nearest

_OURS: Mapping[str, str] = {
    "spark.master": "set LAKEHOUSE_SPARK",
    "spark.remote": "set LAKEHOUSE_SPARK",
    "spark.driver.memory": "set LAKEHOUSE_DRIVER_MEMORY_MB",
    "spark.pyspark.python": "set LAKEHOUSE_WORKER_PYTHON",
    "spark.pyspark.driver.python": "leave it out: it is this process's own",
    "spark.sql.catalog.spark_catalog": "leave it out: it is Delta's",
    "spark.sql.catalogImplementation": "leave it out: tables are found by their folders",
    "spark.sql.session.timeZone": "leave it out: it is UTC, and convert what is shown",
    "spark.sql.parquet.outputTimestampType": "leave it out: delta-rs reads moments of this type only",
}
"""Settings that tables rely on, or that another setting of the project decides, with what to do instead."""
_JOINED: Mapping[str, str] = {
    "spark.sql.extensions": ",",
    "spark.jars": ",",
    "spark.driver.extraClassPath": ":",
    "spark.driver.extraJavaOptions": " ",
}
_SECRET = re.compile(
    r"(?i)password|secret|token(?!\.(file|provider|server|url))|(account|access|private)\.?key|sas\.fixed"
)
_FROM_ENVIRONMENT = re.compile(r"\$\{env\.\w+\}")
_SUBJECT = "spark_config"


def given_conf(flat: Mapping[str, Any]) -> dict[str, str]:
    """The settings as Spark takes them: texts by names; refused if one cannot hold."""
    return {name: _text(name, value) for name, value in flat.items()}


def laid_over(ours: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """Ours with what is given."""
    joined = {
        name: f"{ours[name]}{sign}{given[name]}" for name, sign in _JOINED.items() if name in ours and name in given
    }
    return {**ours, **given, **joined}


def _text(name: str, value: Any) -> str:
    if not name.startswith("spark."):
        remedy = nearest(f"spark.{name}", _OURS) or f"write spark.{name}, or leave it out"
        raise _refused(name, "names of Spark's settings begin with spark.", "Spark would not take it", remedy)
    if name in _OURS:
        raise _refused(name, "it is given", "tables, or other settings of the project, rely on its value", _OURS[name])
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str | int | float):
        raise _refused(name, f"it is {type(value).__name__}", "a setting of Spark is a text", "give a text or a number")
    if _SECRET.search(name) and not _FROM_ENVIRONMENT.fullmatch(str(value)):
        raise _refused(
            name,
            "it looks like a credential",
            "Spark shows its settings in logs and pages",
            "leave it to the environment, or give ${env.NAME} where Hadoop reads it",
        )
    return str(value)


def _refused(name: str, seen: str, why: str, remedy: str) -> BadInputError:
    return BadInputError(subject=f"{_SUBJECT}: {name}", seen=seen, why=why, remedy=remedy)


def not_on_running(name: str, where: str) -> BadInputError:
    """A setting that a session which others started, or that is up, does not take any more."""
    return _refused(
        name,
        f"{where} does not take it any more",
        "a setting that is read when Spark starts would silently not hold",
        "give it to the server or cluster when it is started (spark-defaults.conf), or run with "
        "LAKEHOUSE_SPARK=in-process in a process of its own",
    )
