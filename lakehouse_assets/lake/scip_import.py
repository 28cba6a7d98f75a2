"""SCIP indexes into the scip tables: only documents that changed are written, in chunks that memory can hold.

Invariants: nothing is written before the whole index has been read. A document has rows elsewhere only while it has
one in `scip_documents`, and these are whole only while that has a fingerprint: it loses it first and gets the new one
last, so that an import that was killed is taken up by the next. An index speaks for the documents of its own
indexer: those that it no longer has are deleted.

Cost: one pass over the index, the decoding of what changed, and one commit a table for each chunk of that.
"""

import uuid
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pyarrow as pa

from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.scip_documents import SCIP_DOCUMENTS
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.core.repository import Repository
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.extract.scip.index import Entry, Index, open_index
from lakehouse_assets.extract.scip.rows import SCIP_TABLES, ScipRows
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.bookkeeping import bookkeeping
from lakehouse_assets.lake.ledger import Ledger
from lakehouse_assets.lake.repository_locks import held
from lakehouse_assets.lake.scip_spill import Spill
from lakehouse_assets.lake.session import runtime_for
from lakehouse_assets.lake.table_facts import table_facts
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.lake.upsert import UpsertService
from lakehouse_assets.plan.code_version import code_version
from lakehouse_assets.plan.engine import ASKED_FOR
from lakehouse_assets.plan.pruning import prune
from lakehouse_assets.plan.scope import Equals, scope_predicate
from lakehouse_assets.plan.staleness import MaterializationKey

CHUNK_ROWS = 40_000
"""Rows that are decoded, kept and committed at a time: some 40 MB as Python values."""

_NOT_WHOLE = "importing "
"""Before the cursor of a chunk that is not the last one: it equals no cursor, so nobody takes it for fresh."""


@dataclass(frozen=True, kw_only=True)
class ImportReport:
    """What an import did: documents by what became of them, rows changed and content by table."""

    repository: str
    indexer: str
    indexer_version: str
    cursor: str
    added: int
    changed: int
    removed: int
    unchanged: int
    rows: Mapping[str, int]
    data_versions: Mapping[str, str | None]


@dataclass(frozen=True, kw_only=True)
class _Decision:
    """Which documents are written, and which are gone."""

    written: tuple[Entry, ...]
    added: int
    changed: int
    removed: tuple[str, ...]
    unchanged: int


def import_index(
    settings: Settings, repository: Repository, path: Path, *, cursor: str | None = None, run_id: str | None = None
) -> ImportReport:
    """Make the scip tables hold what the index at `path` says; `cursor` is the commit it was made from, if known."""
    lake = Lake(settings.lake)
    with ExitStack() as stack:
        stack.enter_context(bookkeeping(lake))
        index = Index(stack.enter_context(open_index(path)), str(path))
        # The lock comes before the look at the table: of two imports, the second sees what the first has done.
        stack.enter_context(held(lake.locks, [repository.name]))
        decision = _decide(lake, repository.name, index)
        spill = stack.enter_context(Spill.opened())
        _decode(index, decision, repository.name, spill)
        writer = _Writer(settings, repository, cursor or f"index {index.fingerprint}", run_id or uuid.uuid4().hex)
        writer.begin(decision, index.metadata.tool)
        for chunk in spill.chunks():
            writer.write(chunk)
        writer.remove(decision.removed)
        data_versions = writer.seal()
    return ImportReport(
        repository=repository.name,
        indexer=index.metadata.tool,
        indexer_version=index.metadata.tool_version,
        cursor=writer.cursor,
        added=decision.added,
        changed=decision.changed,
        removed=len(decision.removed),
        unchanged=decision.unchanged,
        rows=writer.rows,
        data_versions=data_versions,
    )


@cache
def scip_code_version(contract: TableContract) -> str:
    return code_version(ScipRows, Index, parameters=[contract.version])


def _decide(lake: Lake, repo: str, index: Index) -> _Decision:
    columns = ("path", "fingerprint", "indexer", "indexer_version")
    where = scope_predicate(((Equals(column="repo", value=repo),),), "datafusion")
    rows = lake.read(SCIP_DOCUMENTS, columns=columns, where=where)
    stored = {path: rest for path, *rest in zip(*(rows[name].to_pylist() for name in columns), strict=True)}
    metadata = index.metadata
    # Rows that another version of this code made are compared anew, whatever their documents' fingerprints.
    trusted = _made_by_this_code(lake, repo)
    written: list[Entry] = []
    changed = 0
    entries = index.entries()
    for entry in entries:
        known = stored.get(entry.path)
        if trusted and known == [entry.fingerprint, metadata.tool, metadata.tool_version]:
            continue
        written.append(entry)
        changed += known is not None
    there = {entry.path for entry in entries}
    removed = [path for path, (_, tool, _) in stored.items() if tool == metadata.tool and path not in there]
    return _Decision(
        written=tuple(written),
        added=len(written) - changed,
        changed=changed,
        removed=tuple(sorted(removed)),
        unchanged=len(entries) - len(written),
    )


def _made_by_this_code(lake: Lake, repo: str) -> bool:
    latest = Ledger(lake).latest(SCIP_TABLES)
    made = {contract: latest.get((contract.name, repo)) for contract in SCIP_TABLES}
    return all(entry and entry.code_version == scip_code_version(contract) for contract, entry in made.items())


def _decode(index: Index, decision: _Decision, repo: str, spill: Spill) -> None:
    rows = ScipRows(repo, index.metadata)
    for number, entry in enumerate(decision.written, start=1):
        rows.add(index.document(entry), entry.fingerprint)
        if len(rows) >= CHUNK_ROWS:
            spill.add(rows.drain())
            report("scip", repo, "decoded", documents=number, of=len(decision.written))
    if len(rows):
        spill.add(rows.drain())


class _Writer:
    """Writes one import's chunks through the upsert service, each a write of its own."""

    def __init__(self, settings: Settings, repository: Repository, cursor: str, run_id: str) -> None:
        self.cursor = cursor
        self.rows = {contract.name: 0 for contract in SCIP_TABLES}
        self._repository = repository
        self._run_id = run_id
        self._writes = 0
        lake = Lake(settings.lake)
        self._ledger = Ledger(lake)
        self._without_rows = {
            contract.name for contract in SCIP_TABLES if not _has_rows(lake, contract, repository.name)
        }
        self._service = UpsertService(
            lake,
            spark=lambda: runtime_for(settings).session,
            # A chunk is small by its making; Spark would be started for it only where that is asked for.
            executor="spark" if settings.engine == "spark" else "delta-rs",
            because=ASKED_FOR if settings.engine != "auto" else "a chunk is small by its making",
        )

    def begin(self, decision: _Decision, indexer: str) -> None:
        """Say of every document that is about to change that it is not whole."""
        paths = sorted([*(entry.path for entry in decision.written), *decision.removed])
        if paths:
            unknown = {name: [""] * len(paths) for name in SCIP_DOCUMENTS.column_names}
            none = [0] * len(paths)
            columns = unknown | {
                "repo": [self._repository.name] * len(paths),
                "path": paths,
                "indexer": [indexer] * len(paths),
                "occurrences": none,
                "symbols": none,
                "diagnostics": none,
                "text": [None] * len(paths),
            }
            marks = pa.table(columns, schema=arrow_schema(SCIP_DOCUMENTS.columns))
            self._write(SCIP_DOCUMENTS, marks, tuple(paths))
            self.rows[SCIP_DOCUMENTS.name] = 0  # marks come and go with the import

    def write(self, chunk: Mapping[str, pa.Table]) -> None:
        owners = tuple(chunk[SCIP_DOCUMENTS.name]["path"].to_pylist())
        for contract in SCIP_TABLES:
            rows = chunk[contract.name]
            if rows.num_rows:
                self._without_rows.discard(contract.name)
            if contract.name not in self._without_rows:
                self._write(contract, rows, owners)

    def remove(self, paths: tuple[str, ...]) -> None:
        """Delete all rows of documents that are gone, their own last."""
        for contract in SCIP_TABLES if paths else ():
            self._write(contract, _nothing(contract), paths)

    def seal(self) -> dict[str, str | None]:
        """Say that the tables are at the cursor, where that is not known; gives their content."""
        versions: dict[str, str | None] = {}
        latest = self._ledger.latest(SCIP_TABLES)
        for contract in SCIP_TABLES:
            entry = latest.get((contract.name, self._repository.name))
            if entry is not None and entry.key == self._key(contract):
                versions[contract.name] = entry.data_version
            else:
                versions[contract.name] = self._write(contract, _nothing(contract), (), whole=True)
        if self._writes:
            self._ledger.record(*SCIP_TABLES)
        return versions

    def _key(self, contract: TableContract) -> MaterializationKey:
        return MaterializationKey(
            asset=contract.name,
            partition=self._repository.name,
            cursor=self.cursor,
            code_version=scip_code_version(contract),
            settings_hash=self._repository.settings_hash,
            policy_hash=contract.policy_hash,
        )

    def _write(
        self, contract: TableContract, rows: pa.Table, owners: tuple[str, ...], *, whole: bool = False
    ) -> str | None:
        name = self._repository.name
        key = self._key(contract)
        if not whole:
            key = replace(key, cursor=_NOT_WHOLE + self.cursor)
        self._writes += 1
        done = self._service.write(
            contract,
            Batch(rows=rows, keys=(key,), owners=owners),
            {name: (Equals(column="repo", value=name),)},
            run_id=f"{self._run_id}-{self._writes}",
        )
        self.rows[contract.name] += done.rows_changed
        return done.data_versions[name]


def _has_rows(lake: Lake, contract: TableContract, repo: str) -> bool:
    """Whether the repository has a file in the table, by the log: most indexes have no diagnostics at all."""
    if not lake.exists(contract):
        return False
    scope = (Equals(column="repo", value=repo),)
    return prune(table_facts(lake.open(contract), contract).files, (scope,), None).touched > 0


def _nothing(contract: TableContract) -> pa.Table:
    return pa.Table.from_batches([], schema=arrow_schema(contract.columns))
