"""The history of a head as rows of `commits`.

Commits are parsed here from their bytes, since history has commits that today's tools would not
write: two parents of the same id, dates beyond the year 9999, encodings that never existed. Only what cannot be read as
a commit at all stops the run. Replacement references (`git replace`) are not followed: rows are
about the commits as they were made.

Cost: one object read per commit. The first-parent line is read first and kept (as Arrow) until its
root is found, because positions count from there; all else streams. Of a later head only the new
commits are read, where the stored ones stay as they are.
"""

import functools
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.sources.batches import Columns
from lakehouse_assets.sources.decoding import decode_field
from lakehouse_assets.sources.head import Head
from lakehouse_assets.sources.objects import Objects, shallow_boundary, unreadable
from lakehouse_assets.sources.trees import NotComparable

ROWS_PER_BATCH = 10_000

Stored = Callable[[Collection[str]], Mapping[str, int | None]]
"""Which of some commits are stored already, with their positions on the first-parent line."""

_LOOKED_UP = 64
_MOST_LOOKED_UP = 4096
"""How many commits are read before the first look-up, and at most before any other."""

_SCHEMA = arrow_schema(COMMITS.columns)
_POSITION = COMMITS.column_names.index("first_parent_position")
_YEAR_10000 = 253_402_300_800
_LONGEST_FIELD = 10_000
"""Characters kept of a subject, a name and an address; what is behind them is cut off, which an ellipsis tells."""
_CUT_OFF = "…"
_LONGEST_MESSAGE = 8 * _LONGEST_FIELD
"""Bytes looked at: more than those characters take in any encoding."""
_SPACE = b" \t\n\r"
"""What git counts as white space."""


class Commit(NamedTuple):
    """The parts of a commit, of the message the beginning; short-lived, so a tuple."""

    tree: str
    parents: list[str]
    author: bytes
    committer: bytes
    encoding: bytes | None
    message: bytes


def read_commits(git_dir: Path, repository: str, head: Head) -> Iterator[pa.RecordBatch]:
    """Every commit reachable from the head, as git itself counts them (a shallow clone ends at its boundary)."""
    columns = Columns(_SCHEMA)
    if head.is_directory:
        columns.append(repository, head.commit_sha, head.tree_sha, [], 0, "", "", None, "", "", None, "")
        yield from columns.drain()
        return
    history = _History(Objects(git_dir, repository))
    line: list[pa.RecordBatch] = []
    sha, aside = head.commit_sha, []
    while sha:
        parents = history.append(sha, columns)
        sha, more = (parents[0], parents[1:]) if parents else ("", [])
        aside.extend(more)
        if len(columns) >= ROWS_PER_BATCH:
            line.extend(columns.drain())
    line.extend(columns.drain())
    yield from _positioned(line)
    while aside:
        sha = aside.pop()
        if sha not in history.met:
            aside.extend(history.append(sha, columns))
        if len(columns) >= ROWS_PER_BATCH:
            yield from columns.drain()
    yield from columns.drain()


def read_new_commits(
    git_dir: Path, repository: str, head: Head, since: str, stored: Stored
) -> pa.Table | NotComparable:
    """The commits reachable from the head and not from `since`, whose history is what `stored` knows.

    They are all that is to be written only if `since` is on the head's first-parent line: else positions of stored
    commits change, or commits are no longer reachable. Cost: the new commits, about as many old ones where a
    side line was merged, and a look-up each time their number has doubled: one, mostly.
    """
    if head.is_directory:
        return NotComparable(reason="a plain directory has no history")
    history = _History(Objects(git_dir, repository))
    if history.is_shallow:
        return NotComparable(reason="the clone is shallow, so that its history may have been cut elsewhere before")
    columns = Columns(_SCHEMA)
    aside: list[str] = []
    look_at = _LOOKED_UP
    sha = head.commit_sha
    while sha != since:
        parents = history.append(sha, columns)
        aside.extend(parents[1:])
        # What a stored commit leads to is stored: a line that met another one than `since` never comes to it.
        if not parents or (len(history.met) == look_at and stored([sha])):
            return NotComparable(reason=f"{since} is not on the first-parent line of {head.commit_sha}")
        look_at *= 2 if len(history.met) == look_at else 1
        sha = parents[0]
    line = list(columns.drain())
    position = _append_aside(history, aside, columns, stored, since)
    if position is None:
        return NotComparable(reason=f"{since} is not on the stored first-parent line")
    rows = pa.Table.from_batches([*_positioned(line, start=position + 1), *columns.drain()], schema=_SCHEMA)
    report("sources", repository, "new commits", read=len(history.met), rows=rows.num_rows)
    return rows


def read_over_stored(git_dir: Path, repository: str, head: Head, stored: pa.Table) -> pa.Table | NotComparable:
    """Every commit reachable from the head, as `read_commits` gives them; `stored` are rows of any of its commits.

    A commit is what its id says, so that only those that are not stored are read, however the head came to be where it
    is. Cost: the new commits, and a walk over the ids of all.
    """
    if head.is_directory:
        return NotComparable(reason="a plain directory has no history")
    history = _History(Objects(git_dir, repository))
    if history.is_shallow:
        return NotComparable(reason="the clone is shallow, so that its history may have been cut elsewhere before")
    known: dict[str, list[str]] = dict(
        zip(stored["commit_sha"].to_pylist(), stored["parents"].to_pylist(), strict=True)
    )
    columns = Columns(_SCHEMA)
    reachable: set[str] = set()
    line: list[str] = []

    def reach(sha: str) -> list[str]:
        reachable.add(sha)
        return known[sha] if sha in known else history.append(sha, columns)

    sha, aside = head.commit_sha, []
    while sha:
        line.append(sha)
        parents = reach(sha)
        sha, more = (parents[0], parents[1:]) if parents else ("", [])
        aside.extend(more)
    while aside:
        sha = aside.pop()
        if sha not in reachable:
            aside.extend(reach(sha))
    kept = stored.filter(pa.array([sha in reachable for sha in known], pa.bool_()))
    rows = pa.concat_tables([kept, pa.Table.from_batches(columns.drain(), schema=_SCHEMA)])
    position_of = {sha: position for position, sha in enumerate(reversed(line))}
    positions = [position_of.get(sha) for sha in rows["commit_sha"].to_pylist()]
    field = _SCHEMA.field(_POSITION)
    report("sources", repository, "commits beside those that are stored", read=len(history.met), rows=rows.num_rows)
    return rows.set_column(_POSITION, field, pa.array(positions, type=field.type))


def _append_aside(history: "_History", start: list[str], columns: Columns, stored: Stored, since: str) -> int | None:
    """Add what is reachable from `start` and neither met nor stored; gives the position of `since`.

    Commits are read ahead of the look-up, since one look-up costs as much as reading many.
    """
    waiting = start
    ahead = _LOOKED_UP
    while True:
        read = history.read_ahead(waiting, ahead)
        known = stored([since, *read])
        ahead = min(2 * ahead, _MOST_LOOKED_UP)
        reachable, waiting = waiting, []
        while reachable:
            sha = reachable.pop()
            if sha in history.met or sha in known:
                continue
            if sha in read:
                reachable.extend(history.append(sha, columns, read[sha]))
            else:
                waiting.append(sha)
        if not waiting:
            return known.get(since)


class _History:
    """Reads commits into columns, and knows which were read."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._boundary = shallow_boundary(objects)
        self.met: set[str] = set()

    @property
    def is_shallow(self) -> bool:
        return bool(self._boundary)

    def append(self, sha: str, columns: Columns, read: Commit | None = None) -> list[str]:
        """Add the commit's row, its position left open; the commit's parents."""
        self.met.add(sha)
        commit = read or self._read(sha)
        columns.append(
            self._objects.name,
            sha,
            commit.tree,
            commit.parents,
            None,
            *_person(commit.author, commit.encoding),
            *_person(commit.committer, commit.encoding),
            shown_field(subject(commit.message), commit.encoding),
        )
        return commit.parents

    def read_ahead(self, start: list[str], count: int) -> dict[str, Commit]:
        """About `count` commits from `start` on that were not met, the nearest first."""
        read: dict[str, Commit] = {}
        queue = deque(start)
        while queue and len(read) < count:
            sha = queue.popleft()
            if sha not in read and sha not in self.met:
                read[sha] = self._read(sha)
                queue.extend(read[sha].parents)
        return read

    def _read(self, sha: str) -> Commit:
        commit = parsed_commit(self._objects.read(sha, "commit"))
        if not commit.tree:
            raise unreadable(self._objects.name, f"commit {sha}", "it names no tree")
        # The parents of a boundary are not there, and git, too, shows it without them.
        return commit._replace(parents=[]) if sha in self._boundary else commit


def subject(message: bytes) -> bytes:
    """The first paragraph on one line, as git shows it."""
    lines: list[bytes] = []
    for line in message.partition(b"\x00")[0].split(b"\n"):
        kept = line.rstrip(_SPACE)
        if kept:
            lines.append(kept)
        elif lines:
            break
    return b" ".join(lines)


def _positioned(line: list[pa.RecordBatch], *, start: int = 0) -> Iterator[pa.RecordBatch]:
    """The batches of a first-parent line, which begins at the head, with positions that end at `start`."""
    position = start + sum(batch.num_rows for batch in line)
    field = _SCHEMA.field(_POSITION)
    for batch in line:
        positions = range(position - 1, position - 1 - batch.num_rows, -1)
        position -= batch.num_rows
        yield batch.set_column(_POSITION, field, pa.array(positions, type=field.type))


def parsed_commit(data: bytes) -> Commit:
    end = data.find(b"\n\n")
    header, message = (data, b"") if end < 0 else (data[:end], _beginning(data, end + 2))
    tree = author = committer = b""
    encoding = None
    parents: list[str] = []
    for line in header.split(b"\n"):
        # Continued lines (signatures, merged tags) begin with a space, so they match none of these.
        key, _, value = line.partition(b" ")
        match key:
            case b"tree":
                tree = value
            case b"parent":
                parents.append(value.decode("latin-1"))
            case b"author":
                author = value
            case b"committer":
                committer = value
            case b"encoding":
                encoding = value
            case _:
                continue
    return Commit(tree.decode("latin-1"), parents, author, committer, encoding, message)


def _beginning(data: bytes, start: int = 0) -> bytes:
    """As many bytes as are looked at, not ending within a character of UTF-8."""
    end = start + _LONGEST_MESSAGE
    while start < end < len(data) and data[end] & 0xC0 == 0x80:
        end -= 1
    return data[start:end]


def _person(line: bytes, encoding: bytes | None) -> tuple[str, str, int | None]:
    """Name, address and microseconds since 1970, as far as the line has them."""
    who, _, when = line.rpartition(b">")
    seconds = when.split()
    time = int(seconds[0]) if seconds and seconds[0].isdigit() and len(seconds[0]) < 16 else _YEAR_10000
    return (*_identity(who or line, encoding), time * 1_000_000 if time < _YEAR_10000 else None)


@functools.lru_cache(maxsize=8192)  # a history has far fewer people than commits
def _identity(who: bytes, encoding: bytes | None) -> tuple[str, str]:
    name, _, rest = who.partition(b"<")
    address = rest.partition(b">")[0]
    return shown_field(name.strip(_SPACE), encoding), shown_field(address.strip(_SPACE), encoding)


def shown_field(value: bytes, encoding: bytes | None) -> str:
    """A field of a commit as text, cut off where it is longer than anyone reads."""
    text = decode_field(_beginning(value), encoding)
    return text if len(text) <= _LONGEST_FIELD else text[:_LONGEST_FIELD] + _CUT_OFF
