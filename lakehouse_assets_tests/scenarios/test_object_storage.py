"""A lake in an object store, as a user runs it: the same rows as on a disk, the same verbs, and no secret anywhere."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import duckdb
import polars
import pytest
from deltalake import DeltaTable

from lakehouse_assets.contracts.nodes import NODES
from lakehouse_assets.contracts.writes import WRITES
from lakehouse_assets.core.settings import load_settings
from lakehouse_assets.lake.delta_resources import table_resource
from lakehouse_assets.lake.object_path import ObjectPath
from lakehouse_assets_tests.support.cluster import WORKERS, running_spark_cluster
from lakehouse_assets_tests.support.command import at_once
from lakehouse_assets_tests.support.machines import Machine, Shop, built, shop_with_history
from lakehouse_assets_tests.support.ports import free_port
from lakehouse_assets_tests.support.s3 import BUCKET, KEY, SECRET, S3Server, running_s3
from lakehouse_assets_tests.support.same_rows import SameRows

pytestmark = pytest.mark.slow

INGEST = """
connections:
  shop: {{kind: sqlite, path: {folder}/shop.db}}
  reports: {{kind: sqlite, path: {folder}/reports.db}}
ingest:
  - {{name: orders, connection: shop, table: orders, key: [id], strategy: id, id: id}}
files:
  - {{name: trips, path: "{folder}/trips*.csv", format: csv}}
deliver:
  - {{asset: orders, connection: reports, table: orders}}
streams:
  - {{name: followed, source: {{kind: table, table: orders}}}}
"""


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """The server; this process reads from it as well."""
    with running_s3(tmp_path_factory.mktemp("s3")) as server, pytest.MonkeyPatch.context() as patch:
        for name, value in server.environ.items():
            patch.setenv(name, value)
        yield server


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    return shop_with_history(tmp_path_factory.mktemp("source") / "shop")


@pytest.fixture(scope="module")
def on_disk(tmp_path_factory: pytest.TempPathFactory, shop: Shop) -> Machine:
    return built(Machine(home=tmp_path_factory.mktemp("disk")), shop)


@pytest.fixture(scope="module")
def in_store(tmp_path_factory: pytest.TempPathFactory, s3: S3Server, shop: Shop) -> Machine:
    return built(Machine(home=tmp_path_factory.mktemp("store"), environ=s3.lake("team/graph")), shop)


def test_the_rows_are_those_of_a_lake_on_a_disk_and_of_a_clean_build(
    in_store: Machine, on_disk: Machine, same_rows: SameRows
):
    assert same_rows("an object store", in_store.lake, on_disk.lake, "shop") > 100
    verified = in_store.run("verify", "shop")
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert "Every row is as in a clean build." in verified.stdout


def test_nothing_but_locks_is_in_the_home(in_store: Machine):
    below = in_store.home / "lake"
    assert list(below.rglob("*.parquet")) == []
    assert list(below.rglob("*.json")) == []


def test_spark_s_own_commits_make_the_same_rows(
    tmp_path: Path, s3: S3Server, shop: Shop, on_disk: Machine, same_rows: SameRows
):
    machine = built(Machine(home=tmp_path, environ=s3.lake("by-spark")), shop, LAKEHOUSE_ENGINE="spark")
    assert same_rows("an object store, by Spark's own commits", machine.lake, on_disk.lake, "shop") > 100
    executors = {row["executor"] for row in machine.lake.read(WRITES, columns=["executor"]).to_pylist()}
    assert executors == {"spark", "delta-rs"}


def test_a_cluster_s_workers_write_into_the_store_with_credentials_of_their_own(
    tmp_path: Path, s3: S3Server, shop: Shop, on_disk: Machine, same_rows: SameRows
):
    with running_spark_cluster(tmp_path / "spark") as cluster:
        environ = s3.lake("by-cluster") | cluster.environ | {"LAKEHOUSE_SPARK": cluster.master}
        machine = built(Machine(home=tmp_path / "home", environ=environ), shop, LAKEHOUSE_ENGINE="spark")
        assert len(cluster.executors()) == 2 * WORKERS  # of two syncs
    assert same_rows("an object store, by a Spark cluster of two workers", machine.lake, on_disk.lake, "shop") > 100
    logs = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path for path in logs if SECRET.encode() in path.read_bytes()] == []


def test_rows_of_databases_files_and_streams_come_in_and_go_out(tmp_path: Path, s3: S3Server):
    for name in ("shop", "reports"):
        sqlite3.connect(tmp_path / f"{name}.db").close()
    with sqlite3.connect(tmp_path / "shop.db") as shop:
        shop.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, amount REAL)")
        shop.executemany("INSERT INTO orders VALUES (?, ?)", [(number, number / 2) for number in range(20)])
    (tmp_path / "trips.csv").write_text("id,town\n1,Bonn\n2,Ulm\n")
    (tmp_path / "ingest").mkdir()
    (tmp_path / "ingest" / "all.yaml").write_text(INGEST.format(folder=tmp_path))
    machine = Machine(
        home=tmp_path / "home", environ=s3.lake("ingested") | {"LAKEHOUSE_INGEST": str(tmp_path / "ingest")}
    )
    for _ in range(2):  # the second time there is nothing new
        for words in (("ingest", "--all"), ("stream", "--all")):
            done = machine.run(*words)
            assert done.returncode == 0, done.stderr
    counts = "SELECT (SELECT count(*) FROM orders) AS o, (SELECT count(*) FROM trips) AS t, count(*) AS s FROM followed"
    assert machine.told("sql", counts) == [{"o": 20, "t": 2, "s": 20}]
    with sqlite3.connect(tmp_path / "reports.db") as reports:
        assert reports.execute("SELECT count(*), sum(amount) FROM orders").fetchall() == [(20, 95.0)]


def test_the_verbs_answer_as_they_do_on_a_disk(in_store: Machine, on_disk: Machine, shop: Shop):
    questions = (
        ("callers", "price"),
        ("sql", "SELECT kind, count(*) AS n FROM edges GROUP BY ALL ORDER BY ALL"),
        ("sql", "--at", f"shop@{shop.first}", "SELECT path FROM snapshots ORDER BY path"),
        ("history", "price"),
        ("diff", "shop"),
        ("impact", "shop"),
    )
    for words in questions:
        assert in_store.told(*words) == on_disk.told(*words), words
    assert [each["fresh"] for each in in_store.told("status", "shop")["repositories"]] == [True]
    rows = {row["table"]: row["rows"] for row in in_store.told("tables")}
    assert rows["nodes"] == in_store.lake.size(NODES).rows
    fresh = in_store.run("sync", "shop")
    assert fresh.returncode == 0, fresh.stderr


def test_models_are_built_in_an_environment(in_store: Machine, on_disk: Machine):
    for machine in (in_store, on_disk):
        for words in (("env", "create", "dev"), ("apply", "dev")):
            done = machine.run(*words)
            assert done.returncode == 0, done.stderr
    names = [row["model"] for row in in_store.told("models", "list")]
    assert names
    for name in names:
        query = ("sql", "--env", "dev", f"SELECT count(*) AS n FROM {name}")
        assert in_store.told(*query) == on_disk.told(*query), name
    for words in (("env", "drop", "dev"), ("env", "gc")):
        done = in_store.run(*words)
        assert done.returncode == 0, done.stderr
    assert [each for each in in_store.lake.root.iterdir() if "__" in each.name] == []


def test_maintenance_removes_what_nobody_needs_and_no_row(in_store: Machine, on_disk: Machine, same_rows: SameRows):
    before = in_store.lake.size(WRITES).files
    for words in (("optimize", "--everything"), ("gc",), ("vacuum", "--older-than", "0")):
        done = in_store.run(*words)
        assert done.returncode == 0, done.stderr
    assert "were removed" in done.stdout + done.stderr
    assert in_store.lake.size(WRITES).files < before
    assert same_rows("an object store, after optimize, gc and vacuum", in_store.lake, on_disk.lake, "shop") > 100
    verified = in_store.run("verify", "shop")
    assert verified.returncode == 0, verified.stdout


def test_other_engines_read_the_tables_where_they_are(in_store: Machine, s3: S3Server):
    place = f"s3://{BUCKET}/team/graph/nodes"
    expected = in_store.lake.size(NODES).rows
    table = DeltaTable(place, storage_options=s3.environ)
    assert table.to_pyarrow_table().num_rows == expected
    assert polars.read_delta(place, storage_options=s3.environ).height == expected
    with duckdb.connect() as connection:
        connection.register("nodes", table.to_pyarrow_dataset())
        assert connection.execute("SELECT count(*) FROM nodes").fetchall() == [(expected,)]


def test_dagster_deltalake_s_resource_reads_them_and_has_no_credential(in_store: Machine):
    handed = table_resource(load_settings(in_store.all_environ), "nodes", repo="shop")
    assert handed.load().to_pyarrow_table().num_rows == in_store.lake.size(NODES).rows
    assert SECRET not in handed.model_dump_json()


def test_two_machines_that_sync_one_repository_at_once_leave_the_rows_of_one(
    tmp_path: Path, s3: S3Server, shop: Shop, on_disk: Machine, same_rows: SameRows
):
    machines = [Machine(home=tmp_path / name, environ=s3.lake("shared")) for name in ("one", "two")]
    assert machines[0].run("repo", "add", "shop", str(shop.repo.path)).returncode == 0
    done = at_once([(("sync", "shop"), machine.all_environ) for machine in machines])
    for each in done:  # one that was overtaken says so, and has written nothing of what it says
        assert each.returncode == 0 or "run it again" in each.stderr, each.stderr
    for machine in machines:
        again = machine.run("sync", "shop")
        assert again.returncode == 0, again.stderr
    place = "an object store, by two machines at once"
    assert same_rows(place, machines[1].lake, on_disk.lake, "shop") > 100
    verified = machines[0].run("verify", "shop")
    assert verified.returncode == 0, verified.stdout


def test_the_secret_is_nowhere(in_store: Machine, s3: S3Server):
    """In nothing that was said, written to the home (logs, Dagster's state, Spark's) or put into the bucket."""
    assert not any(SECRET in text for text in in_store.said)
    folders = (in_store.home, s3.folder / "data" / BUCKET)
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    assert len(files) > 100
    assert [path for path in files if SECRET.encode() in path.read_bytes()] == []


@pytest.mark.parametrize(
    ("environ", "seen", "remedy"),
    [
        ({"LAKEHOUSE_LAKE": "s3://not-there/lake"}, "there is no such bucket", "LAKEHOUSE_LAKE"),
        ({"AWS_SECRET_ACCESS_KEY": "wrong-one"}, "it refuses the credentials", "AWS_SECRET_ACCESS_KEY"),
        ({"AWS_ACCESS_KEY_ID": "nobody"}, "it refuses the credentials", "AWS_ACCESS_KEY_ID"),
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:{port}"}, "its endpoint cannot be reached", "AWS_ENDPOINT_URL"),
        ({"AWS_SECRET_ACCESS_KEY": ""}, "it is not set", "AWS_SECRET_ACCESS_KEY"),
        ({"AWS_ALLOW_HTTP": ""}, "is not encrypted", "AWS_ALLOW_HTTP"),
    ],
)
@pytest.mark.parametrize("words", [("status",), ("repo", "add", "other", "."), ("sql", "SELECT count(*) FROM nodes")])
def test_a_store_that_refuses_is_told_with_cause_and_remedy(
    s3: S3Server, tmp_path: Path, environ: dict[str, str], seen: str, remedy: str, words: tuple[str, ...]
):
    bad = {name: value.format(port=free_port()) for name, value in environ.items()}
    done = Machine(home=tmp_path, environ=s3.lake("refused") | bad).run(*words)
    assert done.returncode == 1
    assert seen in done.stderr
    assert remedy in done.stderr
    assert "Traceback" not in done.stderr
    assert SECRET not in done.stderr + done.stdout
    assert "wrong-one" not in done.stderr + done.stdout


def test_what_needs_files_of_a_disk_is_refused(in_store: Machine):
    done = in_store.run("publish", "nodes")
    assert done.returncode == 1
    assert "it is in an object store" in done.stderr


def test_a_table_that_lost_its_log_is_refused_not_taken_for_an_empty_one(tmp_path: Path, s3: S3Server, shop: Shop):
    machine = Machine(home=tmp_path, environ=s3.lake("broken"))
    assert machine.run("repo", "add", "shop", str(shop.repo.path)).returncode == 0
    root = machine.lake.root
    assert isinstance(root, ObjectPath)
    (root / "commits" / "part-1.parquet").write_bytes(b"rows")
    done = machine.run("sync", "shop")
    assert done.returncode == 1
    assert "has data files but no Delta log" in done.stderr
    assert KEY not in done.stderr
