"""A project's YAML files are read into one, with an environment's own laid over them and variables filled."""

from pathlib import Path

import pytest

from lakehouse_assets.contracts.connections import PostgresConnection, SqliteConnection
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.settings import Settings, load_settings
from lakehouse_assets.sources.sql.project import load_project

BASE = """
connections:
  shop: {kind: postgresql, uri: "postgresql://${USER_NAME}:${SHOP_PASSWORD}@${HOST}/shop"}
  reports: {kind: sqlite, path: reports.db}
files:
  - {name: trips, path: "${DATA}/*.parquet", format: parquet}
http:
  - {name: rates, url: "${RATES}/v1", headers: {token: "${TOKEN}"}, per_second: 5}
deliver:
  - {asset: trips, connection: reports, table: trips}
"""
DEV = """
connections:
  reports: {path: "/tmp/other.db"}
files:
  - {name: trips, format: csv}
  - {name: more, path: /more.csv, format: csv}
"""
SETTINGS = """
[base.variables]
DATA = "data"
HOST = "shop.example"
RATES = "https://rates.example"
[dev.variables]
DATA = "samples"
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "ingest" / "dev").mkdir(parents=True)
    (tmp_path / "ingest" / "all.yaml").write_text(BASE)
    (tmp_path / "ingest" / "dev" / "some.yaml").write_text(DEV)
    (tmp_path / "lakehouse.toml").write_text(SETTINGS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SHOP_PASSWORD", "planted")
    return tmp_path


def settings(**given: str) -> Settings:
    return load_settings(given)


def test_without_an_environment_the_base_counts_alone(project: Path):
    base = load_project(settings())
    (trips,) = base.files
    assert (trips.path, trips.format) == (str(project / "data" / "*.parquet"), "parquet")
    assert base.connections["reports"] == SqliteConnection(kind="sqlite", path=str(project / "reports.db"))
    assert base.http[0].url == "https://rates.example/v1"


def test_an_environment_is_laid_over_the_base_by_name(project: Path):
    dev = load_project(settings(LAKEHOUSE_ENV="dev"))
    assert [(each.name, each.path, each.format) for each in dev.files] == [
        ("trips", str(project / "samples" / "*.parquet"), "csv"),
        ("more", "/more.csv", "csv"),
    ]
    assert dev.connections["reports"] == SqliteConnection(kind="sqlite", path="/tmp/other.db")
    assert dev.deliver == load_project(settings()).deliver


@pytest.mark.usefixtures("project")
def test_secrets_are_not_filled_before_they_are_used():
    base = load_project(settings())
    address = "postgresql://${USER_NAME}:${SHOP_PASSWORD}@shop.example/shop"
    assert base.connections["shop"] == PostgresConnection(kind="postgresql", uri=address)
    assert base.http[0].headers == {"token": "${TOKEN}"}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("files: [{name: a, path: x, fromat: csv}]", "files.1.fromat: there is no such field; did you mean 'format'"),
        (
            "connections: {a: {kind: sqlite, pth: x}}",
            "connections.a.sqlite.pth: there is no such field; did you mean 'path'",
        ),
        (
            "streams: [{name: a, key: [x], source: {kind: files, path: x, format: json, optins: {}}}]",
            "optins: there is no such field; did you mean 'options'",
        ),
        ("file: []", "did you mean 'files'"),
        ("files: [{name: a, path: '${DATE}', format: csv}]", "did you mean 'DATA'"),
        ("files: {}\nhttp: {a: b}", "http is no list"),
    ],
)
def test_what_is_misspelt_is_refused_with_what_was_meant(project: Path, text: str, complaint: str):
    (project / "ingest" / "bad.yaml").write_text(text)
    with pytest.raises(BadInputError, match=complaint):
        load_project(settings())


def test_a_folder_that_is_no_environment_is_refused(project: Path):
    (project / "ingest" / "dev").rename(project / "ingest" / "dve")
    with pytest.raises(BadInputError, match=r"no environment 'dve' in lakehouse\.toml; did you mean 'dev'"):
        load_project(settings())
