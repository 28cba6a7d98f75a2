"""The definitions that an update changed, from the extracts of the contents before and after it.

Cost: the definitions of the changed files alone, which are read without the rest of their extracts. A content that
the present extractor has not read, as one from before it was improved, is read now.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lakehouse_assets.change.diff_steps import DIFFS_ROWS
from lakehouse_assets.change.moves import Columns, FilePair, moves, numbered
from lakehouse_assets.change.renames import ReadTexts
from lakehouse_assets.contracts.diffs import DIFFS
from lakehouse_assets.contracts.extracts import EXTRACTS
from lakehouse_assets.contracts.file_changes import FILE_CHANGES
from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.extract.extractor import extract
from lakehouse_assets.extract.packing import unpack
from lakehouse_assets.extract.symbols import symbol_id, symbol_of
from lakehouse_assets.lake.local_engine import local_engine
from lakehouse_assets.lake.step_engine import StepEngine
from lakehouse_assets.lake.stored_texts import stored_texts
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.sql_text import in_list, literal

if TYPE_CHECKING:
    from lakehouse_assets.lake.step_engine import Rows

Content = tuple[str, str]
"""A blob and the language it is read as."""

_TEXT = pa.string()
_KEPT = pa.schema(
    {
        "kind": _TEXT,
        "name": _TEXT,
        "line": pa.int32(),
        "signature": _TEXT,
        "signature_hash": _TEXT,
        "body_hash": _TEXT,
    }
)
"""What the step reads of the columns that an extract has."""
_DEFINITIONS = pa.schema(
    [
        *pa.schema({"repo": _TEXT, "path": _TEXT, "old_path": _TEXT}),
        *pa.schema({"symbol": _TEXT, "def_id": pa.int64(), "present_symbol": _TEXT}),
        *_KEPT,
    ]
)
_MOVES = pa.schema({"repo": _TEXT, "old_symbol": _TEXT, "symbol": _TEXT})
_COMMITS = pa.schema({"of_repo": _TEXT, "from_commit": _TEXT, "to_commit": _TEXT})


@dataclass(frozen=True, kw_only=True)
class Definitions:
    """The definitions of the files that an update changed, as they were and as they are, and which of them moved."""

    old: pa.Table
    new: pa.Table
    moved: pa.Table
    commits: pa.Table


def changed_definitions(lake: Lake, repo: str, extractors: Mapping[str, str]) -> Definitions:
    """Those of the repository's last update; none after its first, which has nothing to compare with.

    `extractors` has the version of the extractor of each language that has one.
    """
    where = f"repo = {literal(repo, 'datafusion')} AND from_commit IS NOT NULL"
    return definitions_of(lake, lake.read(FILE_CHANGES, where=where), extractors, partial(stored_texts, lake))


def definitions_of(lake: Lake, file_changes: pa.Table, extractors: Mapping[str, str], read: ReadTexts) -> Definitions:
    """Those of files in rows of `file_changes` of one update; `read` gives texts that are not extracted yet."""
    changed = [row for row in file_changes.to_pylist() if row["change"] != "mode_changed"]
    wanted = {
        content
        for row in changed
        for content in (_content(row, "old", extractors), _content(row, "new", extractors))
        if content is not None
    }
    held = _definitions(lake, wanted, extractors, read)

    def side(row: Mapping[str, Any], which: str) -> Columns | None:
        content = _content(row, which, extractors)
        return held.get(content) if content is not None else None

    files = [
        FilePair(path=row["path"], old_path=row["old_path"], old=side(row, "old"), new=side(row, "new"))
        for row in changed
    ]
    first = changed[0] if changed else dict.fromkeys(("repo", "from_commit", "to_commit"), "")
    return paired_definitions(files, first["repo"], first["from_commit"], first["to_commit"])


def diffs(engine: StepEngine, found: Sequence[Definitions]) -> "Rows":
    """What became of definitions, as rows of `diffs`."""
    names = engine.give(
        {
            "old_definitions": pa.concat_tables([each.old for each in found]),
            "new_definitions": pa.concat_tables([each.new for each in found]),
            "moves": pa.concat_tables([each.moved for each in found]),
            "commits_between": pa.concat_tables([each.commits for each in found]),
        }
    )
    return engine.rows(DIFFS, DIFFS_ROWS.text(names))


def compare_definitions(found: Definitions) -> pa.Table:
    """The same of one update, in this process."""
    with local_engine() as engine:
        rows = diffs(engine, [found])
        assert isinstance(rows, pa.Table)
        return rows


def _content(row: Mapping[str, Any], which: str, extractors: Mapping[str, str]) -> Content | None:
    blob_sha, language = row[f"{which}_blob"], row[f"{which}_language"]
    return (blob_sha, language) if blob_sha is not None and language in extractors else None


def _definitions(
    lake: Lake, wanted: set[Content], extractors: Mapping[str, str], read: ReadTexts
) -> dict[Content, Columns]:
    if not wanted:
        return {}
    blobs = in_list('"blob_sha"', sorted({blob_sha for blob_sha, _ in wanted}), "datafusion")
    versions = in_list('"extractor"', sorted(set(extractors.values())), "datafusion")
    columns = ["blob_sha", "language", "extractor", "payload"]
    rows = lake.read(EXTRACTS, columns=columns, where=f"{blobs} AND {versions}")
    found: dict[Content, Columns] = {}
    for blob_sha, language, extractor, payload in zip(*(rows[name].to_pylist() for name in columns), strict=True):
        if (blob_sha, language) in wanted and extractors[language] == extractor:
            found[(blob_sha, language)] = _lists(unpack(payload, tables=("defs",))["defs"])
    return found | _extracted_now(sorted(wanted - found.keys()), read)


def _extracted_now(missing: Sequence[Content], read: ReadTexts) -> dict[Content, Columns]:
    if not missing:
        return {}
    texts = read(sorted({blob_sha for blob_sha, _ in missing}))
    report("diffs", EXTRACTS.name, "read contents that the present extractor had not read", contents=len(texts))
    return {
        (blob_sha, language): extract(texts[blob_sha], language).defs
        for blob_sha, language in missing
        if blob_sha in texts
    }


def _lists(table: pa.Table) -> Columns:
    return {name: table[name].to_pylist() for name in table.column_names}


def paired_definitions(files: Sequence[FilePair], repo: str, from_commit: str | None, to_commit: str) -> Definitions:
    """The definitions of a repository's files before and after an update."""
    moved = [{"repo": repo, **each._asdict()} for each in moves(files)]
    commits = [{"of_repo": repo, "from_commit": from_commit, "to_commit": to_commit}]
    return Definitions(
        old=_as_rows(repo, ((file, file.old, file.old_path or file.path) for file in files)),
        new=_as_rows(repo, ((file, file.new, file.path) for file in files)),
        moved=pa.Table.from_pylist(moved, schema=_MOVES),
        commits=pa.Table.from_pylist(commits, schema=_COMMITS),
    )


def _as_rows(repo: str, sides: Iterable[tuple[FilePair, Columns | None, str]]) -> pa.Table:
    """The definitions that stand by themselves, as the step reads them. A side is a file, and what it is or was."""
    held: dict[str, list[Any]] = {name: [] for name in _DEFINITIONS.names}
    for file, columns, path in sides:
        if columns is None:
            continue
        numbers = numbered(columns)
        symbols = [symbol_of(path, descriptor) for descriptor in numbers]
        held["repo"] += [repo] * len(numbers)
        held["path"] += [file.path] * len(numbers)
        held["old_path"] += [path] * len(numbers)
        held["symbol"] += symbols
        held["def_id"] += map(symbol_id, symbols)
        held["present_symbol"] += (
            symbols if path == file.path else [symbol_of(file.path, descriptor) for descriptor in numbers]
        )
        for name in _KEPT.names:
            held[name] += [columns[name][number] for number in numbers.values()]
    return pa.table(held, schema=_DEFINITIONS)
