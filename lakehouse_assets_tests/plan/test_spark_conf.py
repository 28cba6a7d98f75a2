"""The driver's configuration follows the machine and the profile."""

from pathlib import Path

import pytest

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.settings import load_settings
from lakehouse_assets.plan.spark_conf import cluster_conf, driver_conf
from lakehouse_assets.plan.store_conf import store_reach

JARS = [Path("/jars/a.jar"), Path("/jars/b.jar")]


def conf(**environ: str) -> dict[str, str]:
    return driver_conf(load_settings(environ), jars=JARS, python="/venv/python", log_conf=Path("/log"))


def test_parallelism_is_the_machine_s():
    made = conf(LAKEHOUSE_CORES="3")
    assert made["spark.master"] == "local[3]"
    assert made["spark.databricks.delta.snapshotPartitions"] == "3"
    assert made["spark.sql.shuffle.partitions"] == "3"


def test_workers_use_our_interpreter():
    assert conf()["spark.pyspark.python"] == "/venv/python"


def test_short_runs_stop_at_the_first_compiler_and_long_ones_do_not():
    assert "TieredStopAtLevel=1" in conf(LAKEHOUSE_PROFILE="update")["spark.driver.extraJavaOptions"]
    assert "TieredStopAtLevel" not in conf(LAKEHOUSE_PROFILE="bulk")["spark.driver.extraJavaOptions"]


def test_builds_adapt_their_plans_and_show_themselves_and_updates_do_neither():
    for profile, wanted in (("update", "false"), ("bulk", "true")):
        made = conf(LAKEHOUSE_PROFILE=profile)
        assert (made["spark.sql.adaptive.enabled"], made["spark.ui.enabled"]) == (wanted, wanted)
    assert "UseG1GC" in conf(LAKEHOUSE_PROFILE="bulk")["spark.driver.extraJavaOptions"]
    assert "UseSerialGC" in conf(LAKEHOUSE_PROFILE="update")["spark.driver.extraJavaOptions"]


def on_cluster(*own: str, **environ: str) -> dict[str, str]:
    settings = load_settings(environ)
    return cluster_conf(settings, master="spark://m:7077", jars=JARS, python="/venv/python", own=own)


def test_a_cluster_adapts_plans_keeps_a_log_and_shows_itself(tmp_path: Path):
    made = on_cluster(LAKEHOUSE_HOME=str(tmp_path))
    assert made["spark.sql.adaptive.enabled"] == made["spark.ui.enabled"] == made["spark.eventLog.enabled"] == "true"
    assert made["spark.eventLog.dir"] == (tmp_path / "spark-events").as_uri()
    assert made["spark.serializer"].endswith("KryoSerializer")
    assert "TieredStopAtLevel" not in made["spark.driver.extraJavaOptions"]


def test_what_a_cluster_says_itself_stands():
    own = ("spark.eventLog.dir", "spark.sql.shuffle.partitions", "spark.driver.memory", "spark.ui.enabled")
    assert not on_cluster(*own).keys() & {*own}
    assert "spark.cores.max" in on_cluster()
    assert "spark.cores.max" not in on_cluster("spark.dynamicAllocation.enabled")
    # What makes rows what they are is no matter of taste.
    fixed = "spark.sql.session.timeZone"
    assert on_cluster(fixed)[fixed] == "UTC"


def test_jars_come_from_the_cache_and_nothing_is_resolved():
    made = conf()
    assert made["spark.driver.extraClassPath"] == "/jars/a.jar:/jars/b.jar"
    assert "spark.jars.packages" not in made


def test_only_a_cluster_loses_executors_that_are_silent():
    patience = "spark.storage.blockManagerHeartbeatTimeoutMs"
    assert conf()[patience] == "3650d"
    assert patience not in cluster_conf(load_settings({}), master="spark://m:7077", jars=JARS, python="/venv/python")


def test_on_a_cluster_the_jars_travel():
    made = cluster_conf(load_settings({}), master="spark://m:7077", jars=JARS, python="/venv/python")
    assert made["spark.master"] == "spark://m:7077"
    assert made["spark.jars"] == "/jars/a.jar,/jars/b.jar"


STORE = {
    "LAKEHOUSE_LAKE": "s3://bucket/lake",
    "AWS_ACCESS_KEY_ID": "the-key",
    "AWS_SECRET_ACCESS_KEY": "the-secret",
    "AWS_SESSION_TOKEN": "the-token",
    "AWS_ENDPOINT_URL": "https://store.example:9000",
    "AWS_REGION": "eu-central-1",
}


def test_spark_asks_the_store_that_the_environment_names_and_gets_no_credential_from_us():
    for made in (
        conf(**STORE),
        cluster_conf(load_settings(STORE), master="spark://m:7077", jars=JARS, python="/venv/python"),
    ):
        assert made["spark.hadoop.fs.s3a.endpoint"] == "https://store.example:9000"
        assert made["spark.hadoop.fs.s3a.endpoint.region"] == "eu-central-1"
        assert made["spark.hadoop.fs.s3a.path.style.access"] == "true"
        assert "Environment" in made["spark.hadoop.fs.s3a.aws.credentials.provider"]
        assert not any(value.startswith("the-") for value in made.values())


def test_a_log_entry_in_a_store_is_made_by_a_conditional_request():
    made = conf(**STORE)
    assert made["spark.hadoop.fs.s3a.create.performance"] == "true"
    assert made["spark.hadoop.fs.s3a.create.conditional.enabled"] == "true"


def test_a_lake_on_a_disk_asks_for_nothing_of_a_store():
    assert not [name for name in conf(AWS_ENDPOINT_URL="https://store.example") if "hadoop" in name]


HOST = "account1.dfs.core.windows.net"
AZURE = {"LAKEHOUSE_LAKE": f"abfss://lakes@{HOST}/lake"}
CLIENT = {"AZURE_TENANT_ID": "the-tenant", "AZURE_CLIENT_ID": "the-client"}


@pytest.mark.parametrize(
    ("environ", "kind", "name"),
    [
        ({"AZURE_STORAGE_ACCOUNT_KEY": "the-key"}, "SharedKey", "account.key"),
        ({"AZURE_STORAGE_SAS_TOKEN": "the-sas"}, "SAS", "sas.fixed.token"),
        (CLIENT | {"AZURE_CLIENT_SECRET": "the-secret"}, "OAuth", "account.oauth2.client.secret"),
        (CLIENT | {"AZURE_FEDERATED_TOKEN_FILE": "the-file"}, "OAuth", "account.oauth2.token.file"),
    ],
)
def test_hadoop_reads_microsoft_s_credentials_where_they_are_used(environ: dict[str, str], kind: str, name: str):
    made = conf(**AZURE, **environ)
    assert made[f"spark.hadoop.fs.azure.account.auth.type.{HOST}"] == kind
    assert made[f"spark.hadoop.fs.azure.{name}.{HOST}"] == f"${{env.{list(environ)[-1]}}}"
    assert not any("the-" in value for value in made.values())


@pytest.mark.parametrize(
    ("variable", "kind"),
    [
        ("GOOGLE_APPLICATION_CREDENTIALS", "APPLICATION_DEFAULT"),
        ("GOOGLE_SERVICE_ACCOUNT", "SERVICE_ACCOUNT_JSON_KEYFILE"),
    ],
)
def test_hadoop_reads_google_s_key_file_where_the_environment_says(tmp_path: Path, variable: str, kind: str):
    key = tmp_path / "key.json"
    key.write_text('{"private_key": "the-key"}')
    made = conf(LAKEHOUSE_LAKE="gs://bucket/lake", **{variable: str(key)})
    assert made["spark.hadoop.fs.gs.auth.type"] == kind
    assert str(key) not in made.values()


def test_spark_is_refused_where_only_other_engines_can_be_told_the_address():
    emulator = {"AZURE_STORAGE_ACCOUNT_KEY": "the-key", "AZURE_STORAGE_ENDPOINT": "https://here:10000/account1"}
    with pytest.raises(BadInputError, match="https://here:10000") as refused:
        conf(**AZURE, **emulator)
    assert "LAKEHOUSE_ENGINE=local" in refused.value.remedy


def test_spark_is_refused_with_google_where_nothing_is_signed(tmp_path: Path):
    key = tmp_path / "key.json"
    key.write_text('{"disable_oauth": true}')
    with pytest.raises(BadInputError, match="a key file with disable_oauth"):
        conf(LAKEHOUSE_LAKE="gs://bucket/lake", GOOGLE_SERVICE_ACCOUNT=str(key))


def test_one_store_is_told_from_another_and_its_folders_are_not(tmp_path: Path):
    def reach(**environ: str) -> str:
        return store_reach(load_settings(environ))

    key = {"AZURE_STORAGE_ACCOUNT_KEY": "the-key"}
    other = {"LAKEHOUSE_LAKE": "abfss://lakes@account2.dfs.core.windows.net/lake"}
    assert reach() == reach(LAKEHOUSE_LAKE=str(tmp_path)) == ""
    assert reach(**STORE) == reach(**STORE | {"LAKEHOUSE_LAKE": "s3://bucket/another"})
    assert len({reach(), reach(**STORE), reach(**AZURE, **key), reach(**other, **key)}) == 4
