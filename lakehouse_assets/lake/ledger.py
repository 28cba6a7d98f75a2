"""What each asset partition was made from, committed with it.

Invariant: an entry and its rows are one Delta commit, because the entry travels in the commit's
user metadata. The table `materializations` is an index over these: it is written some commits after the data,
and a reader adds whatever commits the index has not seen. A kill between the two loses nothing.

Cost: reading takes one small table and the log entries since the last write, whatever the lake's size.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from typing import Any

from deltalake import DeltaTable

from lakehouse_assets.contracts.materializations import MATERIALIZATIONS
from lakehouse_assets.contracts.schemas import arrow_rows
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.lake.commit_log import NOTE, noted
from lakehouse_assets.lake.concurrency import first_value, retried
from lakehouse_assets.lake.log_range import mark_of
from lakehouse_assets.lake.object_path import LakePath
from lakehouse_assets.lake.table_columns import add_columns
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.lake.touched import Followed, Touched, known_versions
from lakehouse_assets.plan.cursors import KnownVersions
from lakehouse_assets.plan.scope import Scopes
from lakehouse_assets.plan.sql_text import literal
from lakehouse_assets.plan.staleness import MaterializationKey

_IS_NEWER = (
    "s.table_version > t.table_version OR (s.table_version = t.table_version AND "
    "s.materialized_at >= t.materialized_at AND (s.data_version IS NOT NULL OR t.data_version IS NULL))"
)
"""What one writer read in the log must not undo what another has learned of the same version since."""


@dataclass(frozen=True, kw_only=True)
class Entry(MaterializationKey):
    """The key of one asset partition's materialization, and where its rows are."""

    data_version: str | None = None
    """Content of the partition; None if it has to be counted."""
    run_id: str
    table_version: int = -1
    """Version of the asset's table that holds the rows; known once they are committed."""
    materialized_at: datetime

    @property
    def key(self) -> MaterializationKey:
        return MaterializationKey(**{field.name: getattr(self, field.name) for field in fields(MaterializationKey)})


EntryKey = tuple[str, str]

INDEX_EVERY = 20
"""Versions of a table that the index may lack: a reader has at most so many to add."""


@dataclass(frozen=True, kw_only=True)
class _Index:
    """What the table `materializations` has: thousands of repositories make tens of thousands of entries, so what is
    asked of all of them is found once."""

    entries: Mapping[EntryKey, Entry]
    newest: Mapping[str, Entry]
    """By asset the entry with the newest version of its table."""
    touched: Mapping[EntryKey, str | None]
    """Which versions of the tables changed the partitions (`lake/touched.py`)."""

    @staticmethod
    def of(rows: Sequence[dict[str, Any]]) -> "_Index":
        touched = {(row["asset"], row["partition"]): row.pop("touched") for row in rows}
        found = {(entry.asset, entry.partition): entry for entry in (Entry(**row) for row in rows)}
        newest: dict[str, Entry] = {}
        for entry in found.values():
            if entry.asset not in newest or entry.table_version > newest[entry.asset].table_version:
                newest[entry.asset] = entry
        return _Index(entries=found, newest=newest, touched=touched)

    def version_of(self, contract: TableContract) -> int:
        entry = self.newest.get(contract.name)
        return -1 if entry is None else entry.table_version

    def touched_of(self, entry: Entry) -> Touched | None:
        return Touched.of(self.touched[entry.asset, entry.partition])


def note(entries: Sequence[Entry]) -> str:
    """The entries as a commit's user metadata."""
    rows = [
        {**asdict(entry), "materialized_at": entry.materialized_at.isoformat(), "table_version": None}
        for entry in entries
    ]
    return json.dumps({NOTE: rows})


_known: dict[LakePath, dict[EntryKey, Entry]] = {}
"""By lake what this process has learned of commits that do not tell it themselves, until the index has it."""

_LogEntry = tuple[str, int, int]
_indexes: dict[LakePath, tuple[_LogEntry | None, _Index]] = {}
"""The index of the lake that was read last, with the log entry that it was read at."""


def _last_entry(path: LakePath) -> _LogEntry | None:
    """Name, identity and time of a table's newest log entry: another table in its place has another."""
    try:
        newest = max((entry for entry in (path / "_delta_log").iterdir() if entry.suffix == ".json"), default=None)
    except FileNotFoundError:
        return None
    if newest is None:
        return None
    facts = newest.stat()
    return newest.name, facts.st_ino, facts.st_mtime_ns


class Ledger:
    def __init__(self, lake: Lake) -> None:
        self._lake = lake

    def latest(self, contracts: Iterable[TableContract]) -> dict[EntryKey, Entry]:
        """The last entry of every partition of the tables. A table that is not there has none, whatever the index says:
        somebody took it away, and what it had is to be made anew."""
        indexed, asked = self._indexed(), list(contracts)
        there = {contract.name for contract in asked if self._lake.exists(contract)}
        latest = {key: entry for key, entry in indexed.entries.items() if key[0] in there}
        for contract in asked:
            latest.update(self._unindexed(contract, indexed))
        return latest

    def forget(self, contract: TableContract) -> None:
        """Take out of the index what it has of a table that is about to be made: that was of another in its place."""
        if contract.name in self._indexed().newest:
            where = f"asset = {literal(contract.name, 'datafusion')}"
            retried(self._lake, MATERIALIZATIONS, lambda: self._lake.open(MATERIALIZATIONS).delete(where))
            _indexes.clear()

    def record(self, *contracts: TableContract, known: Sequence[Entry] = ()) -> None:
        """Bring the index up to the tables' logs. Any writer may do it, for itself and for one that was killed.

        `known` entries take precedence: they changed no row, so that no commit carries them, or they know the
        content, which a MERGE tells only after its commit. They hold at least at the version they name.
        """
        names = {contract.name for contract in contracts}
        learned = _known.get(self._lake.root, {})
        mine = [entry for key, entry in learned.items() if key[0] in names]
        retried(self._lake, MATERIALIZATIONS, lambda: self._record(contracts, [*mine, *known]))
        for entry in mine:
            if learned.get((entry.asset, entry.partition)) is entry:
                del learned[entry.asset, entry.partition]

    def newest(self, contract: TableContract, table: DeltaTable, partitions: Collection[str]) -> dict[EntryKey, Entry]:
        """The last entries of some partitions, from the end of the log back to what the index has of the table."""
        indexed = self._indexed()
        wanted = {(contract.name, partition) for partition in partitions}
        found: dict[EntryKey, Entry] = {}
        log = self._lake.path(contract) / "_delta_log"
        for version in range(table.version(), indexed.version_of(contract), -1):
            if found.keys() == wanted:
                break
            try:
                commit = _commit_info(log / f"{version:020}.json")
            except FileNotFoundError:  # a checkpoint has taken its place
                found = {key: entry for key, entry in self._unindexed(contract, indexed).items() if key in wanted}
                break
            for entry in entries_of(commit):
                key = (entry.asset, entry.partition)
                if key in wanted and key not in found:
                    found[key] = self._learned(replace(entry, table_version=version))
        return {key: indexed.entries[key] for key in wanted & indexed.entries.keys()} | found

    def known_versions(self, contract: TableContract, table: DeltaTable, scopes: Scopes) -> KnownVersions | None:
        """Which versions of a table changed the partitions of the scopes, as far as the index knows it."""
        if not scopes or not contract.partition_by or contract.column(contract.partition_by[0]).type != "string":
            return None  # the log has values of other types in words of its own
        indexed = self._indexed()
        partitions = [first_value(contract, scope) for scope in scopes]
        entries = [None if each is None else indexed.entries.get((contract.name, each)) for each in partitions]
        newest = indexed.newest.get(contract.name)
        if newest is None:
            return None
        return known_versions(
            self._lake.path(contract),
            str(table.metadata().id),
            newest.table_version,
            indexed.touched_of(newest),
            [None if each is None else indexed.touched_of(each) for each in entries],
        )

    def follow(self, contract: TableContract, version: int, entries: Sequence[Entry], *, in_commit: bool) -> None:
        """Keep the index near the log after a write, when it is far behind; the rest is done at the end of a run.

        What no commit tells is known to this process until then; one that is killed leaves it to be counted. The index
        is looked at anew only if it was far behind when it was read last: others bring it forward alone.
        """
        if not in_commit:
            _known.setdefault(self._lake.root, {}).update({(each.asset, each.partition): each for each in entries})
        read = _indexes.get(self._lake.path(MATERIALIZATIONS))
        if read is not None and version - read[1].version_of(contract) <= INDEX_EVERY:
            return
        if version - self._indexed().version_of(contract) > INDEX_EVERY:
            self.record(contract)

    def _record(self, contracts: Sequence[TableContract], known: Sequence[Entry]) -> None:
        lake = self._lake
        # Taken before the index is read: what is told of partitions goes on from all that was told before, since who
        # commits in between is met at the commit.
        table = lake.taken(MATERIALIZATIONS)
        indexed = self._indexed()
        fresh: dict[EntryKey, Entry] = {}
        for contract in contracts:
            fresh |= self._unindexed(contract, indexed)
        for entry in known:
            newer = fresh.get((entry.asset, entry.partition))
            if newer is None or newer.table_version <= entry.table_version:
                fresh[(entry.asset, entry.partition)] = entry
        if not fresh:
            lake.give_back(MATERIALIZATIONS, table)
            return
        rows = [row for contract in contracts for row in self._index_rows(contract, indexed, fresh)]
        there = {each.name for each in table.schema().fields}
        add_columns(table, [(each.name, each.type) for each in MATERIALIZATIONS.columns if each.name not in there])
        batch = arrow_rows(MATERIALIZATIONS.columns, rows)
        merge = table.merge(
            batch,
            predicate="t.asset = s.asset AND t.partition = s.partition",
            source_alias="s",
            target_alias="t",
        )
        merge.when_matched_update_all(_IS_NEWER).when_not_matched_insert_all().execute()
        lake.give_back(MATERIALIZATIONS, table)

    def _index_rows(
        self, contract: TableContract, indexed: _Index, fresh: Mapping[EntryKey, Entry]
    ) -> Iterator[dict[str, Any]]:
        """Rows of the index for a table: its new entries, and those whose partitions other engines have changed."""
        new = {entry.partition: entry for key, entry in fresh.items() if key[0] == contract.name}
        if not new:
            return
        if not contract.partition_by:
            yield from ({**asdict(entry), "touched": None} for entry in new.values())
            return
        folder, table = self._lake.path(contract), self._lake.present(contract)
        seen = indexed.version_of(contract)
        followed = Followed.along(folder, seen, max(entry.table_version for entry in new.values()))
        held = {entry.partition: entry for key, entry in indexed.entries.items() if key[0] == contract.name}
        others = held if followed.settled > seen + 1 else held.keys() & followed.changed.keys()
        for name in dict.fromkeys([*new, *others]):
            entry = new.get(name) or held[name]
            before = indexed.touched_of(held[name]) if name in held else None
            last = mark_of(folder, entry.table_version) or ""
            touched = followed.touched(before, name, str(table.metadata().id), last)
            yield {**asdict(entry), "touched": touched.text}

    def _indexed(self) -> _Index:
        """The index; read again only when its log has another last entry, for it is asked at every step of a run."""
        path = self._lake.path(MATERIALIZATIONS)
        last = _last_entry(path)
        kept = _indexes.get(path)
        if kept is None or last is None or kept[0] != last:
            kept = (last, _Index.of(self._lake.rows(MATERIALIZATIONS)))
            _indexes.clear()
            _indexes[path] = kept
        return kept[1]

    def _unindexed(self, contract: TableContract, indexed: _Index) -> dict[EntryKey, Entry]:
        """Entries in the log after the newest one that the index has of this table, the newest per partition."""
        if not self._lake.exists(contract):
            return {}
        seen = indexed.version_of(contract)
        found: dict[EntryKey, Entry] = {}
        commits = self._commits_behind(contract, seen)
        for version, commit in commits:
            for entry in entries_of(commit):
                found[(entry.asset, entry.partition)] = replace(entry, table_version=version)
        if commits:
            report("ledger", contract.name, "read the log", commits=len(commits), entries=len(found))
        return {key: self._learned(entry) for key, entry in found.items()}

    def _learned(self, entry: Entry) -> Entry:
        """The entry of a commit, or what this process knows of that commit beyond what it tells."""
        known = _known.get(self._lake.root, {}).get((entry.asset, entry.partition))
        return known if known is not None and known.table_version == entry.table_version else entry

    def _commits_behind(self, contract: TableContract, seen: int) -> list[tuple[int, Mapping[str, Any]]]:
        """The commits after version `seen`, oldest first: from the entries themselves, or where some of them have
        given way to a checkpoint, as delta-rs tells them."""
        log = self._lake.path(contract) / "_delta_log"
        if (log / f"{seen:020}.json").exists() and not (log / f"{seen + 1:020}.json").exists():
            return []  # entries go with those before them, so that nothing is behind one that is there
        there = {int(name.stem) for name in log.iterdir() if name.suffix == ".json" and name.stem.isdecimal()}
        newer = sorted(version for version in there if version > seen)
        if newer and newer[0] == seen + 1 and newer[-1] - seen == len(newer):
            return [(version, _commit_info(log / f"{version:020}.json")) for version in newer]
        if not newer and there:
            return []
        table = self._lake.open(contract)
        missing = table.version() - seen
        if missing <= 0:
            return []
        return [(commit["version"], commit) for commit in reversed(table.history(limit=missing))]


def entries_of(commit: Mapping[str, Any]) -> list[Entry]:
    """The entries that a commit carries; none if it is not one of ours."""
    return [
        Entry(
            **{**row, "table_version": -1, "materialized_at": datetime.fromisoformat(row["materialized_at"])},
        )
        for row in noted(commit)
    ]


def _commit_info(path: LakePath) -> Mapping[str, Any]:
    """What a log entry says of itself; it stands in one of the lines, most often the first."""
    with path.open() as lines:
        for line in lines:
            if line.startswith('{"commitInfo"'):
                return json.loads(line)["commitInfo"]
    return {}


def new_entry(key: MaterializationKey, *, run_id: str) -> Entry:
    return Entry(**asdict(key), run_id=run_id, materialized_at=datetime.now(UTC))
