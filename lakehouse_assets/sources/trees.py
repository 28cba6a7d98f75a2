"""The files of a tree, and what differs between two trees.

Names in a tree are bytes that anyone can choose; here they are only ever text. Ids are those of contents, so that two
subtrees of one id are equal and are not entered: comparing costs what differs, whatever the size of the trees.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lakehouse_assets.core.errors import SourceError
from lakehouse_assets.sources.objects import Objects, unreadable

_ID_BYTES = 20
_TYPE_BITS = 0o170000
_TREE = 0o040000
_TREE_OF_COMMIT = re.compile(rb"tree ([0-9a-f]{40})\n")

MOST_ENTRIES = 2_000_000
MOST_PATH_BYTES = 512 * 1024**2
"""Of all paths in a tree together. Trees that share subtrees can name billions of files in a few kilobytes."""

TreeFile = tuple[bytes, int, str]
"""Path, mode and id of something that is not a tree."""


@dataclass(frozen=True, kw_only=True)
class TreeChanges:
    """What is new or different in a tree, and the paths that it no longer has."""

    files: tuple[TreeFile, ...]
    gone: tuple[bytes, ...]


@dataclass(frozen=True, kw_only=True)
class NotComparable:
    """Why two states could not be compared; the newer one has to be read as a whole."""

    reason: str


class _Size:
    """The size of what is walked, as far as the walk has come."""

    def __init__(self) -> None:
        self._entries = self._path_bytes = 0

    def exceeded_by(self, path: bytes) -> str | None:
        """Count one more entry; the limit that it exceeds, if any."""
        self._entries += 1
        self._path_bytes += len(path)
        if self._entries > MOST_ENTRIES:
            return f"it has more than {MOST_ENTRIES} entries"
        if self._path_bytes > MOST_PATH_BYTES:
            return f"its paths take more than {MOST_PATH_BYTES} bytes"
        return None


def tree_files(objects: Objects, tree: str) -> Iterator[TreeFile]:
    """Everything but trees, in git's order; an explicit stack, since trees may be nested deeply."""
    stack = [_entries(objects, tree, b"")]
    size = _Size()
    while stack:
        for path, mode, sha in stack[-1]:
            if (exceeded := size.exceeded_by(path)) is not None:
                raise _too_large(objects.name, tree, exceeded)
            if mode & _TYPE_BITS == _TREE:
                stack.append(_entries(objects, sha, path + b"/"))
                break
            yield path, mode, sha
        else:
            stack.pop()


def _too_large(name: str, tree: str, exceeded: str) -> SourceError:
    return SourceError(
        subject=f"repository {name}",
        seen=f"tree {tree} is too large: {exceeded}",
        why="a few objects that repeat each other can stand for more files than any machine holds",
        remedy="follow a commit with a smaller tree (`--ref`), or remove the repository",
    )


def tree_of_commit(data: bytes) -> str | None:
    """The root tree that a commit names; None if it names none."""
    found = _TREE_OF_COMMIT.match(data)
    return found.group(1).decode() if found else None


def changes_since(objects: Objects, since: str, tree: str) -> TreeChanges | NotComparable:
    """What `tree` changed against the state `since`, a commit or, of a plain directory, a tree.

    The older state may be gone: git drops commits that no reference leads to any more.
    """
    try:
        kind, data = objects.read_any(since, expected="commit")
        before = since if kind == "tree" else tree_of_commit(data)
    except SourceError as error:
        return NotComparable(reason=error.seen)
    if before is None:
        return NotComparable(reason=f"{kind} {since} names no tree")
    return compared(objects, before, tree)


def compared(objects: Objects, before: str, after: str) -> TreeChanges | NotComparable:
    files: list[TreeFile] = []
    gone: list[bytes] = []
    size = _Size()
    pairs: list[tuple[bytes, str | None, str | None]] = [(b"", before, after)] if before != after else []
    while pairs:
        prefix, old_tree, new_tree = pairs.pop()
        try:
            old = _by_name(objects, old_tree)
        except SourceError as error:  # of the state that is left behind, so that nothing depends on it
            return NotComparable(reason=error.seen)
        new = _by_name(objects, new_tree)
        if old is None or new is None:
            return NotComparable(reason=f"tree {new_tree or old_tree} has names that git would not write")
        for name in old.keys() | new.keys():
            was, now = old.get(name), new.get(name)
            if was == now:
                continue
            path = prefix + name
            if (exceeded := size.exceeded_by(path)) is not None:
                return NotComparable(reason=f"the difference to tree {after} is too large: {exceeded}")
            old_below = was[1] if was and was[0] & _TYPE_BITS == _TREE else None
            new_below = now[1] if now and now[0] & _TYPE_BITS == _TREE else None
            if old_below != new_below:
                pairs.append((path + b"/", old_below, new_below))
            if now and new_below is None:
                files.append((path, *now))
            elif was and old_below is None:
                gone.append(path)
    return TreeChanges(files=tuple(sorted(files)), gone=tuple(sorted(gone)))


def _by_name(objects: Objects, tree: str | None) -> dict[bytes, tuple[int, str]] | None:
    """Mode and id by name; None if names don't tell entries apart, so that a path could stand twice."""
    found: dict[bytes, tuple[int, str]] = {}
    for name, mode, sha in _entries(objects, tree, b"") if tree else ():
        if name in found or not name or b"/" in name:
            return None
        found[name] = (mode, sha)
    return found


def _entries(objects: Objects, tree: str, prefix: bytes) -> Iterator[TreeFile]:
    data = objects.read(tree, "tree")
    at = 0
    while at < len(data):
        mode_end = data.find(b" ", at)
        name_end = data.find(b"\x00", mode_end)
        following = name_end + 1 + _ID_BYTES
        mode = data[at:mode_end]
        if mode_end < 0 or name_end < 0 or following > len(data) or not mode or mode.strip(b"01234567"):
            raise unreadable(objects.name, f"tree {tree}", f"its entry at byte {at} is broken")
        yield prefix + data[mode_end + 1 : name_end], int(mode, 8), data[name_end + 1 : following].hex()
        at = following
