"""The definitions that an update changed, from the extracts of the contents before and after it.

Cost: the definitions of the changed files alone, which are read without the rest of their extracts. A content that
the present extractor has not read, as one from before it was improved, is read now.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pyarrow as pa

from lakehouse_assets.change.diffs import ChangedDefinition, FilePair, definition_changes
from lakehouse_assets.contracts.diffs import DIFFS
from lakehouse_assets.contracts.extracts import EXTRACTS
from lakehouse_assets.contracts.file_changes import FILE_CHANGES
from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.extract.extractor import extract
from lakehouse_assets.extract.packing import unpack
from lakehouse_assets.extract.symbols import symbol_id
from lakehouse_assets.lake.stored_texts import stored_texts
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.sql_text import in_list, literal

Content = tuple[str, str]
"""A blob and the language it is read as."""
Definitions = Mapping[str, Sequence[Any]]
ReadTexts = Callable[[Sequence[str]], Mapping[str, str]]


def changed_definitions(lake: Lake, repo: str, extractors: Mapping[str, str]) -> pa.Table:
    """Rows of `diffs` for the repository's last update; none after its first, which has nothing to compare with.

    `extractors` has the version of the extractor of each language that has one.
    """
    where = f"repo = {literal(repo, 'datafusion')} AND from_commit IS NOT NULL"
    files = lake.read(FILE_CHANGES, where=where).to_pylist()
    found = compare_definitions(lake, files, extractors, partial(stored_texts, lake))
    commits = (files[0]["from_commit"], files[0]["to_commit"]) if files else ("", "")
    return diff_rows(repo, found, *commits)


def compare_definitions(
    lake: Lake, files: Sequence[Mapping[str, Any]], extractors: Mapping[str, str], read: ReadTexts
) -> tuple[ChangedDefinition, ...]:
    """What changed in files that are given as rows of `file_changes`; `read` gives texts that are not extracted yet."""
    changed = [row for row in files if row["change"] != "mode_changed"]
    wanted = {
        content
        for row in changed
        for content in (_content(row, "old", extractors), _content(row, "new", extractors))
        if content is not None
    }
    held = _definitions(lake, wanted, extractors, read)

    def side(row: Mapping[str, Any], which: str) -> Definitions | None:
        content = _content(row, which, extractors)
        return held.get(content) if content is not None else None

    return definition_changes(
        FilePair(path=row["path"], old_path=row["old_path"], old=side(row, "old"), new=side(row, "new"))
        for row in changed
    )


def _content(row: Mapping[str, Any], which: str, extractors: Mapping[str, str]) -> Content | None:
    blob_sha, language = row[f"{which}_blob"], row[f"{which}_language"]
    return (blob_sha, language) if blob_sha is not None and language in extractors else None


def _definitions(
    lake: Lake, wanted: set[Content], extractors: Mapping[str, str], read: ReadTexts
) -> dict[Content, Definitions]:
    if not wanted:
        return {}
    blobs = in_list('"blob_sha"', sorted({blob_sha for blob_sha, _ in wanted}), "datafusion")
    versions = in_list('"extractor"', sorted(set(extractors.values())), "datafusion")
    columns = ["blob_sha", "language", "extractor", "payload"]
    rows = lake.read(EXTRACTS, columns=columns, where=f"{blobs} AND {versions}")
    found: dict[Content, Definitions] = {}
    for blob_sha, language, extractor, payload in zip(*(rows[name].to_pylist() for name in columns), strict=True):
        if (blob_sha, language) in wanted and extractors[language] == extractor:
            found[(blob_sha, language)] = _lists(unpack(payload, tables=("defs",))["defs"])
    return found | _extracted_now(sorted(wanted - found.keys()), read)


def _extracted_now(missing: Sequence[Content], read: ReadTexts) -> dict[Content, Definitions]:
    if not missing:
        return {}
    texts = read(sorted({blob_sha for blob_sha, _ in missing}))
    report("diffs", EXTRACTS.name, "read contents that the present extractor had not read", contents=len(texts))
    return {
        (blob_sha, language): extract(texts[blob_sha], language).defs
        for blob_sha, language in missing
        if blob_sha in texts
    }


def _lists(table: pa.Table) -> Definitions:
    return {name: table[name].to_pylist() for name in table.column_names}


def diff_rows(repo: str, found: Sequence[ChangedDefinition], from_commit: str, to_commit: str) -> pa.Table:
    """The changes as rows of `diffs`."""
    columns = {
        "repo": [repo] * len(found),
        "path": [each.path for each in found],
        "symbol": [each.present.symbol for each in found],
        "def_id": [symbol_id(each.present.symbol) for each in found],
        "change": [each.change for each in found],
        "kind": [each.present.kind for each in found],
        "name": [each.present.name for each in found],
        "body_differs": [each.body_differs for each in found],
        "line": [each.new.line if each.new else None for each in found],
        "signature": [each.new.signature if each.new else None for each in found],
        "old_path": [each.old.path if each.old else None for each in found],
        "old_symbol": [each.old.symbol if each.old else None for each in found],
        "old_def_id": [symbol_id(each.old.symbol) if each.old else None for each in found],
        "old_line": [each.old.line if each.old else None for each in found],
        "old_signature": [each.old.signature if each.old else None for each in found],
        "from_commit": [from_commit] * len(found),
        "to_commit": [to_commit] * len(found),
    }
    return pa.table(columns, schema=arrow_schema(DIFFS.columns))
