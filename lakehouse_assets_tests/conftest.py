"""One Spark session for all tests of a process, a home of its own for each test, and no JVM left behind."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from lakehouse_assets.core.settings import Settings, load_settings
from lakehouse_assets.lake.session import runtime_for
from lakehouse_assets.lake.tables import Lake

pytest_plugins = ["lakehouse_assets_tests.support.same_rows"]

_TROUBLES = pytest.StashKey[list[str]]()


@pytest.fixture(scope="session", autouse=True)
def _environment() -> None:
    """Tests decide what is set; a developer's own settings must not reach them."""
    for name in [name for name in os.environ if name.startswith(("LAKEHOUSE_", "DAGSTER_"))]:
        if name != "LAKEHOUSE_CACHE":
            del os.environ[name]
    os.environ["LAKEHOUSE_SPARK"] = "in-process"
    os.environ["LAKEHOUSE_DRIVER_MEMORY_MB"] = "1024"
    os.environ["LAKEHOUSE_PROFILE"] = "update"
    # First builds run on Spark, a commit a table; that both engines give the same rows has tests of its own.
    os.environ["LAKEHOUSE_ENGINE"] = "local"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest: processes that share the tests take them file by file."""
    items.sort(key=lambda item: item.get_closest_marker("begins") is None)


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings of a fresh home."""
    monkeypatch.setenv("LAKEHOUSE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    return load_settings()


@pytest.fixture
def lake(settings: Settings) -> Lake:
    return Lake(settings.lake)


@pytest.fixture
def spark(settings: Settings) -> SparkSession:
    return runtime_for(settings).session


def pytest_sessionfinish(session: pytest.Session) -> None:
    """The suite fails if Spark was gone before its end, or if a Java process outlives it."""
    troubles = [*session.config.stash.get(_TROUBLES, []), *_end_spark()]
    workers_output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
    if workers_output is not None:  # one of several processes that share the tests: nobody sees what it prints
        workers_output["troubles"] = troubles
    elif troubles:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        print("", *troubles, sep="\n")


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """One of several processes is done."""
    node.config.stash.setdefault(_TROUBLES, []).extend(getattr(node, "workeroutput", {}).get("troubles", []))


def _end_spark() -> Iterator[str]:
    from lakehouse_assets.lake import session as spark_session

    if spark_session._runtime is not None:
        try:
            spark_session._runtime.stop()
        except (OSError, Py4JError) as error:  # its tests have failed, and are told of only if this does not
            yield f"Spark was gone before the suite's end: {error}"
    survivors = [p for p in psutil.Process().children(recursive=True) if p.name() == "java"]
    if survivors:
        yield f"Java processes outlived the suite: {[p.cmdline()[:3] for p in survivors]}"
