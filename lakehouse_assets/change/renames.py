"""Files that are gone and files that came in, which of them are one renamed file out.

They are if they have the same content, else if their texts are similar enough. Files that both snapshots have under
one path are never renamed: the path says that they are the same. What else became of files is a step, which takes
these for given: see `diff_steps`.

Files beyond the limits are not compared by their text, and the result says how many.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from lakehouse_assets.change.similarity import most_similar, name_distance

LARGEST_COMPARED = 1_000_000
"""Bytes of a file beyond which its text is not compared: what large files share is mostly data."""
MOST_COMPARED = 2_000
"""Files that are gone, and files that came, beyond which texts are not compared."""

_PAIRS_WEIGHED = 10_000

Texts = Mapping[str, str]
ReadTexts = Callable[[Sequence[str]], Texts]


class File(NamedTuple):
    """A file of a snapshot. `size` is None where there is no content to compare, as of a submodule."""

    blob_sha: str
    size: int | None = None


class Renamed(NamedTuple):
    old_path: str
    path: str
    similarity: int
    """Percent of the larger content that both have; 100 if the content is the same."""


@dataclass(frozen=True, kw_only=True)
class Renames:
    """In no order. `notes` tell which limits were reached."""

    files: tuple[Renamed, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(kw_only=True)
class _Moves:
    """Files that are gone and files that came, as far as they are not paired yet."""

    gone: dict[str, File]
    came: dict[str, File]
    renamed: list[Renamed] = field(default_factory=list[Renamed])

    def pair(self, old_path: str, path: str, similarity: int) -> None:
        del self.gone[old_path], self.came[path]
        self.renamed.append(Renamed(old_path, path, similarity))


def renames(gone: Mapping[str, File], came: Mapping[str, File], read: ReadTexts) -> Renames:
    """Which of the files that are gone is which of those that came, all by path; each is at most one.

    `read` is asked at most once, for the texts of the contents that have to be compared; it leaves out what is none.
    """
    moves = _Moves(gone=dict(gone), came=dict(came))
    _pair_equal(moves)
    notes = _pair_similar(moves, read)
    return Renames(files=tuple(moves.renamed), notes=notes)


def _pair_equal(moves: _Moves) -> None:
    """Pair files of one content, those with the closest names first; empty ones only if their last name stays."""
    gone = _by_blob(moves.gone)
    for blob_sha, came in _by_blob(moves.came).items():
        for old_path, path in _closest(gone.get(blob_sha, []), came):
            if moves.came[path].size != 0 or _last_name(old_path) == _last_name(path):
                moves.pair(old_path, path, 100)


def _closest(gone: list[str], came: list[str]) -> list[tuple[str, str]]:
    if len(gone) * len(came) > _PAIRS_WEIGHED:
        # Many copies of one content: any pairing is as good, so long as names that stayed come together.
        return list(zip(sorted(gone, key=_by_last_name), sorted(came, key=_by_last_name), strict=False))
    weighed = sorted((name_distance(old, new), old, new) for old in gone for new in came)
    pairs: dict[str, str] = {}
    taken: set[str] = set()
    for _, old, new in weighed:
        if old not in pairs and new not in taken:
            pairs[old] = new
            taken.add(new)
    return list(pairs.items())


def _by_blob(files: Mapping[str, File]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path, file in files.items():
        found.setdefault(file.blob_sha, []).append(path)
    return found


def _last_name(path: str) -> str:
    return path.rpartition("/")[2]


def _by_last_name(path: str) -> tuple[str, str]:
    return _last_name(path), path


def _pair_similar(moves: _Moves, read: ReadTexts) -> tuple[str, ...]:
    notes: list[str] = []
    gone, large_gone = _comparable(moves.gone)
    came, large_came = _comparable(moves.came)
    if not gone or not came:
        return ()
    if large_gone + large_came:
        notes.append(f"{large_gone + large_came} files over {LARGEST_COMPARED:,} bytes were not compared by their text")
    if len(gone) > MOST_COMPARED or len(came) > MOST_COMPARED:
        notes.append(
            f"{len(gone)} files that are gone were not compared with {len(came)} that came: "
            f"more than {MOST_COMPARED:,} of either are too many"
        )
        return tuple(notes)
    texts = read(sorted({file.blob_sha for file in (*gone.values(), *came.values())}))
    pairs = most_similar(_named(gone, texts), _named(came, texts))
    for old_path, path, percent in pairs:
        moves.pair(old_path, path, min(percent, 99))  # the same lines in another order are not the same content
    return tuple(notes)


def _comparable(files: Mapping[str, File]) -> tuple[dict[str, File], int]:
    """The files whose text may be compared, and how many are too large for it."""
    small = {path: file for path, file in files.items() if file.size and file.size <= LARGEST_COMPARED}
    large = sum(1 for file in files.values() if file.size and file.size > LARGEST_COMPARED)
    return small, large


def _named(files: Mapping[str, File], texts: Texts) -> dict[str, str]:
    return {path: texts[file.blob_sha] for path, file in files.items() if file.blob_sha in texts}
