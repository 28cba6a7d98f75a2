"""Dagster's instance for the command: the same one that `dagster dev` in the project's root shows."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lakehouse_assets.core.settings import PROJECT_ROOT, Settings

if TYPE_CHECKING:
    from dagster import DagsterInstance


def dagster_environment(settings: Settings) -> dict[str, str]:
    """What Dagster's processes need to find the instance's configuration and its storage."""
    has_config = (PROJECT_ROOT / "dagster.yaml").exists()
    default = PROJECT_ROOT if has_config else settings.home
    return {
        "DAGSTER_HOME": os.environ.get("DAGSTER_HOME") or str(default),
        "LAKEHOUSE_HOME": str(settings.home),
        "DAGSTER_DISABLE_TELEMETRY": "yes",
    }


@contextmanager
def open_instance(settings: Settings) -> "Iterator[DagsterInstance]":
    from dagster import DagsterInstance

    settings.home.mkdir(parents=True, exist_ok=True)
    os.environ.update(dagster_environment(settings))
    with DagsterInstance.get() as instance:
        yield instance
