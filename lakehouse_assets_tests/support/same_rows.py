"""The table of places: where a repository was built, and whether its rows are those of a build in one process.

A test asks for `same_rows`, and tells of each build where it was made. A build with other rows fails the test, and is
in the table all the same. The table is printed at the end of the run, and written to the file that `--places-table`
names.
"""

from dataclasses import dataclass
from pathlib import Path

import pytest

from lakehouse_assets.assets.graph.derivation_list import HEAD_TABLES
from lakehouse_assets.lake.comparison import compare
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.measured import tell

_TABLE = pytest.StashKey["dict[str, Tally]"]()
_OPTION = "--places-table"
_ABOUT = (
    "Written by `make test-slow`: the same repositories built in different places, without a change to code or",
    "commands, and each compared row by row with a build on one machine, on its disk.",
)


@dataclass(kw_only=True)
class Tally:
    """What was compared of the builds in one place."""

    builds: int = 0
    rows: int = 0
    differing: int = 0


class SameRows:
    def __init__(self, table: dict[str, Tally]) -> None:
        self._table = table

    def __call__(self, place: str, built: Lake, clean: Lake, repo: str) -> int:
        """Every table of the repository is the same to the row; gives how many rows there are."""
        found = [compare(built, clean, contract, repo) for contract in HEAD_TABLES]
        rows = sum(each.rows for each in found)
        tally = self._table.setdefault(place, Tally())
        tally.builds += 1
        tally.rows += rows
        tally.differing += sum(each.surplus + each.lacking for each in found)
        assert [each for each in found if each.is_there] == []
        return rows


@pytest.fixture
def same_rows(request: pytest.FixtureRequest) -> SameRows:
    return SameRows(request.config.stash.setdefault(_TABLE, {}))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(_OPTION, type=Path, help="Write the table of places to this file.")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    table = config.stash.get(_TABLE, {})
    if not table:
        return
    lines = [
        f"| where it was built | builds | rows compared in {len(HEAD_TABLES)} tables | rows that differ |",
        "|---|---|---|---|",
        *(f"| {place} | {each.builds} | {each.rows:,} | {each.differing} |" for place, each in table.items()),
    ]
    tell(terminalreporter, "places", _ABOUT, lines, config.getoption(_OPTION))
