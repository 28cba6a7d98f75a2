"""What somebody still needs of a table's past: nothing that is held is ever removed.

A hold is of the rows of one version, of the change feed from a version on, or of single files; of one repository's
partition where that is all that its holder reads. Whoever keeps something says so by a hold, and whoever is told what
a table cannot let go of reads its words.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, kw_only=True)
class Hold:
    """One need of one holder."""

    table: str
    by: str
    """Who holds, in words for people; what is held is counted by it."""
    why: str
    partition: str | None = None
    """Value of the first partition column, most often a repository; None for all partitions."""
    version: int | None = None
    """The rows of this version are to stay readable."""
    feed_from: int | None = None
    """The change feed is to stay readable from this version on."""
    files: tuple[str, ...] = ()
    """Single files, as the log names them."""

    @property
    def oldest(self) -> int | None:
        """The first version whose log entries are needed."""
        return min((each for each in (self.version, self.feed_from) if each is not None), default=None)

    def is_of(self, partition: str | None) -> bool:
        return self.partition is None or self.partition == partition


@dataclass(frozen=True, kw_only=True)
class Retention:
    """Which published commits of each repository stay readable without a pin: the last so many, and the young."""

    commits: int
    days: int

    def __str__(self) -> str:
        young = f" and those of the last {self.days} days" if self.days else ""
        return f"the last {self.commits} published commits{young}"


def retained(published_at: Mapping[str, datetime], retention: Retention, now: datetime) -> set[str]:
    """The commits of one repository that stay readable, by when each was published last."""
    newest = sorted(published_at, key=lambda commit: (published_at[commit], commit), reverse=True)
    since = now - timedelta(days=retention.days)
    return {*newest[: retention.commits], *(commit for commit in newest if published_at[commit] > since)}


def holds_of(table: str, holds: Iterable[Hold]) -> list[Hold]:
    return [each for each in holds if each.table == table]


def oldest_need(holds: Sequence[Hold]) -> tuple[int, str] | None:
    """The first version that any hold needs the log of, and who it is; None if the past is free."""
    needs = [(each.oldest, each.by) for each in holds if each.oldest is not None]
    return min(needs, default=None)
