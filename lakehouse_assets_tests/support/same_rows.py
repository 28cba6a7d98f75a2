"""The table of places: where a repository was built, and whether its rows are those of a build in one process.

A test asks for `same_rows`, and tells of each build where it was made. A build with other rows fails the test, and is
in the table all the same. The table is printed at the end of the run, and written to the file that `--places-table`
names.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from lakehouse_assets.lake.comparison import compare
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.recipes.catalog import HEAD_TABLES
from lakehouse_assets_tests.support.measured import tell, told, told_by

_TABLE = "places"
_OPTION = "--places-table"
_ABOUT = (
    "Written by `make test-slow`: the same repositories built in different places, without a change to code or",
    "commands, and each compared row by row with a build on one machine, on its disk.",
)


class SameRows:
    def __init__(self, item: pytest.Item) -> None:
        self._item = item

    def __call__(self, place: str, built: Lake, clean: Lake, repo: str) -> int:
        """Every table of the repository is the same to the row; gives how many rows there are."""
        found = [compare(built, clean, contract, repo) for contract in HEAD_TABLES]
        rows = sum(each.rows for each in found)
        differing = sum(each.surplus + each.lacking for each in found)
        told_by(self._item, _TABLE, place=place, rows=rows, differing=differing)
        assert [each for each in found if each.is_there] == []
        return rows


@pytest.fixture
def same_rows(request: pytest.FixtureRequest) -> SameRows:
    return SameRows(request.node)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(_OPTION, type=Path, help="Write the table of places to this file.")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    builds = list(told(terminalreporter, _TABLE))
    if builds:
        tell(terminalreporter, _TABLE, _ABOUT, _lines(builds), config.getoption(_OPTION))


def _lines(builds: Sequence[dict[str, Any]]) -> list[str]:
    places = sorted({each["place"] for each in builds})
    return [
        f"| where it was built | builds | rows compared in {len(HEAD_TABLES)} tables | rows that differ |",
        "|---|---|---|---|",
        *(_line(place, [each for each in builds if each["place"] == place]) for place in places),
    ]


def _line(place: str, builds: Sequence[dict[str, Any]]) -> str:
    rows, differing = (sum(each[column] for each in builds) for column in ("rows", "differing"))
    return f"| {place} | {len(builds)} | {rows:,} | {differing} |"
