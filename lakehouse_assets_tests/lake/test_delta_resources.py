"""Tables are handed to users' own assets as dagster-deltalake's resources: an address, a version, and no credential."""

import json
from pathlib import Path

import pytest
from dagster import asset, materialize
from dagster_deltalake import AzureConfig, DeltaTableResource, GcsConfig, LocalConfig, S3Config

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.settings import Settings, load_settings
from lakehouse_assets.lake.delta_resources import storage_config
from lakehouse_assets.lake.resources import LakehouseResource
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.graphs import SmallGraph

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


@pytest.fixture
def shop(lake: Lake) -> Lake:
    SmallGraph(repo="shop", files={"a.py": "def price():\n    return 1\n"}).save(lake)
    return lake


def test_a_user_s_asset_reads_what_was_published_not_what_came_later(shop: Lake, settings: Settings):
    published = LakehouseResource().table("definitions", repo="shop")
    SmallGraph(repo="other", files={"b.py": "x = 1\n"}).save(shop)
    seen: dict[str, list[str]] = {}

    @asset
    def names(definitions: DeltaTableResource, lakehouse: LakehouseResource) -> None:
        seen["published"] = definitions.load().to_pyarrow_table(columns=["repo"])["repo"].unique().to_pylist()
        now = lakehouse.table("definitions").load()
        seen["now"] = sorted(now.to_pyarrow_table(columns=["repo"])["repo"].unique().to_pylist())

    resources = {"definitions": published, "lakehouse": LakehouseResource()}
    assert materialize([names], resources=resources, run_config=QUIET).success
    assert seen == {"published": ["shop"], "now": ["other", "shop"]}


@pytest.mark.parametrize(
    ("name", "repo", "seen", "remedy"),
    [
        ("definition", None, "the lake has none of that name", "did you mean 'definitions'?"),
        ("definitions", "nobody", "never published", "lakehouse sync nobody"),
        ("runs_of_nobody", None, "the lake has none", ""),
        ("blobs", "shop", "does not name", "leave out the repository"),
    ],
)
def test_a_table_that_is_not_there_is_refused(
    shop: Lake, settings: Settings, name: str, repo: str | None, seen: str, remedy: str
):
    with pytest.raises(BadInputError) as refused:
        LakehouseResource().table(name, repo=repo)
    assert seen in refused.value.seen
    assert remedy in refused.value.remedy


def test_each_place_has_its_configuration_and_none_a_credential(tmp_path: Path):
    key = tmp_path / "key.json"
    key.write_text(json.dumps({"private_key": "hidden"}))
    secrets = {
        "AWS_ACCESS_KEY_ID": "hidden",
        "AWS_SECRET_ACCESS_KEY": "hidden",
        "AWS_REGION": "eu-central-1",
        "AZURE_STORAGE_ACCOUNT_KEY": "hidden",
        "GOOGLE_APPLICATION_CREDENTIALS": str(key),
    }
    made = {
        place: storage_config(load_settings(secrets | {"LAKEHOUSE_LAKE": place}))
        for place in (str(tmp_path), "s3://bucket/a", "abfss://lakes@account1.dfs.core.windows.net/a", "gs://bucket/a")
    }
    assert list(made.values()) == [
        LocalConfig(),
        S3Config(region="eu-central-1"),
        AzureConfig(account_name="account1"),
        GcsConfig(bucket="bucket"),
    ]
    assert not any("hidden" in value for each in made.values() for value in each.str_dict().values())
