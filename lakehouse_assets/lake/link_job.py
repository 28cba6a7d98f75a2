"""Repositories linked from nothing on Spark: the small ones a task each, a large one in parts, a stage for each round.

Invariant: the rows are those of one process, to the last. Between rounds parts are put aside (`link/parts.py`), and
what their files told is written by whose variables it is about, where the tasks of the next round look for it.

Cost: a task holds its own files, what others may know of the files that these lead to, and what is told about these.
This process sees paths, and how much was done.
"""

import gc
import json
import pickle
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lakehouse_assets.contracts.exported_defs import EXPORTED_DEFS
from lakehouse_assets.contracts.imports_resolved import IMPORTS_RESOLVED
from lakehouse_assets.contracts.link_files import LINK_FILES
from lakehouse_assets.contracts.link_state import LINK_STATE
from lakehouse_assets.contracts.links import LINKS
from lakehouse_assets.contracts.module_index import MODULE_INDEX
from lakehouse_assets.contracts.schemas import arrow_schema, spark_schema
from lakehouse_assets.contracts.table import Column, TableContract
from lakehouse_assets.core.collector import undisturbed
from lakehouse_assets.core.deep_calls import on_deep_stack
from lakehouse_assets.lake.batch import WorkerRows
from lakehouse_assets.lake.frames import frame_of
from lakehouse_assets.lake.link_shelf import Buckets, HeardFromShelf, Shelf
from lakehouse_assets.lake.link_store import Extractors, Others, names_elsewhere, neighbour_reads, rows_by_table
from lakehouse_assets.lake.making import on_worker
from lakehouse_assets.lake.neighbours import NeighbourVersions, ReadKey
from lakehouse_assets.lake.source_files import Selection, extracts_on_spark, source_files
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.link.heard import Heap, owner_of
from lakehouse_assets.link.parts import Part, dealt, interface
from lakehouse_assets.link.repository import link_repository
from lakehouse_assets.link.rounds import ROUNDS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RecordBatches = Iterator[pa.RecordBatch]
Columns = dict[str, list[Any]]

FILES_A_PART = 200
BYTES_A_PART = 2_000_000
"""Maximum files of a part, and bytes of their sources.

On django a worker that links parts of 400 files one after the other peaks at 980 MB, with parts of 200 files at 560 MB.
Both take the same CPU seconds.
"""

_TABLES = (MODULE_INDEX, EXPORTED_DEFS, IMPORTS_RESOLVED, LINKS, LINK_FILES, LINK_STATE)
_READS, _DONE = "reads", "done"
"""Beside the tables: which other repositories and modules were read, and how much was done."""


def _all_columns() -> tuple[Column, ...]:
    found = {each.name: each for contract in _TABLES for each in contract.columns}
    return tuple(found.values())


_COLUMNS = _all_columns()
_WIDE = pa.schema([pa.field("table", pa.string()), *arrow_schema(_COLUMNS)])
"""One schema for the rows of all tables: columns of one name have one type in all of them."""

_HANDED = pa.schema(
    {
        "kind": pa.string(),
        "bucket": pa.int32(),
        "path": pa.string(),
        "summary": pa.string(),
        "owner": pa.string(),
        "name": pa.string(),
        "told": pa.list_(pa.string()),
        "kept": pa.binary(),
    }
)
_HANDED_DDL = (
    "kind string, bucket int, path string, summary string, owner string, name string, told array<string>, kept binary"
)


@dataclass(frozen=True, kw_only=True)
class Piece:
    """Files of a repository that one task links: all of them, or a part."""

    number: int
    repo: str
    paths: tuple[str, ...]
    buckets: Buckets
    """Where rows about the repository's files are."""

    @property
    def is_whole(self) -> bool:
        """Whether the repository has no other pieces."""
        return not self.buckets.starts


@dataclass(frozen=True, kw_only=True)
class LinkedOnSpark:
    """What was linked, on the shelf until that is cleared; what was read of other repositories; what was done."""

    spark: "SparkSession"
    place: str
    reads: Mapping[str, set[ReadKey]]
    solves: Mapping[str, int]
    files: Mapping[str, int]
    pieces: Mapping[str, int]
    _ddl: str = field(default_factory=lambda: f"table string, {spark_schema(_COLUMNS).toDDL()}")

    def rows(self, contract: TableContract, repos: Sequence[str]) -> WorkerRows:
        """The rows of a table for some of the repositories."""
        from pyspark.sql import functions

        found = self.spark.read.schema(self._ddl).parquet(self.place)
        mine = found.where((functions.col("table") == contract.name) & functions.col("repo").isin(list(repos)))
        return WorkerRows(items=mine.select(*contract.column_names), produce=_as_they_are)


def _as_they_are(rows: RecordBatches) -> RecordBatches:
    return rows


def link_on_spark(
    spark: "SparkSession",
    lake: Lake,
    repos: Sequence[str],
    versions: NeighbourVersions,
    extractors: Extractors,
    shelf: Shelf,
) -> LinkedOnSpark:
    """Link all files of the repositories."""
    files = source_files(lake, Selection(repos=tuple(repos)), extractors)
    by_repo: dict[str, dict[str, tuple[str, int]]] = {repo: {} for repo in repos}
    columns = (files[name].to_pylist() for name in ("repo", "path", "blob_sha", "size"))
    for repo, path, sha, size in zip(*columns, strict=True):
        by_repo[repo][path] = (sha, size)
    pieces = list(_pieces(by_repo))
    number_of = {(piece.repo, path): piece.number for piece in pieces for path in piece.paths}
    numbers = [number_of[key] for key in zip(files["repo"].to_pylist(), files["path"].to_pylist(), strict=True)]
    files = files.append_column("piece", pa.array(numbers, pa.int32()))
    blobs = {repo: {path: sha for path, (sha, _) in held.items()} for repo, held in by_repo.items()}
    world = _World(lake=lake, versions=versions, extractors=extractors, shelf=shelf)
    rows = shelf.path("rows")
    for pieces_of in ([each for each in pieces if each.is_whole], [each for each in pieces if not each.is_whole]):
        if not pieces_of:
            continue
        chosen = files.filter(
            pa.array([number in {each.number for each in pieces_of} for number in numbers], pa.bool_())
        )
        work = extracts_on_spark(spark, lake, chosen, ["summary"])
        if pieces_of[0].is_whole:
            made = _link_whole(work, world, len(pieces_of))
        else:
            made = _link_in_rounds(spark, work, world, pieces_of, blobs)
        made.write.mode("append").partitionBy("table").parquet(rows)
    if not pieces:
        frame_of(spark, _WIDE.empty_table()).write.mode("append").partitionBy("table").parquet(rows)
    return _told(spark, rows, repos, pieces, blobs)


def _pieces(by_repo: Mapping[str, Mapping[str, tuple[str, int]]]) -> Iterator[Piece]:
    first = 0
    for repo, held in by_repo.items():
        parts = list(dealt({path: size for path, (_, size) in held.items()}, files=FILES_A_PART, size=BYTES_A_PART))
        buckets = Buckets(first=first, starts=tuple(paths[0] for paths in parts[1:]))
        for number, paths in enumerate(parts, first):
            yield Piece(number=number, repo=repo, paths=tuple(paths), buckets=buckets)
        first += len(parts)


def _told(
    spark: "SparkSession",
    place: str,
    repos: Sequence[str],
    pieces: Sequence[Piece],
    blobs: Mapping[str, Mapping[str, str]],
) -> LinkedOnSpark:
    found = LinkedOnSpark(
        spark=spark,
        place=place,
        reads={repo: set() for repo in repos},
        solves=dict.fromkeys(repos, 0),
        files={repo: len(held) for repo, held in blobs.items()},
        pieces={repo: sum(each.repo == repo for each in pieces) for repo in repos},
    )
    frame = spark.read.schema(found._ddl).parquet(place)
    beside = frame.where(f"table IN ('{_READS}', '{_DONE}')").groupBy("table", "repo", "kind", "name")
    solves = dict(found.solves)
    for row in beside.sum("key").toArrow().to_pylist():
        if row["table"] == _DONE:
            solves[row["repo"]] = row["sum(key)"]
        else:
            found.reads[row["repo"]].add((row["kind"], row["name"]))
    return LinkedOnSpark(**{**found.__dict__, "solves": solves})


# What follows runs on the workers.


@dataclass(frozen=True, kw_only=True)
class _World:
    """What tasks link with, besides their files."""

    lake: Lake
    versions: NeighbourVersions
    extractors: Extractors
    shelf: Shelf

    def others(self, repo: str) -> Others:
        return Others(self.lake, repo, self.versions, self.extractors)


def _link_whole(work: "DataFrame", world: _World, pieces: int) -> "DataFrame":
    """A repository a task."""

    def link(batches: RecordBatches) -> RecordBatches:
        for _, rows in groupby(_rows(batches), key=lambda row: row["piece"]):
            held = list(rows)
            repo, texts = held[0]["repo"], {row["path"]: row["summary"] for row in held}
            result = link_repository(
                repo=repo,
                files={row["path"]: row["blob_sha"] for row in held},
                load=partial(_decoded, texts),
                neighbours=world.others(repo),
            )
            yield from _wide(repo, rows_by_table(repo, result), result.solves)

    dealt_out = work.repartitionByRange(pieces, "piece").sortWithinPartitions("piece", "path")
    return dealt_out.mapInArrow(on_worker(link), _ddl_of_rows())


def _rows(batches: RecordBatches) -> Iterator[dict[str, Any]]:
    for batch in batches:
        yield from batch.to_pylist()


def _decoded(texts: Mapping[str, str], paths: Sequence[str]) -> dict[str, dict[str, Any]]:
    return {path: json.loads(texts[path]) for path in paths if path in texts}


def _ddl_of_rows() -> str:
    return f"table string, {spark_schema(_COLUMNS).toDDL()}"


def _wide(repo: str, tables: Mapping[str, pa.Table], solves: int) -> RecordBatches:
    """The rows of all tables in one schema, and what is told beside them."""
    reads = neighbour_reads(names_elsewhere(tables[LINK_STATE.name]))
    beside: list[dict[str, Any]] = [{"table": _DONE, "repo": repo, "key": solves}]
    beside += [{"table": _READS, "repo": repo, "kind": kind, "name": name} for kind, name in sorted(reads)]
    yield from pa.Table.from_pylist(beside, schema=_WIDE).to_batches()
    for name, table in tables.items():
        named = table.append_column("table", pa.array([name] * table.num_rows, pa.string()))
        whole = [
            named[each.name] if each.name in named.column_names else pa.nulls(named.num_rows, each.type)
            for each in _WIDE
        ]
        yield from pa.table(whole, schema=_WIDE).to_batches(max_chunksize=50_000)


def _link_in_rounds(
    spark: "SparkSession",
    work: "DataFrame",
    world: _World,
    pieces: Sequence[Piece],
    blobs: Mapping[str, Mapping[str, str]],
) -> "DataFrame":
    """Large repositories: their files are dealt out, and then each round is a stage over all parts."""
    by_number = {piece.number: piece for piece in pieces}
    buckets = {piece.repo: piece.buckets for piece in pieces}
    shelf = world.shelf

    def split(batches: RecordBatches) -> RecordBatches:
        for batch in batches:
            columns = (batch.column(name).to_pylist() for name in ("repo", "path", "piece", "summary"))
            handed = _handed()
            for repo, path, piece, text in zip(*columns, strict=True):
                known = json.dumps(interface(json.loads(text)), separators=(",", ":"))
                _hand(handed, kind="body", bucket=piece, path=path, summary=text)
                _hand(handed, kind="interface", bucket=buckets[repo].of(path), path=path, summary=known)
            yield from _batches(handed)

    def put(frame: "DataFrame", name: str) -> None:
        dealt_out = frame.repartition(len(pieces), "kind", "bucket").sortWithinPartitions("kind", "bucket")
        dealt_out.write.partitionBy("kind", "bucket").parquet(shelf.path(name))

    put(work.mapInArrow(on_worker(split), _HANDED_DDL), "files")
    packed = zlib.compress(pickle.dumps({repo: blobs[repo] for repo in buckets}), 1)
    tasks = frame_of(spark, pa.table({"piece": pa.array(sorted(by_number), pa.int32())})).repartition(len(pieces))

    def step(number: int) -> Callable[[RecordBatches], RecordBatches]:
        def solve(batches: RecordBatches) -> RecordBatches:
            files: dict[str, dict[str, str]] = pickle.loads(zlib.decompress(packed))
            for row in _rows(batches):
                piece = by_number[row["piece"]]
                work = partial(_solved, world, piece, files[piece.repo], number)
                with undisturbed():
                    handed = on_deep_stack(work)
                gc.collect()  # the objects of a part refer to each other; eight parts of django peak at 680, not 770 MB
                yield from handed

        return solve

    for number in range(ROUNDS - 1):
        put(tasks.mapInArrow(on_worker(step(number)), _HANDED_DDL), f"round-{number}")
    return tasks.mapInArrow(on_worker(step(ROUNDS - 1)), _ddl_of_rows())


def _solved(world: _World, piece: Piece, files: Mapping[str, str], number: int) -> list[pa.RecordBatch]:
    """A round of a part: what it hands on, or its rows after the last one."""
    shelf, before = world.shelf, f"round-{number - 1}"
    bodies = shelf.read("files", "body", piece.number)
    texts = _texts(bodies)
    buckets = piece.buckets

    def load(paths: Sequence[str]) -> dict[str, dict[str, Any]]:
        found = _decoded(texts, paths)
        wanted: dict[int, list[str]] = {}
        for path in paths:
            if path not in texts and path in files:
                wanted.setdefault(buckets.of(path), []).append(path)
        for bucket, there in wanted.items():
            found |= _decoded(interfaces.of(bucket), there)
        return found

    interfaces = _Interfaces(shelf)
    kept = shelf.read(before, "kept", piece.number) if number else None
    part = Part(
        repo=piece.repo,
        files=files,
        mine=piece.paths,
        load=load,
        neighbours=world.others(piece.repo),
        kept=kept["kept"][0].as_py() if kept is not None else None,
    )
    part.solve(number, HeardFromShelf(shelf, before, buckets) if number else Heap())
    if number == ROUNDS - 1:
        result = part.result()
        return list(_wide(piece.repo, rows_by_table(piece.repo, result), result.solves))
    handed = _handed()
    for name, path, values in part.told(number).rows():
        owner = owner_of(name)
        _hand(handed, kind="told", bucket=buckets.of(owner), owner=owner, name=name, path=path, told=values)
    _hand(handed, kind="kept", bucket=piece.number, kept=part.kept())
    return list(_batches(handed))


class _Interfaces:
    """What files may know of each other, by bucket, as texts by path."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._found: dict[int, Mapping[str, str]] = {}

    def of(self, bucket: int) -> Mapping[str, str]:
        if bucket not in self._found:
            self._found[bucket] = _texts(self._shelf.read("files", "interface", bucket, keep=True))
        return self._found[bucket]


def _texts(table: pa.Table | None) -> dict[str, str]:
    if table is None:
        return {}
    return dict(zip(table["path"].to_pylist(), table["summary"].to_pylist(), strict=True))


def _handed() -> Columns:
    return {name: [] for name in _HANDED.names}


def _hand(handed: Columns, **values: Any) -> None:
    for name, column in handed.items():
        column.append(values.get(name))


def _batches(handed: Columns) -> RecordBatches:
    yield from pa.table(handed, schema=_HANDED).to_batches(max_chunksize=20_000)
