"""The table of faults: what was done to the software, how often, what it survived, and which rows that cost.

A test asks for `fault`, names what it does, and tells at its end what a comparison with a clean build found. A fault
whose test ends before that was tried and not survived. The table is printed at the end of the run, and written to the
file that `--fault-table` names.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lakehouse_assets_tests.support.measured import tell

_TABLE = pytest.StashKey["dict[str, Tally]"]()
_OPTION = "--fault-table"
_ABOUT = (
    "Written by `make faults`: what was done, how often, how often the tables were as a clean build makes them",
    "after the repair that the message names and a rerun, and which rows were missing or too many then.",
)


@dataclass(kw_only=True)
class Tally:
    """How often a fault was tried and survived, and the rows that were lost or too many after the repair."""

    tried: int = 0
    survived: int = 0
    lost: int = 0
    doubled: int = 0


class Fault:
    """One try of a fault."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        tally.tried += 1

    def survived(self, *, lost: int = 0, doubled: int = 0) -> None:
        """After the repair; rows of a clean build that are lacking, and rows that it has not."""
        self._tally.lost += lost
        self._tally.doubled += doubled
        self._tally.survived += not (lost or doubled)
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
    table = request.config.stash.setdefault(_TABLE, {})
    return lambda name: Fault(table.setdefault(name, Tally()))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    table = config.stash.get(_TABLE, {})
    if not table:
        return
    tell(terminalreporter, "faults", _ABOUT, _lines(table), config.getoption(_OPTION, default=None))


def _lines(table: dict[str, Tally]) -> list[str]:
    rows = [
        f"| {name} | {tally.tried} | {tally.survived} | {tally.lost} | {tally.doubled} |"
        for name, tally in sorted(table.items())
    ]
    total = Tally()
    for tally in table.values():
        total.tried += tally.tried
        total.survived += tally.survived
        total.lost += tally.lost
        total.doubled += tally.doubled
    return [
        "| fault | times tried | survived | lost rows | doubled rows |",
        "|---|---|---|---|---|",
        *rows,
        f"| **all** | {total.tried} | {total.survived} | {total.lost} | {total.doubled} |",
    ]
