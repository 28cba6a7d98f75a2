"""When and where something was measured, as the tables that runs write say it."""

import os
import platform
from datetime import UTC, datetime

import psutil


def this_machine() -> str:
    memory = psutil.virtual_memory().total / 2**30
    return f"{os.cpu_count()} cores, {memory:.0f} GiB, Python {platform.python_version()}, {platform.system()}"


def now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
