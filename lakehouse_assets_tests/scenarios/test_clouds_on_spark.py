"""Spark with Microsoft and Google: Hadoop's own drivers and Delta's own log stores, on servers under the clouds' names.

Azurite has no hierarchical namespace, so that Hadoop is told to speak to its blob service; with an account that has
one, renaming is another request than the one that is tested here.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from deltalake import DeltaTable

from lakehouse_assets.lake.jar_sets import STORES
from lakehouse_assets.lake.jars import resolve_jars
from lakehouse_assets_tests.support import azurite, gcs
from lakehouse_assets_tests.support.machines import Machine, built, shop_with_history
from lakehouse_assets_tests.support.real_names import real_names
from lakehouse_assets_tests.support.same_rows import SameRows

pytestmark = pytest.mark.slow

WRITERS = """
import sys
from concurrent.futures import ThreadPoolExecutor

from lakehouse_assets.core.settings import load_settings
from lakehouse_assets.lake.session import give_conf, runtime_for

give_conf({given})
settings = load_settings()
spark = runtime_for(settings).session
place = f"{{settings.tables}}/things"
table = f"delta.`{{place}}`"
spark.range(4).selectExpr("id", "'a' AS repo").write.format("delta").partitionBy("repo").save(place)
spark.sql(
    f"MERGE INTO {{table}} t USING (SELECT 3L AS id, 'a' AS repo UNION ALL SELECT 9L, 'a') s "
    "ON t.repo = 'a' AND t.id = s.id WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT *"
)

def append(number):
    rows = spark.createDataFrame([(100 + number, "b")], "id long, repo string")
    rows.write.format("delta").mode("append").save(place)

with ThreadPoolExecutor(4) as writers:
    list(writers.map(append, range(4)))

jvm, conf = spark._jvm, spark._jsc.hadoopConfiguration()
store = getattr(jvm.io.delta.storage, "{log_store}")(conf)
entry = jvm.org.apache.hadoop.fs.Path(f"{{settings.tables}}/entry")

def put(number):
    lines = jvm.java.util.ArrayList()
    lines.add(str(number))
    try:
        store.write(entry, lines.iterator(), False, conf)
    except Exception as error:
        assert "FileAlreadyExistsException" in str(error), error
        return False
    return True

with ThreadPoolExecutor(4) as writers:
    print("first", sum(writers.map(put, range(4))))
print("settings", spark.sparkContext.getConf().getAll())
print("rows", sorted(row.id for row in spark.sql(f"SELECT id FROM {{table}}").collect()))
"""


@dataclass(frozen=True, kw_only=True)
class SparkCloud:
    title: str
    environ: dict[str, str]
    """For all engines, under the names of the cloud."""
    emulated: dict[str, str]
    """For delta-rs, which can be told the server's own address."""
    given: dict[str, str]
    log_store: str
    secret: str


@pytest.fixture(scope="module", params=["azure", "gcs"])
def cloud(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkCloud]:
    folder = tmp_path_factory.mktemp(request.param)
    resolve_jars(jars=STORES[request.param])
    with ExitStack() as stack:
        if request.param == "azure":
            azure = stack.enter_context(azurite.running_azurite(folder))
            named = stack.enter_context(real_names(folder / "names", azure.port))
            yield SparkCloud(
                title="Azure",
                environ=named | {"AZURE_STORAGE_ACCOUNT_KEY": azurite.KEY},
                emulated=azure.lake("spark"),
                given={
                    "spark.hadoop.fs.azure.fns.account.service.type": "BLOB",
                    "spark.hadoop.fs.azure.account.hns.enabled": "false",
                },
                log_store="AzureLogStore",
                secret=azurite.KEY,
            )
        else:
            google = stack.enter_context(gcs.running_gcs(folder))
            named = stack.enter_context(real_names(folder / "names", int(google.url.rpartition(":")[2])))
            key = (folder / "names" / "key.pem").read_text()
            account = folder / "account.json"
            account.write_text(json.dumps(gcs.service_account(key)))
            yield SparkCloud(
                title="Google Cloud",
                environ=named | {"GOOGLE_SERVICE_ACCOUNT": str(account)},
                emulated=google.lake("spark"),
                given={},
                log_store="GCSLogStore",
                secret=key.splitlines()[1],
            )


def test_spark_writes_merges_and_puts_a_log_entry_once(cloud: SparkCloud, tmp_path: Path):
    place = cloud.emulated["LAKEHOUSE_LAKE"]
    own = {"LAKEHOUSE_HOME": str(tmp_path), "LAKEHOUSE_SPARK": "in-process", "LAKEHOUSE_LAKE": place}
    code = WRITERS.format(given=repr(cloud.given), log_store=cloud.log_store)
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | cloud.environ | own | {"LAKEHOUSE_DRIVER_MEMORY_MB": "1024"},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    expected = [0, 1, 2, 9, 100, 101, 102, 103]
    told = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    assert (told.get("first"), told.get("rows")) == ("1", str(expected)), done.stderr[-4000:]
    assert cloud.secret not in done.stdout + done.stderr
    assert [path for path in tmp_path.rglob("*.log") if cloud.secret.encode() in path.read_bytes()] == []
    with pytest.MonkeyPatch.context() as patch:
        for name, value in cloud.emulated.items():
            patch.setenv(name, value)
        table = DeltaTable(f"{place}/things")
        assert sorted(table.to_pyarrow_table()["id"].to_pylist()) == expected
        assert table.version() == 5


def test_spark_s_own_commits_make_the_rows_of_a_lake_on_a_disk(cloud: SparkCloud, tmp_path: Path, same_rows: SameRows):
    if cloud.title == "Azure":
        pytest.skip("Azurite lists otherwise than Microsoft: delta-rs has to be told that it is an emulator")
    shop = shop_with_history(tmp_path / "source")
    on_disk = built(Machine(home=tmp_path / "disk"), shop)
    lake = {"LAKEHOUSE_LAKE": cloud.emulated["LAKEHOUSE_LAKE"] + "-graph"}
    built(Machine(home=tmp_path / "home", environ=cloud.environ | lake), shop, LAKEHOUSE_ENGINE="spark")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in cloud.emulated.items():
            patch.setenv(name, value)
        reader = Machine(home=tmp_path / "home", environ=cloud.emulated | lake)
        assert same_rows(f"{cloud.title}, by Spark's own commits", reader.lake, on_disk.lake, "shop") > 100
