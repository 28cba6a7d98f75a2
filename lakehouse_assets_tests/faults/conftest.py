"""The table of faults: what was done to the software, how often, what it survived, and which rows that cost.

A test asks for `fault`, names what it does, and tells at its end what a comparison with a clean build found. A fault
whose test ends before that was tried and not survived. The table is printed at the end of the run, and written to the
file that `--fault-table` names.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from lakehouse_assets_tests.support.measured import tell, told, told_by

_TABLE = "faults"
_OPTION = "--fault-table"
_ABOUT = (
    "Written by `make faults`: what was done, how often, how often the tables were as a clean build makes them",
    "after the repair that the message names and a rerun, and which rows were missing or too many then.",
)


class Fault:
    """One try of a fault."""

    def __init__(self, item: pytest.Item, name: str) -> None:
        self._told = told_by(item, _TABLE, fault=name, survived=False, lost=0, doubled=0)

    def survived(self, *, lost: int = 0, doubled: int = 0) -> None:
        """After the repair; rows of a clean build that are lacking, and rows that it has not."""
        self._told.update(survived=not (lost or doubled), lost=lost, doubled=doubled)
        assert (lost, doubled) == (0, 0)

    def compared(self, held: Sequence[dict[str, Any]], clean: Sequence[dict[str, Any]]) -> None:
        """After the repair; by the rows themselves."""
        ours, theirs = (Counter(str(sorted(row.items())) for row in rows) for rows in (held, clean))
        self.survived(lost=(theirs - ours).total(), doubled=(ours - theirs).total())


FaultNamed = Callable[[str], Fault]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(_OPTION, type=Path, help="Write the table of faults to this file.")


@pytest.fixture
def fault(request: pytest.FixtureRequest) -> FaultNamed:
    """Name a fault before it is done."""
    return lambda name: Fault(request.node, name)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    tries = list(told(terminalreporter, _TABLE))
    if tries:
        tell(terminalreporter, _TABLE, _ABOUT, _lines(tries), config.getoption(_OPTION, default=None))


def _lines(tries: Sequence[dict[str, Any]]) -> list[str]:
    names = sorted({each["fault"] for each in tries})
    return [
        "| fault | times tried | survived | lost rows | doubled rows |",
        "|---|---|---|---|---|",
        *(_line(name, [each for each in tries if each["fault"] == name]) for name in names),
        _line("**all**", tries),
    ]


def _line(name: str, tries: Sequence[dict[str, Any]]) -> str:
    survived, lost, doubled = (sum(each[column] for each in tries) for column in ("survived", "lost", "doubled"))
    return f"| {name} | {len(tries)} | {survived} | {lost} | {doubled} |"
