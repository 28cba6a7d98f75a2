"""What linking keeps from one run to the next, as columns: what each file read, told and offers.

An update looks up the few keys that changed by binary search; nothing is unpacked into objects but the rows of files
that are solved again.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from lakehouse_assets.link.heard import owner_of
from lakehouse_assets.link.keys import MISSING, number_of

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
COLUMNS = {"reads": READS, "flows": FLOWS, "provided": PROVIDED, "elsewhere": ELSEWHERE_READS}


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
        flows["owner"] += [owner_of(name) for name, _ in entries]
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
        self._order = np.argsort(values)
        self._values = values[self._order]

    def rows(self, value: int) -> Any:
        low = np.searchsorted(self._values, value, "left")
        high = np.searchsorted(self._values, value, "right")
        return np.sort(self._order[low:high])


class _Coded:
    """Texts that come again and again, as numbers; rows by text."""

    def __init__(self, values: Any) -> None:
        coded = pa.array(values, pa.string()) if isinstance(values, list) else values
        if not pa.types.is_dictionary(coded.type):
            coded = coded.dictionary_encode()
        self.codes = coded.indices.to_numpy(zero_copy_only=False)
        self.texts: list[str] = coded.dictionary.to_pylist()
        self._code_of: dict[str, int] | None = None
        self._sorted: _Sorted | None = None

    def __getitem__(self, row: int) -> str:
        return self.texts[self.codes[row]]

    def rows(self, text: str) -> Any:
        if self._code_of is None or self._sorted is None:
            self._code_of = {each: code for code, each in enumerate(self.texts)}
            self._sorted = _Sorted(self.codes)
        return self._sorted.rows(self._code_of.get(text, -1))


class _Texts:
    """Texts of which a few are asked for."""

    def __init__(self, values: Any) -> None:
        self._values = pa.array(values, pa.string()) if isinstance(values, list) else values

    def __getitem__(self, row: int) -> str:
        return self._values[int(row)].as_py()


def _numbers(values: Any) -> Any:
    return np.asarray(values, dtype=np.int64)


_OFTEN = ("path", "owner")
"""Columns of texts that rows are looked up by."""
_TEXTS = ("name", "value")


class LinkState:
    """The rows of a repository, indexed. Columns may be lists or Arrow arrays, texts in these also as a dictionary."""

    def __init__(self, tables: Mapping[str, Mapping[str, Any]]) -> None:
        paths, blobs, summaries = (_listed(tables["files"][name]) for name in FILES)
        self.blobs: dict[str, str] = dict(zip(paths, blobs, strict=True))
        self.summaries: dict[str, int] = dict(zip(paths, summaries, strict=True))
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
            make = _Coded if name in _OFTEN else _Texts if name in _TEXTS else _numbers
            self._cached[key] = make(values)
        return self._cached[key]

    def _index(self, table: str, name: str) -> _Sorted:
        key = (table, name)
        if key not in self._indexes:
            self._indexes[key] = _Sorted(self.column(table, name))
        return self._indexes[key]

    def rows_of(self, table: str, path: str) -> Any:
        """Row numbers of a file."""
        return self.column(table, "path").rows(path)

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
        rows = self.column("flows", "owner").rows(owner)
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
        columns = [_listed(self.tables["elsewhere"][name]) for name in ("path", "name", "hash")]
        for path, name, there in zip(*columns, strict=True):
            found.setdefault(name, []).append((path, there))
        return found

    def names_elsewhere(self, *, without: Set[str]) -> set[str]:
        """Names of the facts of other repositories that files read, but for some of the files."""
        columns = (_listed(self.tables["elsewhere"][name]) for name in ("path", "name"))
        return {name for path, name in zip(*columns, strict=True) if path not in without}

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
            columns = {name: _listed(old[name]) for name in new}
            keep = [i for i, path in enumerate(columns["path"]) if path not in replaced]
            tables[table] = {name: [columns[name][i] for i in keep] + list(new[name]) for name in new}
        return LinkState(tables)


def _listed(values: Any) -> list[Any]:
    return values if isinstance(values, list) else values.to_pylist()
