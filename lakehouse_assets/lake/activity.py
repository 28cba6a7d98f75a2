"""Commits by month, from the lake.

Cost: some columns of all commits of all repositories, a second for each million: which month a commit is in is known
only by looking, and a month's part of them is small.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date

import pyarrow as pa

from lakehouse_assets.change.activity_steps import (
    CHURN_ROWS,
    COMMIT_ACTIVITY_ROWS,
    DATED_COMMITS,
    MONTH_VERSIONS,
)
from lakehouse_assets.contracts.churn import CHURN
from lakehouse_assets.contracts.commit_activity import COMMIT_ACTIVITY
from lakehouse_assets.contracts.commit_files import COMMIT_FILES
from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.local_engine import LocalEngine, local_engine
from lakehouse_assets.lake.scan import relation
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.scope import equal_scopes
from lakehouse_assets.plan.sql_text import in_list

LINE_COMMITS = "month, repo, commit_sha, tree_sha, tree_before, committed_at"


class DatedCommits:
    """All commits as they were at one version of their table: what is asked of them fits together."""

    def __init__(self, engine: LocalEngine, lake: Lake) -> None:
        self._engine = engine
        self._name, _ = engine.keep(DATED_COMMITS.name, DATED_COMMITS.text({COMMITS.name: relation(lake, COMMITS)}))

    def versions(self) -> dict[str, str]:
        """By month that has any, what its commits are."""
        rows = self._engine.ask(MONTH_VERSIONS.text({DATED_COMMITS.name: self._name}))
        return {row["month"].isoformat(): row["version"] for row in rows}

    def on_line(self, months: Sequence[str]) -> pa.Table:
        """The commits of these months on the first-parent lines, each with its tree and the one before it."""
        return self._engine.ask_arrow(f"SELECT {LINE_COMMITS} FROM {self._of(months)} WHERE on_line")

    def activity(self, months: Sequence[str]) -> pa.Table:
        """Rows of `commit_activity`."""
        found = self._engine.ask_arrow(COMMIT_ACTIVITY_ROWS.text({DATED_COMMITS.name: self._of(months)}))
        return _as_rows(COMMIT_ACTIVITY, found)

    def _of(self, months: Sequence[str]) -> str:
        return f"(FROM {self._name} WHERE {in_list('month', _days(months), 'duckdb') if months else 'FALSE'})"


@contextmanager
def dated_commits(lake: Lake) -> Iterator[DatedCommits]:
    with local_engine() as engine:
        yield DatedCommits(engine, lake)


def churn_of(lake: Lake, months: Sequence[str]) -> pa.Table:
    """Rows of `churn`; only the files of these months are opened."""
    source = relation(lake, COMMIT_FILES, scopes=equal_scopes("month", _days(months)))
    with local_engine() as engine:
        return _as_rows(CHURN, engine.ask_arrow(CHURN_ROWS.text({COMMIT_FILES.name: source})))


def _days(months: Sequence[str]) -> list[date]:
    return [date.fromisoformat(month) for month in months]


def _as_rows(contract: TableContract, found: pa.Table) -> pa.Table:
    schema = arrow_schema(contract.columns)
    return found.select(schema.names).cast(schema)
