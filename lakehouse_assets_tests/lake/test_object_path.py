"""A place in an object store behaves as a path does, and makes an object only where there is none."""

import pickle
from pathlib import Path, PurePosixPath

import obstore
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from obstore.store import MemoryStore

from lakehouse_assets.core.errors import EnvironmentNotReadyError
from lakehouse_assets.core.store_errors import store_error
from lakehouse_assets.lake import object_path
from lakehouse_assets.lake.commit_log import log_entry
from lakehouse_assets.lake.data_files import open_parquet, remove_files
from lakehouse_assets.lake.object_files import ObjectFiles
from lakehouse_assets.lake.object_path import ObjectPath
from lakehouse_assets.lake.table_log import files_on_disk
from lakehouse_assets.lake.tables import entry_identity


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> MemoryStore:
    held = MemoryStore()
    monkeypatch.setattr(object_path, "_store", lambda bucket: held)
    return held


@pytest.fixture
def root(store: MemoryStore, tmp_path: Path) -> ObjectPath:
    return ObjectPath("s3://bucket/team/lake", tmp_path)


def test_what_the_environment_tells_now_is_asked_and_opened_once(monkeypatch: pytest.MonkeyPatch) -> None:
    environs = ("http://127.0.0.1:9001", "http://127.0.0.1:9002", "http://127.0.0.1:9001")
    held = []
    for endpoint in environs:
        monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
        held.append(object_path._store("s3://lakes"))
    assert held[0] is held[2]
    assert held[0] is not held[1]


def test_names_are_those_of_a_path(root: ObjectPath) -> None:
    entry = root / "nodes" / "_delta_log" / "00000000000000000007.json"
    assert str(entry) == "s3://bucket/team/lake/nodes/_delta_log/00000000000000000007.json"
    assert (entry.store, entry.name, entry.stem, entry.suffix) == (
        "s3://bucket",
        "0" * 19 + "7.json",
        "0" * 19 + "7",
        ".json",
    )
    assert entry.parent == root / "nodes/_delta_log"
    assert entry.relative_to(root) == PurePosixPath("nodes/_delta_log", entry.name)
    assert not (root / "nodes_of_others").is_relative_to(root / "nodes")
    with pytest.raises(ValueError, match="is not below"):
        root.relative_to(entry)


def test_a_path_is_the_same_in_another_process_and_carries_no_facts_into_its_equality(root: ObjectPath) -> None:
    (root / "a").write_bytes(b"1")
    (listed,) = root.rglob("*")
    assert listed == root / "a" == pickle.loads(pickle.dumps(listed))
    assert len({listed, root / "a"}) == 1


def test_objects_are_there_and_folders_are_where_something_is_below(root: ObjectPath) -> None:
    assert not root.is_dir()
    (root / "nodes" / "part.parquet").write_bytes(b"rows")
    (root / "top.json").write_bytes(b"{}")
    assert root.is_dir()
    assert (root / "nodes").is_dir()
    assert not (root / "nod").is_dir()
    assert (root / "top.json").exists()
    assert not (root / "nodes").exists()
    assert sorted(each.name for each in root.iterdir()) == ["nodes", "top.json"]
    assert [str(each) for each in root.rglob("*.parquet")] == ["s3://bucket/team/lake/nodes/part.parquet"]


def test_what_is_not_there_is_told_as_a_file_that_is_not_there(root: ObjectPath) -> None:
    for ask in (ObjectPath.stat, ObjectPath.read_bytes, ObjectPath.unlink):
        with pytest.raises(FileNotFoundError):
            ask(root / "nothing")
    (root / "nothing").unlink(missing_ok=True)


def test_an_entry_is_told_from_another_in_its_place(root: ObjectPath) -> None:
    entry = log_entry(root / "t", 0)
    assert isinstance(entry, ObjectPath)
    assert entry_identity(root / "t", 0) is None
    entry.write_bytes(b"first")
    first = entry_identity(root / "t", 0)
    entry.unlink()
    entry.write_bytes(b"other")
    assert first is not None
    assert entry_identity(root / "t", 0) != first


def test_data_files_are_written_whole_and_read_by_column(root: ObjectPath) -> None:
    rows = pa.table({"number": list(range(50_000)), "text": [str(n) for n in range(50_000)]})
    path = root / "t" / "repo=a" / "part-x-1.parquet"
    sink = pa.BufferOutputStream()
    pq.write_table(rows, sink)
    size = path.write_bytes(sink.getvalue().to_pybytes())
    assert files_on_disk(root / "t")["repo=a/part-x-1.parquet"].size == size
    assert open_parquet(path).read(columns=["number"])["number"].to_pylist() == list(range(50_000))


def test_many_objects_are_removed_at_once_and_those_that_are_gone_are_no_error(root: ObjectPath) -> None:
    names = [f"repo=a/part-mine-{number}.parquet" for number in range(1_500)]
    for name in names:
        (root / "t" / name).write_bytes(b"x")
    (root / "t" / "repo=a" / "part-other-1.parquet").write_bytes(b"x")
    remove_files(root / "t", names[:1_200])
    remove_files(root / "t", names)
    assert [each.name for each in (root / "t").rglob("*")] == ["part-other-1.parquet"]


def test_duckdb_reads_objects_by_their_names(root: ObjectPath) -> None:
    import duckdb

    path = root / "t" / "repo=it's" / "part.parquet"
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"number": [1, 2, 3]}), sink)
    path.write_bytes(sink.getvalue().to_pybytes())
    with duckdb.connect() as connection:
        connection.register_filesystem(ObjectFiles())
        listed = str(path).replace("'", "''")
        found = connection.execute(f"SELECT sum(number) FROM read_parquet(['{listed}'])").fetchall()
    assert found == [(6,)]


@pytest.mark.parametrize(
    ("said", "seen"),
    [
        ("404 Not Found: <Code>NoSuchBucket</Code>", "there is no such bucket"),
        ("403 Forbidden: <Code>SignatureDoesNotMatch</Code>", "it refuses the credentials"),
        ("error sending request for url (http://127.0.0.1:1/b)", "cannot be reached"),
        ("500 Internal Server Error", "it answered: 500 Internal Server Error"),
    ],
)
def test_refusals_of_a_store_are_told_with_a_remedy(said: str, seen: str) -> None:
    error = store_error("s3://bucket/team/lake/nodes", said + "\nAuthorization: AWS4 Signature=secret")
    assert error.subject == "object store s3://bucket"
    assert seen in error.seen
    assert "secret" not in str(error)
    assert error.remedy


def test_an_error_of_the_store_is_told_not_taken_for_a_missing_object(
    root: ObjectPath, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise obstore.exceptions.PermissionDeniedError("403 Forbidden: <Code>AccessDenied</Code>")

    monkeypatch.setattr(obstore, "head", refuse)
    with pytest.raises(EnvironmentNotReadyError, match="refuses the credentials"):
        (root / "nodes").exists()
