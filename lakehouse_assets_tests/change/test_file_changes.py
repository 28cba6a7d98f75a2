"""What became of each file, from two snapshots alone."""

import hashlib
import time
from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakehouse_assets.change import renames as module
from lakehouse_assets.change.renames import ReadTexts
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.lake.changed_files import compare_files, sides_of
from lakehouse_assets_tests.support.writes import table_of


class File(NamedTuple):
    blob_sha: str
    mode: str = "100644"
    size: int | None = None


Snapshot = dict[str, File]
Content = str | tuple[str, str]
"""A text, or a text with its mode."""

LONG = "".join(f"line {number}\n" for number in range(20))
OTHER = "".join(f"another {number}\n" for number in range(20))

_texts: dict[str, str] = {}


def snapshot(**files: Content) -> Snapshot:
    """Files by path; `__` stands for a slash and a trailing `_py` for the extension."""
    return {path.replace("__", "/").replace("_py", ".py"): file_of(content) for path, content in files.items()}


def file_of(content: Content) -> File:
    text, mode = content if isinstance(content, tuple) else (content, "100644")
    sha = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
    _texts[sha] = text
    return File(blob_sha=sha, mode=mode, size=len(text))


def read(shas: Sequence[str]) -> dict[str, str]:
    return {sha: _texts[sha] for sha in shas}


def nothing_read(shas: Sequence[str]) -> dict[str, str]:
    raise AssertionError(f"no text is needed, yet {shas} are asked for")


def rows_of(files: Snapshot) -> pa.Table:
    return table_of(SNAPSHOTS, ({"repo": "shop", "path": path, **file._asdict()} for path, file in files.items()))


class Compared(NamedTuple):
    rows: pa.Table
    notes: tuple[str, ...]


def file_changes(before: Snapshot, after: Snapshot, read: ReadTexts) -> Compared:
    sides = sides_of("shop", rows_of(before), rows_of(after), read, from_commit="c1", to_commit="c2")
    return Compared(rows=compare_files(sides), notes=sides.notes)


def told(changes: Compared) -> list[tuple[str, ...]]:
    return [
        (each["path"], each["change"])
        if each["old_path"] in (None, each["path"])
        else (each["path"], f"{each['change']} {each['similarity']}", each["old_path"])
        for each in changes.rows.to_pylist()
    ]


def test_added_modified_deleted_and_changed_modes_are_told_apart():
    before = snapshot(a_py="a", b_py="b", c_py="c", d_py="d")
    after = snapshot(a_py="a", b_py="b2", c_py=("c", "100755"), e_py="e")
    assert told(file_changes(before, after, read)) == [
        ("b.py", "modified"),
        ("c.py", "mode_changed"),
        ("d.py", "deleted"),
        ("e.py", "added"),
    ]


def test_equal_snapshots_have_no_changes():
    files = snapshot(a_py="a", b_py="b")
    assert told(file_changes(files, dict(reversed(files.items())), nothing_read)) == []


def test_a_file_with_the_same_content_elsewhere_is_renamed_without_reading_it():
    changes = file_changes(snapshot(a_py=LONG), snapshot(b_py=(LONG, "100755")), nothing_read)
    assert told(changes) == [("b.py", "renamed 100", "a.py")]
    (file,) = changes.rows.to_pylist()
    assert (file["old_mode"], file["new_mode"]) == ("100644", "100755")


def test_of_equal_contents_those_with_the_closest_names_are_one():
    before = snapshot(x__a_py=LONG, x__b_py=LONG)
    after = snapshot(y__b_py=LONG, y__a_py=LONG, y__c_py=LONG)
    assert told(file_changes(before, after, nothing_read)) == [
        ("y/a.py", "renamed 100", "x/a.py"),
        ("y/b.py", "renamed 100", "x/b.py"),
        ("y/c.py", "added"),
    ]


def test_empty_files_are_renamed_only_with_their_last_name():
    before = {"x/__init__.py": file_of(""), "x/empty.py": file_of("")}
    after = {"y/__init__.py": file_of(""), "y/void.py": file_of("")}
    assert told(file_changes(before, after, nothing_read)) == [
        ("x/empty.py", "deleted"),
        ("y/__init__.py", "renamed 100", "x/__init__.py"),
        ("y/void.py", "added"),
    ]


def test_a_file_with_most_of_its_lines_elsewhere_is_renamed():
    changed = LONG.replace("line 3\n", "line three\n")
    changes = file_changes(snapshot(a_py=LONG, o_py=OTHER), snapshot(b_py=changed, p_py="something else\n"), read)
    assert told(changes) == [("b.py", "renamed 92", "a.py"), ("o.py", "deleted"), ("p.py", "added")]


def test_a_file_with_less_than_half_of_its_lines_elsewhere_is_another():
    half = LONG[: len(LONG) // 3] + OTHER
    assert told(file_changes(snapshot(a_py=LONG), snapshot(b_py=half), read)) == [
        ("a.py", "deleted"),
        ("b.py", "added"),
    ]


def test_the_same_lines_in_another_order_are_not_the_same_content():
    reordered = "".join(reversed(LONG.splitlines(keepends=True)))
    assert told(file_changes(snapshot(a_py=LONG), snapshot(b_py=reordered), read)) == [("b.py", "renamed 99", "a.py")]


def test_the_most_similar_pair_comes_first():
    close, far = LONG + "x\n", LONG + OTHER[:40]
    changes = file_changes(snapshot(a_py=LONG), snapshot(b_py=far, c_py=close), read)
    assert told(changes) == [("b.py", "added"), ("c.py", "renamed 98", "a.py")]


def test_a_path_that_stays_is_the_same_file_whatever_else_moved():
    before = snapshot(a_py=LONG)
    after = snapshot(a_py=OTHER, b_py=LONG)
    assert told(file_changes(before, after, nothing_read)) == [("a.py", "modified"), ("b.py", "added")]


def test_large_files_are_not_compared_and_it_is_said(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "LARGEST_COMPARED", len(LONG))
    before = snapshot(a_py=LONG, big_py=LONG + OTHER)
    changes = file_changes(before, snapshot(b_py=LONG[:-1], c_py=LONG + OTHER + "x"), read)
    assert [change for _, change, *_ in told(changes)] == ["renamed 94", "deleted", "added"]
    assert changes.notes == (f"2 files over {len(LONG)} bytes were not compared by their text",)


def test_too_many_files_are_not_compared_and_it_is_said(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "MOST_COMPARED", 1)
    changes = file_changes(snapshot(a_py=LONG, b_py=OTHER), snapshot(c_py=LONG + "x"), nothing_read)
    assert [change for _, change in told(changes)] == ["deleted", "deleted", "added"]
    assert "2 files that are gone were not compared with 1 that came" in changes.notes[0]


def test_what_has_no_text_is_not_compared():
    link = File(blob_sha="s1", mode="160000")
    assert told(file_changes({"sub": link}, {"bus": File(blob_sha="s2", mode="160000")}, nothing_read)) == [
        ("bus", "added"),
        ("sub", "deleted"),
    ]
    binary = {"a.png": File(blob_sha="b1", mode="100644", size=9)}
    other = {"b.png": File(blob_sha="b2", mode="100644", size=9)}
    assert [change for _, change in told(file_changes(binary, other, lambda shas: {}))] == ["deleted", "added"]


def test_a_folder_of_many_copies_moves_in_no_time():
    before = {f"old/{number}/__init__.py": file_of("") for number in range(3_000)}
    after = {f"new/{number}/__init__.py": file_of("") for number in range(3_000)}
    started = time.process_time()
    changes = file_changes(before, after, nothing_read)
    assert set(changes.rows["change"].to_pylist()) == {"renamed"}
    assert time.process_time() - started < 1


def test_many_similar_files_move_in_no_time():
    head = "import os\nimport sys\n\n"
    body = {
        number: head + "".join(f"def f{number}_{i}():\n    return {i}\n" for i in range(40)) for number in range(500)
    }
    before = {f"old/{number}.py": file_of(text) for number, text in body.items()}
    after = {f"new/{number}.py": file_of(text + "# moved\n") for number, text in body.items()}
    started = time.process_time()
    changes = file_changes(before, after, read)
    assert {(path[4:], change.partition(" ")[0], old[4:]) for path, change, old in told(changes)} == {
        (f"{number}.py", "renamed", f"{number}.py") for number in range(500)
    }
    assert time.process_time() - started < 3


FILES = st.dictionaries(
    st.sampled_from(["a", "b", "x/a", "x/b", "y/c"]),
    st.sampled_from(["", LONG, OTHER, LONG + "more\n", (LONG, "100755"), "one\n"]),
)


@settings(deadline=None)  # a query waits for a core like everything else
@given(before=FILES, after=FILES, seed=st.randoms(use_true_random=False))
def test_changes_lead_from_one_snapshot_to_the_other_in_any_order(before, after, seed):
    old = {path: file_of(content) for path, content in before.items()}
    new = {path: file_of(content) for path, content in after.items()}
    changes = file_changes(old, new, read)

    held = dict(old)
    rows = changes.rows.to_pylist()
    for each in rows:
        if each["old_path"] is not None:
            gone = held.pop(each["old_path"])
            assert (gone.blob_sha, gone.mode) == (each["old_blob"], each["old_mode"])
    for each in rows:
        if each["new_blob"] is not None:
            assert each["path"] not in held
            held[each["path"]] = File(each["new_blob"], each["new_mode"], len(_texts[each["new_blob"]]))
    assert held == new

    items = list(old.items())
    seed.shuffle(items)
    assert file_changes(dict(items), dict(reversed(new.items())), read).rows.equals(changes.rows)
