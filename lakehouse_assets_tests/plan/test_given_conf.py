"""What a user gives to the resource `spark` holds, but for what tables rely on and what is nobody's to see."""

import pytest

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.plan.given_conf import given_conf, laid_over


def test_what_is_given_wins_and_lists_get_both():
    ours = {"spark.sql.shuffle.partitions": "2", "spark.jars": "/delta.jar", "spark.ui.enabled": "false"}
    given = given_conf({"spark.sql.shuffle.partitions": 7, "spark.jars": "/mine.jar", "spark.sql.ansi.enabled": False})
    assert laid_over(ours, given) == {
        "spark.sql.shuffle.partitions": "7",
        "spark.jars": "/delta.jar,/mine.jar",
        "spark.ui.enabled": "false",
        "spark.sql.ansi.enabled": "false",
    }


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("spark.master", "local[1]", "LAKEHOUSE_SPARK"),
        ("spark.driver.memory", "9g", "LAKEHOUSE_DRIVER_MEMORY_MB"),
        ("spark.sql.session.timeZone", "CET", "it is UTC"),
        ("sql.ansi.enabled", "true", "begin with spark."),
        ("spark.executor.memory", None, "NoneType"),
        ("spark.executor.memory", ["1g"], "list"),
        ("spark.hadoop.fs.s3a.secret.key", "hidden", "credential"),
        ("spark.hadoop.fs.s3a.access.key", "hidden", "credential"),
        ("spark.hadoop.fs.azure.account.key.a.dfs.core.windows.net", "hidden", "credential"),
        ("spark.hadoop.fs.azure.sas.fixed.token.a.dfs.core.windows.net", "hidden", "credential"),
        ("spark.ssl.keyPassword", "hidden", "credential"),
    ],
)
def test_what_cannot_hold_is_refused_by_name(name: str, value: object, told: str):
    with pytest.raises(BadInputError) as refused:
        given_conf({name: value})
    assert refused.value.subject == f"spark_config: {name}"
    assert told in str(refused.value)
    assert "hidden" not in str(refused.value)


def test_a_credential_may_be_named_where_hadoop_reads_it():
    name = "spark.hadoop.fs.azure.account.key.a.dfs.core.windows.net"
    assert given_conf({name: "${env.OTHER_KEY}"}) == {name: "${env.OTHER_KEY}"}
