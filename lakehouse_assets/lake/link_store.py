"""What linking needs of the lake: files, summaries, its own state, and the other repositories.

Invariant: linking reads the lake as it is and writes nothing; its result goes through the IO manager like any other.
Cost of an update: the repository's paths and its state (a few columns), and the summaries of the files looked at.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute

from lakehouse_assets.contracts.exported_defs import EXPORTED_DEFS
from lakehouse_assets.contracts.extracts import EXTRACTS
from lakehouse_assets.contracts.imports_resolved import IMPORTS_RESOLVED
from lakehouse_assets.contracts.link_files import LINK_FILES
from lakehouse_assets.contracts.link_state import LINK_STATE, PARTS
from lakehouse_assets.contracts.links import LINKS
from lakehouse_assets.contracts.module_index import MODULE_INDEX
from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.table import REPO
from lakehouse_assets.lake.commit_log import is_plain
from lakehouse_assets.lake.data_files import open_parquet
from lakehouse_assets.lake.log_range import data_files
from lakehouse_assets.lake.neighbours import NeighbourVersions, ReadKey
from lakehouse_assets.lake.source_files import Selection, not_extracted, source_files
from lakehouse_assets.lake.spark_errors import delta_errors
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.link.keys import ELSEWHERE, PART
from lakehouse_assets.link.repository import LinkResult
from lakehouse_assets.link.state import COLUMNS, FILES, LinkState
from lakehouse_assets.plan.scope import equal_scopes
from lakehouse_assets.plan.sql_text import in_list

Extractors = Mapping[str, str]
Load = Callable[[Sequence[str]], Mapping[str, dict[str, Any]]]

_EMPTY: dict[str, Any] = {"key": 0, "hash": 0, "name": "", "value": "", "rounds": 0, "owner": ""}

_ROWS = (MODULE_INDEX, EXPORTED_DEFS, IMPORTS_RESOLVED, LINKS)
"""What linking makes for others."""


class Summaries:
    """The summaries of one repository's files at the head, read when they are asked for."""

    def __init__(self, lake: Lake, repo: str, extractors: Extractors, *, version: int | None = None) -> None:
        self._lake = lake
        self._repo = repo
        self._files = source_files(lake, Selection(repos=(repo,)), extractors, version=version)
        columns = (self._files[name].to_pylist() for name in ("path", "blob_sha", "language", "extractor"))
        self._keys = {path: (sha, language, version) for path, sha, language, version in zip(*columns, strict=True)}

    @property
    def blobs(self) -> dict[str, str]:
        return {path: key[0] for path, key in self._keys.items()}

    def load(self, paths: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Summaries by path; a path that is not there is left out."""
        wanted = {path: self._keys[path] for path in paths if path in self._keys}
        if not wanted:
            return {}
        where = in_list('"blob_sha"', sorted({sha for sha, _, _ in wanted.values()}), "datafusion")
        columns = ["blob_sha", "language", "extractor", "summary"]
        rows = self._lake.read(EXTRACTS, columns=columns, where=where)
        texts = {
            (sha, language, version): text
            for sha, language, version, text in zip(*(rows[name].to_pylist() for name in columns), strict=True)
        }
        missing = [path for path, key in wanted.items() if key not in texts]
        if missing:
            raise not_extracted(len(missing), f" of {self._repo!r}")
        return {path: json.loads(texts[key]) for path, key in wanted.items()}


class Others:
    """The other registered repositories, as far as they are in the lake, for one that is linked."""

    def __init__(self, lake: Lake, repo: str, versions: NeighbourVersions, extractors: Extractors) -> None:
        self._lake = lake
        self._repo = repo
        self._versions = versions
        self._extractors = extractors
        self._summaries: dict[str, Summaries] = {}
        before = versions.read_by(repo)
        now = versions.now(repo, before)
        moved = [key for key in before if now[key] != before[key]]
        self._moved = {name if kind == "repository" else "" for kind, name in moved}

    def offering(self, top: str) -> Sequence[str]:
        return self._versions.offering(self._repo, top)

    def may_differ(self, repo: str) -> bool:
        return repo in self._moved

    def paths(self, repo: str) -> Sequence[str]:
        return sorted(self._of(repo).blobs) if self._versions.content(repo) else ()

    def load(self, repo: str, paths: Sequence[str]) -> Mapping[str, dict[str, Any]]:
        return self._of(repo).load(paths) if self._versions.content(repo) else {}

    def _of(self, repo: str) -> Summaries:
        if repo not in self._summaries:
            version = self._versions.settled_at(repo)
            self._summaries[repo] = Summaries(self._lake, repo, self._extractors, version=version)
        return self._summaries[repo]


def read_state(lake: Lake, repo: str) -> LinkState:
    """Read what the last linking of the repository kept.

    Texts stay dictionaries, as they are stored: hundreds of thousands of them are never made into objects. Rows are
    dealt to their parts file by file, so that they are held once.
    """
    files = lake.read(LINK_FILES, where=in_list('"repo"', [repo], "datafusion"))
    held: dict[str, list[pa.Table]] = {part: [] for part in PARTS}
    for rows in _state_rows(lake, repo):
        kind = rows["part"].combine_chunks()
        number_of = {part: number for number, part in enumerate(kind.dictionary.to_pylist())}
        for part in number_of.keys() & held.keys():
            here = np.asarray(kind.indices) == number_of[part]
            held[part].append(rows.select(COLUMNS[part]).filter(pa.array(here)))
    empty = _with_dictionaries(arrow_schema(LINK_STATE.columns).empty_table())
    tables: dict[str, Mapping[str, Any]] = {"files": _columns(files, FILES)}
    for part in PARTS:
        found = pa.concat_tables([empty.select(COLUMNS[part]), *held.pop(part)])
        tables[part] = _columns(found.unify_dictionaries(), COLUMNS[part])
    return LinkState(tables)


def _state_rows(lake: Lake, repo: str) -> Iterator[pa.Table]:
    """Read the rows of the state file by file, with texts as dictionaries."""
    columns = [
        LINK_STATE.column(name) for name in dict.fromkeys(["part", *(n for part in PARTS for n in COLUMNS[part])])
    ]
    names = [each.name for each in columns]
    texts = [each.name for each in columns if each.type == "string"]
    table, folder = lake.present(LINK_STATE), lake.path(LINK_STATE)
    if is_plain(table):
        with delta_errors(f"table {LINK_STATE.name}"):
            for each in data_files(table, folder, LINK_STATE, equal_scopes(REPO.name, [repo])):
                yield open_parquet(each, read_dictionary=texts).read(names, use_threads=False)
    else:
        yield _with_dictionaries(lake.read(LINK_STATE, columns=names, where=in_list('"repo"', [repo], "datafusion")))


def _with_dictionaries(rows: pa.Table) -> pa.Table:
    """Encode the texts of rows as dictionaries."""
    for number, field in enumerate(rows.schema):
        if pa.types.is_string(field.type):
            rows = rows.set_column(number, field.name, rows[field.name].dictionary_encode())
    return rows


def names_elsewhere(state: pa.Table) -> set[str]:
    """Names of the facts of other repositories in rows of `link_state`."""
    return set(state.filter(compute.field("part") == "elsewhere")["name"].to_pylist())


def neighbour_reads(names: Iterable[str]) -> set[ReadKey]:
    """What facts of other repositories, by their names in the state, were read of."""
    found: set[ReadKey] = set()
    for name in names:
        repo, _, there = name.split(PART, 2)[1].partition(ELSEWHERE)
        found.add(("repository", repo) if repo else ("module", there))
    return found


def rows_by_table(repo: str, result: LinkResult) -> dict[str, pa.Table]:
    """All rows of a linking."""
    tables = result.state.tables()
    files = {"repo": [repo] * len(tables["files"]["path"]), **tables["files"]}
    parts = [_part(repo, part, tables[part]) for part in PARTS]
    return {
        **{each.name: pa.table(getattr(result, each.name), schema=arrow_schema(each.columns)) for each in _ROWS},
        LINK_FILES.name: pa.table(files, schema=arrow_schema(LINK_FILES.columns)),
        LINK_STATE.name: pa.concat_tables(parts),
    }


def _part(repo: str, part: str, columns: Mapping[str, Sequence[Any]]) -> pa.Table:
    count = len(columns["path"])
    schema = arrow_schema(LINK_STATE.columns)
    held: dict[str, Any] = {"repo": [repo] * count, "part": [part] * count, **columns}
    return pa.table([pa.array(held.get(f.name, [_EMPTY.get(f.name)] * count), f.type) for f in schema], schema=schema)


def _columns(rows: pa.Table, names: Sequence[str]) -> dict[str, pa.Array]:
    return {name: rows[name].combine_chunks() for name in names}
