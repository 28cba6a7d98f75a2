"""Contents that no file refers to any more, and their deletion from `blobs` and `extracts`.

Invariant: a content stays while a file has it: at the head, in a version that somebody holds, or as one end of the
last update. Nothing is lost by a mistake in time: snapshots are not written meanwhile, and who writes one afterwards
asks which contents are missing. An extract also stays while there is none by the present extractor.

Cost: the shas of `blobs`, the keys of `extracts`, the files of every held version of `snapshots`.
"""

import time
from collections.abc import Mapping, Sequence, Set
from contextlib import ExitStack
from dataclasses import dataclass
from uuid import uuid4

import pyarrow as pa

from lakehouse_assets.contracts.blobs import BLOBS
from lakehouse_assets.contracts.extracts import EXTRACTS
from lakehouse_assets.contracts.file_changes import FILE_CHANGES
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.effects import reached
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.concurrency import holding
from lakehouse_assets.lake.local_engine import LocalEngine, local_engine
from lakehouse_assets.lake.maintained import Done, record
from lakehouse_assets.lake.published import is_readable
from lakehouse_assets.lake.scan import relation
from lakehouse_assets.lake.small_writes import small_service
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.holds import Hold, holds_of
from lakehouse_assets.plan.scope import Scopes, equal_scopes

_UNREFERENCED = {
    BLOBS: "SELECT blob_sha, size AS bytes FROM {blobs} ANTI JOIN {referenced} USING (blob_sha)",
    EXTRACTS: """
SELECT e.blob_sha, e.language, e.extractor, octet_length(e.payload) + strlen(e.summary) AS bytes
FROM {extracts} AS e
LEFT JOIN {referenced} AS r ON r.blob_sha = e.blob_sha
LEFT JOIN {present} AS p ON p.language = e.language
WHERE r.blob_sha IS NULL OR (e.extractor IS DISTINCT FROM p.extractor AND EXISTS (
  SELECT 1 FROM {extracts} AS n
  WHERE n.blob_sha = e.blob_sha AND n.language = e.language AND n.extractor = p.extractor))""",
}


@dataclass(frozen=True, kw_only=True)
class Unreferenced:
    """Rows of one table that nobody refers to; bytes are of the contents, before compression."""

    table: str
    rows: int
    bytes: int


def collect_contents(
    lake: Lake, holds: Sequence[Hold], extractors: Mapping[str, str], *, dry_run: bool
) -> list[Unreferenced]:
    """Delete contents and extracts that nobody refers to, or tell which they are."""
    tables = [each for each in (BLOBS, EXTRACTS) if lake.exists(each)]
    with ExitStack() as locks:
        if not dry_run:
            locks.enter_context(holding(lake.locks, SNAPSHOTS, ()))
        engine = locks.enter_context(local_engine())
        referenced, _ = engine.keep("referenced", _referenced(lake, holds))
        languages = pa.table({"language": list(extractors), "extractor": list(extractors.values())})
        names = {"referenced": referenced, **engine.give({"present": languages})}
        return [_collect(lake, engine, contract, names, dry_run=dry_run) for contract in tables]


def _referenced(lake: Lake, holds: Sequence[Hold]) -> str:
    """The contents that a file has, at the head or in a version that is held, or had before the last update."""
    parts = [f"SELECT blob_sha FROM {relation(lake, SNAPSHOTS)}"]
    parts += [f"SELECT {name} FROM {relation(lake, FILE_CHANGES)}" for name in ("old_blob", "new_blob")]
    held: dict[int, set[str | None]] = {}
    for hold in holds_of(SNAPSHOTS.name, holds):
        if hold.version is not None:
            held.setdefault(hold.version, set()).add(hold.partition)
    for version, partitions in sorted(held.items()):
        for scopes in _readable(lake, version, partitions):
            parts.append(f"SELECT blob_sha FROM {relation(lake, SNAPSHOTS, version=version, scopes=scopes)}")
    return " UNION ".join(parts)


def _readable(lake: Lake, version: int, partitions: Set[str | None]) -> list[Scopes]:
    """What can still be read of a held version, in as few readings as can be: thousands of repositories may have been
    published at one. `None` holds all of it."""
    if None in partitions and is_readable(lake, SNAPSHOTS, version, ()):
        return [()]
    named = equal_scopes(SNAPSHOTS.partition_by[0], sorted(name for name in partitions if name is not None))
    if named and is_readable(lake, SNAPSHOTS, version, named):
        return [named]
    return [(scope,) for scope in named if is_readable(lake, SNAPSHOTS, version, (scope,))]


def _collect(
    lake: Lake, engine: LocalEngine, contract: TableContract, names: Mapping[str, str], *, dry_run: bool
) -> Unreferenced:
    started = time.perf_counter()
    query = _UNREFERENCED[contract].format(**names, **{contract.name: relation(lake, contract)})
    found, rows = engine.keep(f"unreferenced_{contract.name}", query)
    (total,) = engine.ask(f"SELECT coalesce(sum(bytes), 0)::BIGINT AS bytes FROM {found}")
    if rows and not dry_run:
        keys = engine.ask_arrow(f"SELECT {', '.join(contract.key)} FROM {found}")
        before = lake.size(contract).files
        _delete(lake, contract, keys)
        after = lake.size(contract)
        done = Done(
            asset=contract.name,
            action="gc",
            version=after.version,
            files_before=before,
            files_after=after.files,
            rows_deleted=rows,
            seconds=time.perf_counter() - started,
        )
        record(lake, done)
    return Unreferenced(table=contract.name, rows=rows, bytes=total["bytes"])


def _delete(lake: Lake, contract: TableContract, keys: pa.Table) -> None:
    """By keys alone, and without a key of a materialization: nothing is made of anything here."""
    batch = Batch(rows=keys, keys=(), strategy="delete_matching", if_changed=True)
    reached("delete: before commit")
    small_service(lake).write(contract, batch, {}, run_id=f"gc-{uuid4().hex}")
    reached("delete: after commit")
