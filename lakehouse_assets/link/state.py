"""What linking keeps from one run to the next, as columns: what each file read, told and offers.

An update looks up the few keys that changed by binary search; nothing is unpacked into objects but the rows of files
that are solved again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lakehouse_assets.link.keys import MISSING, PART, number_of

Columns = dict[str, list[Any]]

FILES = ("path", "blob_sha", "summary")
"""`summary` is the hash of the file's summary."""
READS = ("path", "key", "hash", "rounds")
"""`rounds` has bit i set for a read in round i; `hash` is of what was there, 0 for nothing."""
FLOWS = ("path", "owner", "key", "name", "value", "rounds")
"""What a file put into a shared variable: `key` is the hash of `name`, `owner` the file whose variable it is."""
PROVIDED = ("path", "key", "hash")
"""Facts that others can read of a file."""
ELSEWHERE_READS = ("path", "name", "hash", "rounds")
"""Facts of other repositories that a file read, by name, to be asked again; `rounds` as in reads."""


def no_rows(names: Sequence[str]) -> Columns:
    return {name: [] for name in names}


@dataclass(frozen=True, kw_only=True)
class StateRows:
    """Rows of the state that differ from before. `files` holds one row per file named in it; all other tables hold all
    rows of the files in `solved`, which replace those files' rows."""

    solved: set[str] = field(default_factory=set)
    files: Columns = field(default_factory=lambda: no_rows(FILES))
    reads: Columns = field(default_factory=lambda: no_rows(READS))
    flows: Columns = field(default_factory=lambda: no_rows(FLOWS))
    provided: Columns = field(default_factory=lambda: no_rows(PROVIDED))
    elsewhere: Columns = field(default_factory=lambda: no_rows(ELSEWHERE_READS))

    def add_reads(self, path: str, rounds_of: Mapping[tuple[int, int], int]) -> None:
        reads = self.reads
        entries = sorted(rounds_of)
        reads["path"] += [path] * len(entries)
        reads["key"] += [key for key, _ in entries]
        reads["hash"] += [there for _, there in entries]
        reads["rounds"] += [rounds_of[entry] for entry in entries]

    def add_flows(self, path: str, told: Sequence[Mapping[str, tuple[str, ...]]]) -> None:
        """What a file told in each round, a row per variable and value."""
        rounds_of: dict[tuple[str, str], int] = {}
        for number, by_name in enumerate(told):
            for name, values in by_name.items():
                for value in values:
                    rounds_of[name, value] = rounds_of.get((name, value), 0) | 1 << number
        flows = self.flows
        entries = sorted(rounds_of)
        flows["path"] += [path] * len(entries)
        flows["owner"] += [name.split(PART, 2)[1] for name, _ in entries]
        flows["key"] += [number_of(name) for name, _ in entries]
        flows["name"] += [name for name, _ in entries]
        flows["value"] += [value for _, value in entries]
        flows["rounds"] += [rounds_of[entry] for entry in entries]

    def add_provided(self, path: str, facts: Mapping[int, int]) -> None:
        keys = sorted(facts)
        self.provided["path"] += [path] * len(keys)
        self.provided["key"] += keys
        self.provided["hash"] += [facts[key] for key in keys]

    def tables(self) -> dict[str, Columns]:
        return {
            "files": self.files,
            "reads": self.reads,
            "flows": self.flows,
            "provided": self.provided,
            "elsewhere": self.elsewhere,
        }


class _Sorted:
    """Row numbers by a column of numbers."""

    def __init__(self, values: Any) -> None:
        self._order = np.argsort(values, kind="stable")
        self._values = values[self._order]

    def rows(self, value: int) -> Any:
        low = np.searchsorted(self._values, value, "left")
        high = np.searchsorted(self._values, value, "right")
        return self._order[low:high]


def _numbers(values: Any) -> Any:
    """Columns may come as lists, numpy or Arrow arrays."""
    if hasattr(values, "to_numpy"):
        return values.to_numpy(zero_copy_only=False) if not hasattr(values, "chunks") else values.to_numpy()
    return np.asarray(values, dtype=np.int64)


def _texts(values: Any) -> Any:
    return values.to_numpy(zero_copy_only=False) if hasattr(values, "to_numpy") else values


class LinkState:
    """The rows of a repository, indexed. Columns may be lists, numpy arrays or Arrow arrays."""

    def __init__(self, tables: Mapping[str, Mapping[str, Any]]) -> None:
        files = tables["files"]
        paths = [str(path) for path in _texts(files["path"])]
        self.blobs: dict[str, str] = dict(zip(paths, (str(sha) for sha in _texts(files["blob_sha"])), strict=True))
        self.summaries: dict[str, int] = dict(zip(paths, (int(h) for h in _numbers(files["summary"])), strict=True))
        self.tables = tables
        self._indexes: dict[tuple[str, str], _Sorted] = {}
        self._cached: dict[tuple[str, str], Any] = {}

    def consulted(self, path: str) -> list[str]:
        """The files that offer what a file read."""
        owners = self.column("provided", "path")
        offered = self._index("provided", "key")
        keys = {key for key, there, _ in self.read_by(path) if there != MISSING}
        return sorted({str(owners[i]) for key in keys for i in offered.rows(key)})

    def column(self, table: str, name: str) -> Any:
        key = (table, name)
        if key not in self._cached:
            values = self.tables[table][name]
            is_text = name in ("path", "owner", "name", "value")
            self._cached[key] = _texts(values) if is_text else _numbers(values)
        return self._cached[key]

    def _index(self, table: str, name: str) -> _Sorted:
        key = (table, name)
        if key not in self._indexes:
            values = self.column(table, name)
            if name in ("path", "owner"):
                numbers: dict[str, int] = {}
                values = np.fromiter(
                    (numbers.get(v) or numbers.setdefault(v, number_of(v)) for v in values), np.int64, len(values)
                )
            self._indexes[key] = _Sorted(values)
        return self._indexes[key]

    def rows_of(self, table: str, path: str) -> Any:
        """Row numbers of a file."""
        return self._index(table, "path").rows(number_of(path))

    def readers(self, key: int) -> list[tuple[str, int, int]]:
        """Who read a key: path, hash of what was there, and rounds."""
        paths, hashes, rounds = (self.column("reads", name) for name in ("path", "hash", "rounds"))
        return [(str(paths[i]), int(hashes[i]), int(rounds[i])) for i in self._index("reads", "key").rows(key)]

    def tellers(self, key: int) -> list[tuple[str, str, int]]:
        """Who put what into a shared variable: path, value and rounds."""
        paths, values, rounds = (self.column("flows", name) for name in ("path", "value", "rounds"))
        return [(str(paths[i]), str(values[i]), int(rounds[i])) for i in self._index("flows", "key").rows(key)]

    def told_to(self, owner: str) -> list[tuple[str, str, str, int]]:
        """What files put into an owner's variables: path, name of the variable, value and rounds."""
        columns = [self.column("flows", name) for name in ("path", "name", "value", "rounds")]
        rows = self._index("flows", "owner").rows(number_of(owner))
        return [(str(columns[0][i]), str(columns[1][i]), str(columns[2][i]), int(columns[3][i])) for i in rows]

    def told_by(self, path: str) -> list[tuple[str, str, int]]:
        """What a file put into shared variables: name, value and rounds."""
        columns = [self.column("flows", name) for name in ("name", "value", "rounds")]
        return [(str(columns[0][i]), str(columns[1][i]), int(columns[2][i])) for i in self.rows_of("flows", path)]

    def read_by(self, path: str) -> list[tuple[int, int, int]]:
        """What a file read: key, hash and rounds."""
        columns = [self.column("reads", name) for name in ("key", "hash", "rounds")]
        return [(int(columns[0][i]), int(columns[1][i]), int(columns[2][i])) for i in self.rows_of("reads", path)]

    def provided_by(self, path: str) -> dict[int, int]:
        keys, hashes = self.column("provided", "key"), self.column("provided", "hash")
        return {int(keys[i]): int(hashes[i]) for i in self.rows_of("provided", path)}

    def read_elsewhere(self) -> dict[str, list[tuple[str, int]]]:
        """Facts of other repositories by name, with who read them and what was there."""
        found: dict[str, list[tuple[str, int]]] = {}
        columns = [self.column("elsewhere", name) for name in ("path", "name", "hash")]
        for path, name, there in zip(*columns, strict=True):
            found.setdefault(str(name), []).append((str(path), int(there)))
        return found

    def elsewhere_of(self, path: str) -> list[tuple[str, int, int]]:
        """What a file read of other repositories: name, hash and rounds."""
        columns = [self.column("elsewhere", name) for name in ("name", "hash", "rounds")]
        return [(str(columns[0][i]), int(columns[1][i]), int(columns[2][i])) for i in self.rows_of("elsewhere", path)]

    def doubting(self, paths: Iterable[str]) -> "LinkState":
        """The same, but that these files count as edited: they are solved again, from what the others told."""
        found = LinkState(self.tables)
        found.blobs.update(dict.fromkeys(paths, ""))
        found.summaries.update(dict.fromkeys(paths, MISSING))
        return found

    def updated(self, rows: StateRows, gone: Iterable[str]) -> "LinkState":
        """The state with some files' rows replaced and others gone: for tests and for use without a lake."""
        tables: dict[str, Columns] = {}
        for table, new in rows.tables().items():
            old = self.tables[table]
            replaced = {*(rows.files["path"] if table == "files" else rows.solved), *gone}
            keep = [i for i, path in enumerate(_texts(old["path"])) if path not in replaced]
            tables[table] = {name: [_plain(old[name][i]) for i in keep] + list(new[name]) for name in new}
        return LinkState(tables)


def _plain(value: Any) -> Any:
    return value.as_py() if hasattr(value, "as_py") else value.item() if hasattr(value, "item") else value
