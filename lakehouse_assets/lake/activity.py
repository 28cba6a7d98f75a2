"""Commits by month, from the lake.

Cost: some columns of all commits of all repositories, a second for each million: which month a commit is in is known
only by looking, and a month's part of them is small.
"""

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

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
from lakehouse_assets.lake.step_engine import StepEngine
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.sql_text import in_list

if TYPE_CHECKING:
    from lakehouse_assets.lake.step_engine import Rows

LINE_COMMITS = "month, repo, commit_sha, tree_sha, tree_before, committed_at"


class DatedCommits:
    """All commits as they were at one version of their table: what is asked of them fits together."""

    def __init__(self, engine: StepEngine, lake: Lake) -> None:
        self._engine = engine
        self._name, _ = engine.keep(
            DATED_COMMITS.name, DATED_COMMITS.text({COMMITS.name: engine.table(lake, COMMITS, None)})
        )

    def versions(self) -> dict[str, str]:
        """By month that has any, what its commits are."""
        rows = self._engine.ask(MONTH_VERSIONS.text({DATED_COMMITS.name: self._name}))
        return {row["month"].isoformat(): row["version"] for row in rows}

    def on_line(self, months: Sequence[str]) -> list[dict[str, Any]]:
        """The commits of these months on the first-parent lines, each with its tree and the one before it."""
        query = f"SELECT {LINE_COMMITS} FROM {self._of(months)} AS c WHERE on_line ORDER BY repo, committed_at"
        return self._engine.ask(query)

    def activity(self, months: Sequence[str]) -> "Rows":
        """Rows of `commit_activity`."""
        return self._engine.rows(COMMIT_ACTIVITY, COMMIT_ACTIVITY_ROWS.text({DATED_COMMITS.name: self._of(months)}))

    def _of(self, months: Sequence[str]) -> str:
        return f"(SELECT * FROM {self._name} AS d WHERE {_in_months(months)})"


def churn_of(engine: StepEngine, lake: Lake, months: Sequence[str]) -> "Rows":
    """Rows of `churn`."""
    files = engine.table(lake, COMMIT_FILES, None)
    source = f"(SELECT * FROM {files} AS f WHERE {_in_months(months)})"
    return engine.rows(CHURN, CHURN_ROWS.text({COMMIT_FILES.name: source}))


def _in_months(months: Sequence[str]) -> str:
    days = [date.fromisoformat(month) for month in months]
    return in_list("month", days, "duckdb") if days else "FALSE"
