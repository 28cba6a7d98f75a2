"""Tables of what the tests of a run found, with when and where it was.

A test tells a figure by `told_by`; the table is made of all of them at the run's end. They go with the reports of the
tests, so that it is the same whether one process ran them all or several shared them.
"""

import os
import platform
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

import psutil
import pytest


def this_machine() -> str:
    memory = psutil.virtual_memory().total / 2**30
    return f"{os.cpu_count()} cores, {memory:.0f} GiB, Python {platform.python_version()}, {platform.system()}"


def now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"


def told_by(item: pytest.Item, name: str, **figures: Any) -> dict[str, Any]:
    """What a test found, of the table of that name; it may be changed until the test's end."""
    item.user_properties.append((name, figures))
    return figures


def told(reporter: pytest.TerminalReporter, name: str) -> Iterator[dict[str, Any]]:
    """What all tests of the run found, of the table of that name."""
    for report in chain.from_iterable(reporter.stats.values()):
        if getattr(report, "when", None) == "teardown":
            yield from (figures for key, figures in report.user_properties if key == name)


def tell(
    reporter: pytest.TerminalReporter, name: str, about: Sequence[str], lines: Sequence[str], target: Path | None
) -> None:
    """Print a table at the end of a run; write it to a page as well, with what it is about, if one is given."""
    reporter.section(name)
    reporter.write_line("\n".join(lines))
    if target is not None:
        page = [f"# {name.capitalize()}", "", *about, "", f"{now()}; {this_machine()}.", "", *lines, ""]
        target.write_text("\n".join(page))
