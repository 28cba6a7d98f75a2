"""A lake with Microsoft or Google, as a user runs it, on a server that speaks their language: rows as on a disk."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from lakehouse_assets.contracts.nodes import NODES
from lakehouse_assets.core.settings import load_settings
from lakehouse_assets.lake.delta_resources import table_resource
from lakehouse_assets_tests.support import azurite, gcs
from lakehouse_assets_tests.support.command import at_once
from lakehouse_assets_tests.support.machines import Machine, Shop, built, shop_with_history
from lakehouse_assets_tests.support.ports import free_port
from lakehouse_assets_tests.support.same_rows import SameRows

pytestmark = pytest.mark.slow


@dataclass(frozen=True, kw_only=True)
class Cloud:
    """A store, and what the environment of its users has."""

    title: str
    lake: Callable[[str], dict[str, str]]
    secret: str
    endpoint: dict[str, str]
    """What makes it another one that nobody answers for; `{port}` is one that is free."""


@pytest.fixture(scope="module", params=["azure", "gcs"])
def cloud(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    """Each server in turn; this process reads from it as well."""
    folder = tmp_path_factory.mktemp(request.param)
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        if request.param == "azure":
            azure = stack.enter_context(azurite.running_azurite(folder))
            unreachable = {"AZURITE_BLOB_STORAGE_URL": "http://127.0.0.1:{port}"}
            held = Cloud(title="Azure", lake=azure.lake, secret=azurite.KEY, endpoint=unreachable)
        else:
            google = stack.enter_context(gcs.running_gcs(folder))
            nobody = folder / "nobody.json"
            nobody.write_text(google.key_file.read_text().replace(google.url, "http://127.0.0.1:1"))
            unreachable = {"GOOGLE_SERVICE_ACCOUNT": str(nobody)}
            held = Cloud(title="Google Cloud", lake=google.lake, secret="", endpoint=unreachable)
        for name, value in held.lake("any").items():
            if name != "LAKEHOUSE_LAKE":
                patch.setenv(name, value)
        yield held


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    return shop_with_history(tmp_path_factory.mktemp("source") / "shop")


@pytest.fixture(scope="module")
def on_disk(tmp_path_factory: pytest.TempPathFactory, shop: Shop) -> Machine:
    return built(Machine(home=tmp_path_factory.mktemp("disk")), shop)


@pytest.fixture(scope="module")
def in_cloud(tmp_path_factory: pytest.TempPathFactory, cloud: Cloud, shop: Shop) -> Machine:
    """A first sync, and a second one of what was edited."""
    machine = Machine(home=tmp_path_factory.mktemp("cloud"), environ=cloud.lake("team/graph"))
    return built(machine, shop, LAKEHOUSE_ENGINE="local")


def test_the_rows_are_those_of_a_lake_on_a_disk_and_of_a_clean_build(
    cloud: Cloud, in_cloud: Machine, on_disk: Machine, same_rows: SameRows
):
    assert same_rows(cloud.title, in_cloud.lake, on_disk.lake, "shop") > 100
    verified = in_cloud.run("verify", "shop")
    assert verified.returncode == 0, verified.stdout + verified.stderr


def test_delta_rs_reads_the_tables_where_they_are(in_cloud: Machine):
    table = DeltaTable(str(in_cloud.lake.path(NODES)))
    assert table.to_pyarrow_table().num_rows == in_cloud.lake.size(NODES).rows
    assert table.version() > 0


def test_dagster_deltalake_s_resource_reads_them_and_has_no_credential(cloud: Cloud, in_cloud: Machine):
    handed = table_resource(load_settings(in_cloud.all_environ), "nodes", repo="shop")
    assert handed.load().to_pyarrow_table().num_rows == in_cloud.lake.size(NODES).rows
    assert not cloud.secret or cloud.secret not in handed.model_dump_json()


def test_the_verbs_answer_as_they_do_on_a_disk(in_cloud: Machine, on_disk: Machine, shop: Shop):
    questions = (
        ("callers", "price"),
        ("sql", "SELECT kind, count(*) AS n FROM edges GROUP BY ALL ORDER BY ALL"),
        ("sql", "--at", f"shop@{shop.first}", "SELECT path FROM snapshots ORDER BY path"),
        ("diff", "shop"),
    )
    for words in questions:
        assert in_cloud.told(*words) == on_disk.told(*words), words


def test_maintenance_removes_what_nobody_needs_and_no_row(
    cloud: Cloud, in_cloud: Machine, on_disk: Machine, same_rows: SameRows
):
    for words in (("optimize", "--everything"), ("gc",), ("vacuum", "--older-than", "0")):
        done = in_cloud.run(*words)
        assert done.returncode == 0, done.stderr
    place = f"{cloud.title}, after optimize, gc and vacuum"
    assert same_rows(place, in_cloud.lake, on_disk.lake, "shop") > 100


def test_commits_of_many_writers_at_once_are_all_kept(cloud: Cloud):
    place = f"{cloud.lake('entries')['LAKEHOUSE_LAKE']}/things"
    DeltaTable.create(place, schema=pa.schema([("number", pa.int64())]))

    def append(who: int) -> None:
        for each in range(5):
            write_deltalake(place, pa.table({"number": [who * 5 + each]}), mode="append")

    with ThreadPoolExecutor(8) as writers:
        list(writers.map(append, range(8)))
    table = DeltaTable(place)
    assert table.version() == 40
    assert sorted(table.to_pyarrow_table()["number"].to_pylist()) == list(range(40))


def test_two_machines_that_sync_one_repository_at_once_leave_the_rows_of_one(
    tmp_path: Path, cloud: Cloud, shop: Shop, on_disk: Machine, same_rows: SameRows
):
    machines = [Machine(home=tmp_path / name, environ=cloud.lake("shared")) for name in ("one", "two")]
    assert machines[0].run("repo", "add", "shop", str(shop.repo.path)).returncode == 0
    done = at_once([(("sync", "shop"), machine.all_environ) for machine in machines])
    for each in done:  # one that was overtaken says so, and has written nothing of what it says
        assert each.returncode == 0 or "run it again" in each.stderr, each.stderr
    for machine in machines:
        again = machine.run("sync", "shop")
        assert again.returncode == 0, again.stderr
    place = f"{cloud.title}, by two machines at once"
    assert same_rows(place, machines[1].lake, on_disk.lake, "shop") > 100


def test_the_secret_is_nowhere(cloud: Cloud, in_cloud: Machine):
    if not cloud.secret:
        pytest.skip("its server knows no secrets")
    assert not any(cloud.secret in text for text in in_cloud.said)
    files = [path for path in in_cloud.home.rglob("*") if path.is_file()]
    assert files
    assert [path for path in files if cloud.secret.encode() in path.read_bytes()] == []


@pytest.mark.parametrize("words", [("status",), ("repo", "add", "other", "."), ("sql", "SELECT count(*) FROM nodes")])
def test_a_store_that_refuses_is_told_with_cause_and_remedy(cloud: Cloud, tmp_path: Path, words: tuple[str, ...]):
    address = cloud.lake("refused")["LAKEHOUSE_LAKE"]
    refusals = {
        "there is no such bucket": {"LAKEHOUSE_LAKE": address.replace("//lakes", "//not-there")},
        "its endpoint cannot be reached": {
            name: value.format(port=free_port()) for name, value in cloud.endpoint.items()
        },
    }
    if cloud.secret:
        refusals["it refuses the credentials"] = {"AZURE_STORAGE_ACCOUNT_KEY": "d3Jvbmctb25l"}
    for seen, bad in refusals.items():
        done = Machine(home=tmp_path, environ=cloud.lake("refused") | bad).run(*words)
        assert done.returncode == 1, seen
        assert seen in done.stderr
        assert "what to do" in done.stderr
        assert "Traceback" not in done.stderr
        assert not cloud.secret or cloud.secret not in done.stderr + done.stdout
