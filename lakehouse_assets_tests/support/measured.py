"""Tables of what a run found, with when and where it was."""

import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import psutil
import pytest


def this_machine() -> str:
    memory = psutil.virtual_memory().total / 2**30
    return f"{os.cpu_count()} cores, {memory:.0f} GiB, Python {platform.python_version()}, {platform.system()}"


def now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"


def tell(
    reporter: pytest.TerminalReporter, name: str, about: Sequence[str], lines: Sequence[str], target: Path | None
) -> None:
    """Print a table at the end of a run; write it to a page as well, with what it is about, if one is given."""
    reporter.section(name)
    reporter.write_line("\n".join(lines))
    if target is not None:
        page = [f"# {name.capitalize()}", "", *about, "", f"{now()}; {this_machine()}.", "", *lines, ""]
        target.write_text("\n".join(page))
