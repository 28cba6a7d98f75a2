"""The pinned commits: the table `pins`, changed under the lock that a vacuum holds.

Invariant: a commit is pinned only while it can be read, and nothing that it needs goes between the check and the pin.
"""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.contracts.pins import PINS
from lakehouse_assets.core.errors import LakeStateError
from lakehouse_assets.lake.concurrency import alone
from lakehouse_assets.lake.published import PublishedCommit, is_readable
from lakehouse_assets.lake.small_writes import write_rows
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.scope import equal_scopes


@dataclass(frozen=True, kw_only=True)
class Pin:
    repo: str
    commit_sha: str
    why: str
    pinned_at: datetime


@contextmanager
def unvacuumed(lake: Lake) -> Generator[None, None, None]:
    """Keep vacuums out: what can be read at the beginning of the scope can be read at its end."""
    with alone(lake.locks, "vacuum"):
        yield


def pins(lake: Lake) -> list[Pin]:
    """All pins, in the order of repositories and time."""
    return sorted((Pin(**row) for row in lake.rows(PINS)), key=lambda pin: (pin.repo, pin.pinned_at))


def pin(lake: Lake, commit: PublishedCommit, why: str) -> bool:
    """Keep the commit; False if it was kept already. Refused if it can no longer be read."""
    with unvacuumed(lake):
        if any((each.repo, each.commit_sha) == (commit.repo, commit.commit_sha) for each in pins(lake)):
            return False
        gone = unreadable_tables(lake, commit)
        if gone:
            raise LakeStateError(
                subject=f"graph of {commit.repo} at {commit.commit_sha[:12]}",
                seen=f"the versions of {', '.join(gone)} that tell of it can no longer be read",
                why="there is nothing left to keep",
                remedy=f"`lakehouse sync {commit.repo} --to {commit.commit_sha[:12]}` makes them again; then pin it",
            )
        row = {"repo": commit.repo, "commit_sha": commit.commit_sha, "why": why, "pinned_at": datetime.now(UTC)}
        write_rows(lake, PINS, [row])
    return True


def unpin(lake: Lake, commit: PublishedCommit) -> bool:
    """Let the commit go; False if it was not pinned."""
    with unvacuumed(lake):
        own = [{"repo": commit.repo, "commit_sha": commit.commit_sha}]
        return lake.exists(PINS) and write_rows(lake, PINS, own, strategy="delete_matching").rows_deleted > 0


def unreadable_tables(lake: Lake, commit: PublishedCommit) -> list[str]:
    """The tables whose version of the commit is gone."""
    own = equal_scopes("repo", [commit.repo])
    known = {name: CATALOG[name] for name in commit.versions if name in CATALOG}
    return [name for name, contract in known.items() if not is_readable(lake, contract, commit.versions[name], own)]
