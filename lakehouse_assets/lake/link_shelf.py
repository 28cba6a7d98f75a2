"""What the tasks of a linking on Spark hand each other: Parquet that Spark writes, and that tasks read piece by piece.

Beside the tables, as all that reads and writes them can reach it. Rows are kept by kind and bucket: a task reads the
buckets that it comes to, and what a worker has read of one linking it keeps, up to a bound, for its next task.
"""

import shutil
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from lakehouse_assets.lake.object_path import LakePath
from lakehouse_assets.link.heard import owner_of

RowNumbers = npt.NDArray[np.int64]

FOLDER = ".linking"
_KEPT_BYTES = 64 * 1024 * 1024
"""Maximum size of the buckets that a worker keeps for its next task; all of django's files told 25 MB in a round."""

_kept: "OrderedDict[str, pa.Table]" = OrderedDict()


@contextmanager
def shelf(root: LakePath) -> Iterator["Shelf"]:
    """A place for one linking, gone at its end."""
    place = root / FOLDER / uuid4().hex
    try:
        yield Shelf(place=place)
    finally:
        if isinstance(place, Path):
            shutil.rmtree(place, ignore_errors=True)
        else:
            place.remove_below([""])


@dataclass(frozen=True, kw_only=True)
class Shelf:
    """The folder of one linking."""

    place: LakePath

    def path(self, name: str) -> str:
        return str(self.place / name)

    def read(self, name: str, kind: str, bucket: int, *, keep: bool = False) -> pa.Table | None:
        """The rows of a bucket; None if there are none."""
        folder = self.place / name / f"kind={kind}" / f"bucket={bucket}"
        key = str(folder)
        if key in _kept:
            _kept.move_to_end(key)
            return _kept[key]
        if not folder.is_dir():
            return None
        files = sorted(each for each in folder.iterdir() if each.name.endswith(".parquet"))
        tables: list[pa.Table] = []
        for file in files:
            with file.open("rb") if isinstance(file, Path) else file.reader() as opened:
                tables.append(pq.ParquetFile(opened).read())
        table = pa.concat_tables(tables)
        if keep:
            _kept[key] = table
            while len(_kept) > 1 and sum(each.nbytes for each in _kept.values()) > _KEPT_BYTES:
                _kept.popitem(last=False)
        return table


@dataclass(frozen=True, kw_only=True)
class Buckets:
    """A bucket for each part of a repository: it has the rows about the files of that part.

    Files of one folder ask mostly each other, so that a task reads few buckets.
    """

    first: int
    starts: tuple[str, ...]
    """The first path of each part but the first one, in order."""

    def of(self, path: str) -> int:
        """Find the bucket of a file. A file of another repository has one as well, by its name."""
        return self.first + bisect_right(self.starts, path)


class HeardFromShelf:
    """What all files of a repository told in a round, read owner by owner."""

    def __init__(self, shelf: Shelf, name: str, buckets: Buckets) -> None:
        self._shelf, self._name, self._buckets = shelf, name, buckets
        self._places: dict[int, Mapping[str, RowNumbers]] = {}
        self._found: dict[str, dict[str, dict[str, tuple[str, ...]]]] = {}
        """By owner and variable, who told what."""

    def of(self, name: str) -> Mapping[str, tuple[str, ...]]:
        return self._of_owner(owner_of(name)).get(name, {})

    def to(self, owner: str) -> Iterator[str]:
        return iter(self._of_owner(owner))

    def _of_owner(self, owner: str) -> dict[str, dict[str, tuple[str, ...]]]:
        found = self._found.get(owner)
        if found is None:
            found = self._found[owner] = {}
            bucket = self._buckets.of(owner)
            table = self._shelf.read(self._name, "told", bucket, keep=True)
            if table is not None:
                if bucket not in self._places:
                    self._places[bucket] = _rows_by_value(table["owner"])
                rows = table.take(pa.array(self._places[bucket].get(owner, []), pa.int64()))
                columns = (rows[each].to_pylist() for each in ("name", "path", "told"))
                for name, path, values in zip(*columns, strict=True):
                    found.setdefault(name, {})[path] = tuple(values)
        return found


def _rows_by_value(column: pa.ChunkedArray) -> dict[str, RowNumbers]:
    """Index the rows of a column of texts by their value."""
    encoded = column.combine_chunks().dictionary_encode()
    numbers = np.asarray(encoded.indices)
    order = np.argsort(numbers, kind="stable")
    ends = np.cumsum(np.bincount(numbers, minlength=len(encoded.dictionary)))
    return dict(zip(encoded.dictionary.to_pylist(), np.split(order, ends[:-1]), strict=True))
