"""The definitions that an update changed, from the contents that `file_changes` names."""

import pyarrow as pa
import pytest

from lakehouse_assets.contracts.blobs import BLOBS
from lakehouse_assets.contracts.diffs import DIFFS
from lakehouse_assets.contracts.extracts import EXTRACTS
from lakehouse_assets.contracts.file_changes import FILE_CHANGES
from lakehouse_assets.extract.rows import extract_rows
from lakehouse_assets.lake import changed_definitions as module
from lakehouse_assets.lake.changed_definitions import changed_definitions, compare_definitions
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.writes import table_of, write

EXTRACTORS = {"Python": "v1"}
OLD = "def f(x):\n    return x\n"
NEW = "# a comment\ndef f(x, y):\n    return x\n"


def change(path: str, old: str | None, new: str | None, **more):
    row = {
        "repo": "shop",
        "path": path,
        "change": "modified",
        "old_path": path if old else None,
        "old_blob": old,
        "new_blob": new,
        "old_mode": None,
        "new_mode": None,
        "old_language": "Python",
        "new_language": "Python",
        "similarity": None,
        "from_commit": "c1",
        "to_commit": "c2",
    }
    return {**row, **more}


@pytest.fixture
def lake(lake: Lake) -> Lake:
    blobs = [
        {"blob_sha": sha, "size": len(text), "encoding": "utf-8", "text": text, "reason": None}
        for sha, text in {"old": OLD, "new": NEW, "same": NEW + "# more\n"}.items()
    ]
    write(lake, BLOBS, table_of(BLOBS, blobs), partitions={"shop": ()})
    return lake


def extract_all(lake: Lake, extractor: str) -> None:
    contents = [
        {"blob_sha": row["blob_sha"], "language": "Python", "extractor": extractor, "text": row["text"]}
        for row in lake.rows(BLOBS)
    ]
    batches = extract_rows(iter(pa.Table.from_pylist(contents).to_batches()))
    write(lake, EXTRACTS, pa.Table.from_batches(batches), partitions={"shop": ()}, run_id=extractor)


def diffs(lake: Lake, *changes) -> list[tuple[str, str, str]]:
    write(lake, FILE_CHANGES, table_of(FILE_CHANGES, changes), partitions=("shop",), run_id=str(changes))
    rows = compare_definitions(changed_definitions(lake, "shop", EXTRACTORS))
    write(lake, DIFFS, rows, partitions=("shop",), run_id=str(changes))
    return [(row["path"], row["symbol"], row["change"]) for row in rows.to_pylist()]


def test_the_definitions_of_both_contents_are_compared(lake: Lake):
    extract_all(lake, "v1")
    assert diffs(lake, change("a.py", "old", "new")) == [("a.py", "`a.py`/f().", "signature_changed")]
    (row,) = lake.rows(DIFFS)
    assert (row["old_line"], row["line"], row["old_signature"], row["signature"]) == (1, 2, "(x)", "(x, y)")
    assert (row["from_commit"], row["to_commit"]) == ("c1", "c2")


def test_a_comment_gives_no_rows(lake: Lake):
    extract_all(lake, "v1")
    assert diffs(lake, change("a.py", "new", "same")) == []


def test_contents_that_the_present_extractor_has_not_read_are_read_now(lake: Lake):
    extract_all(lake, "v0")
    assert diffs(lake, change("a.py", "old", "new")) == [("a.py", "`a.py`/f().", "signature_changed")]


def test_what_is_extracted_is_not_read_again(lake: Lake, monkeypatch: pytest.MonkeyPatch):
    extract_all(lake, "v1")
    monkeypatch.setattr(module, "extract", None)
    assert len(diffs(lake, change("a.py", "old", "new"))) == 1


def test_files_without_definitions_and_changed_modes_give_no_rows(lake: Lake):
    changes = [
        change("a.txt", "old", "new", old_language=None, new_language="Text"),
        change("b.py", "old", "old", change="mode_changed"),
    ]
    assert diffs(lake, *changes) == []


def test_the_first_update_has_nothing_to_compare_with(lake: Lake):
    assert diffs(lake, change("a.py", None, "new", change="added", from_commit=None)) == []


def test_a_removed_file_takes_its_definitions_along(lake: Lake):
    assert diffs(lake, change("a.py", "old", None, change="deleted", new_language=None)) == [
        ("a.py", "`a.py`/", "removed"),
        ("a.py", "`a.py`/f().", "removed"),
    ]
