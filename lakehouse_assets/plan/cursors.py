"""How far a table's changes have been read, and how the next ones can be: by the feed, by comparison, or not at all.

Invariants: ranges of versions are half-open, so that neighbours share no commit and leave none out. A cursor is
stored with what was made from it, or not at all. Where the log does not prove that the feed tells every change
since the cursor, the feed is not used, and the reading says why.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import Literal, get_args

from lakehouse_assets.core.errors import LakeStateError
from lakehouse_assets.core.hashing import json_fingerprint, json_text

ChangeType = Literal["insert", "update", "delete"]

Way = Literal["nothing", "feed", "comparison", "full"]
"""`nothing`: no commit since; `feed`: by the change feed; `comparison`: the version that was read before against the
present one; `full`: the earlier rows are not to be had, so all rows are new and what was made before is void."""

Reason = Literal[
    "first_read",
    "made_anew",
    "rewound",
    "rewritten",
    "policy_changed",
    "log_expired",
    "feed_off",
    "schema_changed",
    "overwritten",
    "restored",
    "vacuumed",
]
"""Why the feed was not used."""

WHY: Mapping[Reason, str] = MappingProxyType(
    {
        "first_read": "nothing of it was read before",
        "made_anew": "it was made anew, with another id",
        "rewound": "its log ends before what was read already",
        "rewritten": "its log has another commit where the last reading ended",
        "policy_changed": "other changes count than before",
        "log_expired": "log entries since then are gone",
        "feed_off": "its change feed was off for a time",
        "schema_changed": "its columns have changed",
        "overwritten": "it was overwritten as a whole",
        "restored": "it was set back to an earlier version",
        "vacuumed": "files since then were vacuumed",
    }
)
"""The same in words."""

_EARLIER_ROWS_UNKNOWN: frozenset[Reason] = frozenset(
    {"first_read", "made_anew", "rewound", "rewritten", "policy_changed"}
)

CHANGE_TYPES: tuple[ChangeType, ...] = get_args(ChangeType)


@dataclass(frozen=True, kw_only=True)
class FilterPolicy:
    """Which changes count. An update counts if it changes one of `columns`; None means any column."""

    name: str
    change_types: tuple[ChangeType, ...] = CHANGE_TYPES
    columns: tuple[str, ...] | None = None

    @property
    def fingerprint(self) -> str:
        """Of what it lets through; its name is for people."""
        columns = None if self.columns is None else sorted(self.columns)
        return json_fingerprint([sorted(self.change_types), columns])


ANY_CHANGE = FilterPolicy(name="any_change")


@dataclass(frozen=True, kw_only=True)
class Cursor:
    """The commits `start` to before `end` of a table, as they have been read. The next reading begins at `end`."""

    table: str
    table_id: str
    start: int
    end: int
    schema: str
    """Fingerprint of the table's columns at the end."""
    last_commit: str
    """Fingerprint of the log entry before `end`: a log that was put in the place of this one has another."""
    policy: str
    """Name and fingerprint of the policy that decided which changes counted."""

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise ValueError(f"no range of versions: from {self.start} to before {self.end}")


@dataclass(frozen=True, kw_only=True)
class Position:
    """What an asset partition has been made from: the repository's commit, and a cursor for each feed it reads."""

    commit: str
    cursors: Mapping[str, Cursor] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def text(self) -> str:
        """The same for equal positions; goes into the ledger entry's `cursor`."""
        return json_text({"commit": self.commit, "cursors": {t: asdict(c) for t, c in self.cursors.items()}})


def read_position(text: str) -> Position | None:
    """The position that `text` tells; None if it is empty: nothing was made yet, or its rows were removed."""
    if not text:
        return None
    try:
        held = json.loads(text)
        return Position(
            commit=held["commit"], cursors={name: Cursor(**cursor) for name, cursor in held["cursors"].items()}
        )
    except (ValueError, TypeError, KeyError) as error:
        raise LakeStateError(
            subject="cursor in the ledger",
            seen=f"{text[:200]!r} is not a position in change feeds: {error}",
            why="changes would be left out or taken twice",
            remedy="materialize the asset's partition from nothing: remove the repository and add it again",
        ) from error


def policy_text(policy: FilterPolicy) -> str:
    return f"{policy.name}:{policy.fingerprint}"


@dataclass(frozen=True, kw_only=True)
class CommitFacts:
    """What a log entry says that matters to the feed."""

    version: int
    operation: str = ""
    replaces_all: bool = False
    """Whether it put other rows in the place of all rows."""
    sets_columns: str | None = None
    """Fingerprint of the columns that it gives the table, if it does."""
    feed: bool | None = None
    """Whether it turns the feed on or off; None if it leaves it."""
    touches: bool = False
    """Whether it changes rows of the partitions that are asked for."""

    @property
    def changes_more(self) -> bool:
        """Whether it changes more than rows of some partitions: the columns, the feed, or the table as a whole."""
        table_is_another = self.operation == "RESTORE" or self.replaces_all
        return table_is_another or self.sets_columns is not None or self.feed is not None


@dataclass(frozen=True, kw_only=True)
class KnownVersions:
    """Which versions of a table changed some partitions: all of them from `since` up to `until`.

    No commit in between changed more than rows.
    """

    since: int
    until: int
    versions: tuple[int, ...]


def versions_to_read(start: int, version: int, known: KnownVersions | None) -> Iterator[int]:
    """The versions from `start` up to `version` whose log entries tell what changed the partitions."""
    if known is not None and known.since <= start:
        yield from (each for each in known.versions if start <= each <= version)
        start = max(start, known.until + 1)
    yield from range(start, version + 1)


def runs_of(versions: Iterable[int]) -> list[tuple[int, int]]:
    """The first and the last of each row of versions without a gap; `versions` are in order."""
    runs: list[tuple[int, int]] = []
    for each in versions:
        if runs and runs[-1][1] == each - 1:
            runs[-1] = (runs[-1][0], each)
        else:
            runs.append((each, each))
    return runs


@dataclass(frozen=True, kw_only=True)
class TableState:
    """The table as it is, and its commits since the cursor that may have changed the partitions asked for."""

    table: str
    table_id: str
    version: int
    schema: str
    feed: bool
    last_commit: str
    commit_at_cursor: str | None
    """Fingerprint of the log entry before the cursor's end; None if it is gone."""
    commits: tuple[CommitFacts, ...] = ()
    """Those that may have changed the partitions."""
    commits_gone: bool = False
    """Whether some that may have are in the log no more."""


@dataclass(frozen=True, kw_only=True)
class FeedPlan:
    """How the changes since a cursor are to be read, and the cursor that stands for them."""

    way: Way
    reason: Reason | None
    cursor: Cursor

    @property
    def told(self) -> str:
        """How it is read, and why not by the feed, for people."""
        if self.reason is None:
            return f"read by {self.way}"
        done = "its rows were compared with the earlier ones" if self.way == "comparison" else "all its rows were read"
        return f"{WHY[self.reason]}, so that its change feed does not tell what changed; {done}"

    def __str__(self) -> str:
        read = f"{self.cursor.table}: versions {self.cursor.start} to before {self.cursor.end} by {self.way}"
        return f"{read} ({self.reason})" if self.reason else read


def plan_reading(since: Cursor | None, state: TableState, policy: FilterPolicy) -> FeedPlan:
    """Decide by the log alone. Files may still turn out to be gone; then `fall_back`."""
    reason = _obstacle(since, state, policy)
    start = 0 if since is None or reason in _EARLIER_ROWS_UNKNOWN else since.end
    cursor = Cursor(
        table=state.table,
        table_id=state.table_id,
        start=start,
        end=state.version + 1,
        schema=state.schema,
        last_commit=state.last_commit,
        policy=policy_text(policy),
    )
    if reason is not None:
        return fall_back(FeedPlan(way="feed", reason=None, cursor=cursor), reason)
    touched = any(commit.touches for commit in state.commits)
    return FeedPlan(way="feed" if touched else "nothing", reason=None, cursor=cursor)


def fall_back(plan: FeedPlan, reason: Reason) -> FeedPlan:
    """The next best way: a comparison if the earlier version may still be there, else everything anew."""
    way: Way = "comparison" if plan.way == "feed" and reason not in _EARLIER_ROWS_UNKNOWN else "full"
    return FeedPlan(way=way, reason=reason, cursor=plan.cursor)


def _obstacle(since: Cursor | None, state: TableState, policy: FilterPolicy) -> Reason | None:
    if since is None:
        return "first_read"
    if since.table_id != state.table_id:
        return "made_anew"
    if since.end > state.version + 1:
        return "rewound"
    if state.commit_at_cursor not in (None, since.last_commit):
        return "rewritten"
    if since.policy.rpartition(":")[2] != policy.fingerprint:
        return "policy_changed"
    if not state.feed:
        return "feed_off"
    if state.commits_gone:
        return "log_expired"
    return _obstacle_in(since, state.commits)


def _obstacle_in(since: Cursor, commits: Iterable[CommitFacts]) -> Reason | None:
    for commit in commits:
        if commit.operation == "RESTORE":
            return "restored"
        if commit.replaces_all:
            return "overwritten"
        if commit.sets_columns not in (None, since.schema):
            return "schema_changed"
        if commit.feed is False:
            return "feed_off"
    return None
