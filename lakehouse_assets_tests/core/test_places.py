"""One address says where the tables are, and what nobody could use is refused by its cause before any request."""

import json
from pathlib import Path

import pytest

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.places import Address, CredentialKind, Endpoint, endpoint_of, tables_place
from lakehouse_assets.core.settings import load_settings
from lakehouse_assets.core.store_errors import known_store_error, store_error, store_of

AZURE = "abfss://lakes@account1.dfs.core.windows.net/team/lake"
S3 = "s3://bucket/lake"
GCS = "gs://bucket/lake"


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ("/srv/lake", "/srv/lake"),
        ("file:///srv/the%20lake", "/srv/the lake"),
        ("file://localhost/srv/lake/", "/srv/lake"),
        (f"{S3}/", S3),
        (AZURE, AZURE),
        ("abfss://my-lakes@account1.dfs.core.windows.net", "abfss://my-lakes@account1.dfs.core.windows.net"),
        (GCS, GCS),
    ],
)
def test_a_place_has_one_name(given: str, place: str):
    assert tables_place({"LAKEHOUSE_LAKE": given}) == place


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("s3a://bucket/lake", "'s3'"),
        ("gcs://bucket/lake", "'gs'"),
        ("wasbs://lakes@account1.blob.core.windows.net/lake", "'abfss'"),
        ("ftp://host/lake", "no store that is known"),
        ("s3://key:hidden@bucket/lake", "not a whole address of s3://"),
        ("s3://bucket/la ke", "not a whole address of s3://"),
        ("s3://", "not a whole address of s3://"),
        ("abfss://lakes/lake", "not a whole address of abfss://"),
        ("abfss://lakes@account1/lake", "not a whole address of abfss://"),
        ("abfss://lakes@account1.blob.core.windows.net/lake", "not a whole address of abfss://"),
        ("abfss://lakes@account1.dfs.core.windows.net.evil.example/lake", "not a whole address of abfss://"),
        ("abfss://lakes:hidden@account1.dfs.core.windows.net/lake", "not a whole address of abfss://"),
        ("gs://Bucket/lake", "not a whole address of gs://"),
        ("gs://hidden@bucket/lake", "not a whole address of gs://"),
        ("file://host/lake", "file:///"),
        ("file:lake", "file:///"),
    ],
)
def test_a_malformed_address_is_refused_with_the_forms_that_there_are(given: str, told: str):
    with pytest.raises(BadInputError) as refused:
        tables_place({"LAKEHOUSE_LAKE": given})
    assert refused.value.subject == "LAKEHOUSE_LAKE"
    assert told in str(refused.value)
    assert "abfss://container@account" in refused.value.remedy
    assert "hidden" not in str(refused.value)


def test_an_address_is_taken_apart():
    assert Address.of(AZURE) == Address(scheme="abfss", bucket="lakes", key="team/lake", account="account1")
    assert Address.of(GCS) == Address(scheme="gs", bucket="bucket", key="lake")


CLIENT = {"AZURE_TENANT_ID": "t", "AZURE_CLIENT_ID": "c"}


@pytest.mark.parametrize(
    ("environ", "kind"),
    [
        ({"AZURE_STORAGE_ACCOUNT_KEY": "hidden"}, "account key"),
        ({"AZURE_STORAGE_SAS_TOKEN": "hidden"}, "sas"),
        (CLIENT | {"AZURE_CLIENT_SECRET": "hidden"}, "client secret"),
        (CLIENT | {"AZURE_FEDERATED_TOKEN_FILE": "/token"}, "federated token"),
    ],
)
def test_what_is_kept_of_a_credential_is_its_kind(environ: dict[str, str], kind: CredentialKind):
    settings = load_settings(environ | {"LAKEHOUSE_LAKE": AZURE})
    assert settings.endpoint == Endpoint(credentials=kind)
    assert settings.provider == "azure"
    assert "hidden" not in settings.model_dump_json()


def key_file(folder: Path, **content: object) -> str:
    path = folder / "key.json"
    path.write_text(json.dumps({"type": "service_account", "private_key": "hidden"} | content))
    return str(path)


def test_google_s_key_file_says_how_and_where_to_ask(tmp_path: Path):
    key = key_file(tmp_path)
    assert endpoint_of(GCS, {"GOOGLE_APPLICATION_CREDENTIALS": key}).credentials == "application default"
    assert endpoint_of(GCS, {"GOOGLE_SERVICE_ACCOUNT": key}).credentials == "service account"
    other = key_file(tmp_path, gcs_base_url="http://here:4443", disable_oauth=True)
    told = endpoint_of(GCS, {"GOOGLE_SERVICE_ACCOUNT": other, "GOOGLE_ALLOW_HTTP": "true"})
    assert told == Endpoint(url="http://here:4443", credentials="nothing")


@pytest.mark.parametrize(
    ("place", "environ", "subject"),
    [
        (S3, {}, "AWS_ACCESS_KEY_ID"),
        (S3, {"AWS_ACCESS_KEY_ID": "key"}, "AWS_SECRET_ACCESS_KEY"),
        (AZURE, {}, "AZURE_STORAGE_ACCOUNT_KEY"),
        (AZURE, CLIENT, "AZURE_STORAGE_ACCOUNT_KEY"),
        (AZURE, {"AZURE_STORAGE_ACCOUNT_KEY": "hidden", "AZURE_STORAGE_ACCOUNT_NAME": "other"}, "ACCOUNT_NAME"),
        (AZURE, {"AZURE_STORAGE_ACCOUNT_KEY": "hidden", "AZURE_STORAGE_ENDPOINT": "http://here"}, "STORAGE_ENDPOINT"),
        (GCS, {}, "GOOGLE_APPLICATION_CREDENTIALS"),
        (GCS, {"GOOGLE_APPLICATION_CREDENTIALS": "/not/there.json"}, "GOOGLE_APPLICATION_CREDENTIALS"),
        (GCS, {"GOOGLE_SERVICE_ACCOUNT": "{no json}"}, "GOOGLE_SERVICE_ACCOUNT"),
        (GCS, {"GOOGLE_SERVICE_ACCOUNT": "{list}"}, "GOOGLE_SERVICE_ACCOUNT"),
        (GCS, {"GOOGLE_SERVICE_ACCOUNT": "{http}"}, "gcs_base_url"),
    ],
)
def test_what_the_environment_lacks_is_named_before_any_request(
    tmp_path: Path, place: str, environ: dict[str, str], subject: str
):
    files = {"{no json}": "-----BEGIN hidden", "{list}": "[]", "{http}": '{"gcs_base_url": "http://here:4443"}'}
    for number, (name, text) in enumerate(files.items()):
        (tmp_path / str(number)).write_text(text)
        environ = {key: str(tmp_path / str(number)) if value == name else value for key, value in environ.items()}
    with pytest.raises(BadInputError) as refused:
        load_settings(environ | {"LAKEHOUSE_LAKE": place})
    assert subject in refused.value.subject
    assert refused.value.remedy
    assert "hidden" not in str(refused.value)


def test_a_lake_on_a_disk_asks_for_nothing():
    assert endpoint_of("/srv/lake", {}) == endpoint_of(None, {}) == Endpoint()


@pytest.mark.parametrize(
    ("url", "variable"),
    [(S3, "AWS_ACCESS_KEY_ID"), (AZURE, "AZURE_STORAGE_ACCOUNT_KEY"), (GCS, "GOOGLE_APPLICATION_CREDENTIALS")],
)
def test_a_refusal_names_the_variables_of_its_store(url: str, variable: str):
    assert variable in store_error(url, "403 Forbidden").remedy
    provider = store_of(f"cannot open {url}: 403 Forbidden")
    assert provider is not None
    found = known_store_error("nodes", "403 Forbidden", provider)
    assert found is not None
    assert variable in found.remedy
