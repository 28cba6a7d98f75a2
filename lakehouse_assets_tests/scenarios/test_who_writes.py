"""Every commit of every table is an engine's, and so is every file below a table, whatever was done to the lake."""

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from lakehouse_assets.contracts.writes import WRITES
from lakehouse_assets.core.settings import WantedEngine, load_settings
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.command import lakehouse
from lakehouse_assets_tests.support.places import local
from lakehouse_assets_tests.support.repos import RepoBuilder

ENGINES = ("delta-rs:", "Apache-Spark/")
OPERATIONS = {
    *("CREATE TABLE", "WRITE", "MERGE", "DELETE", "OPTIMIZE", "ADD COLUMN", "SET TBLPROPERTIES"),
    *("UPDATE FIELD METADATA", "VACUUM START", "VACUUM END"),
}
NAMED_BY_ENGINES = re.compile(
    r"(.+=[^/]*/)*((part|cdc)-\d{5}-[-0-9a-f]{36}[-.c0-9]*\.(zstd|snappy)\.parquet)"
    r"|(_change_data/)(.+=[^/]*/)*cdc-\d{5}-[-0-9a-f]{36}[-.c0-9]*\.(zstd|snappy)\.parquet"
)
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


def run(*words: str) -> None:
    assert lakehouse(*words).exit_code == 0, words


def live(folder: Path) -> None:
    """A build, updates, an ingest with a delivery and a stream, models, maintenance, a pin and a removal."""
    shop, gone = RepoBuilder(folder / "shop"), RepoBuilder(folder / "gone")
    shop.commit({"a.py": "import b\n\ndef f():\n    return b.g()\n", "b.py": "def g():\n    return 1\n"})
    gone.commit({"c.py": "x = 1\n"})
    run("repo", "add", "shop", str(shop.path))
    run("repo", "add", "gone", str(gone.path))
    run("sync", "--all")
    for number in range(2):
        shop.commit({"b.py": f"def g():\n    return {number} + 2\n", f"n{number}.py": "import a\n"})
        run("sync", "shop")
    run("pin", "shop@HEAD")
    with sqlite3.connect(folder / "shop.db") as source:
        source.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, amount REAL)")
        source.execute("INSERT INTO orders VALUES (1, 0.5), (2, 1.5)")
    sqlite3.connect(folder / "reports.db").close()
    (folder / "trips.csv").write_text("id,town\n1,Bonn\n2,Ulm\n")
    run("ingest", "--all")
    run("stream", "--all")
    run("env", "create", "dev")
    run("apply", "dev")
    run("optimize", "--everything")
    run("repo", "remove", "gone")
    run("gc")
    run("vacuum", "--older-than", "0")


@pytest.fixture(scope="module", params=["local", pytest.param("spark", marks=pytest.mark.slow)])
def engine(request: pytest.FixtureRequest) -> WantedEngine:
    return request.param


@pytest.fixture(scope="module")
def lake(engine: WantedEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    """A lake that was lived in, written by whom the setting names."""
    folder = tmp_path_factory.mktemp("lived")
    (folder / "ingest").mkdir()
    (folder / "ingest" / "all.yaml").write_text(INGEST.format(folder=folder))
    environ = {"HOME": folder / "home", "INGEST": folder / "ingest", "ENGINE": engine}
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("DAGSTER_HOME", raising=False)
        for name, value in environ.items():
            patch.setenv(f"LAKEHOUSE_{name}", str(value))
        live(folder)
        yield Lake(load_settings().lake)


def commits_of(table: Path) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    for entry in sorted((table / "_delta_log").glob("*.json")):
        if entry.stem.isdecimal():
            yield int(entry.stem), [json.loads(line) for line in entry.read_text().split("\n") if line]


def test_every_commit_and_every_file_below_a_table_is_an_engine_s(lake: Lake, engine: WantedEngine):
    tables = sorted(path.parent for path in local(lake.root).rglob("_delta_log"))
    assert {"edges", "writes", "orders", "followed", "pins", "repositories"} <= {path.name for path in tables}
    engines: Counter[str] = Counter()
    for table in tables:
        known: set[str] = set()
        for version, actions in commits_of(table):
            (info,) = [action["commitInfo"] for action in actions if "commitInfo" in action]
            assert info["engineInfo"].startswith(ENGINES), (table.name, version, info)
            assert info["operation"] in OPERATIONS, (table.name, version, info)
            engines[info["engineInfo"].split(":")[0].split("/")[0]] += 1
            known |= {unquote(a[kind]["path"]) for a in actions for kind in ("add", "cdc", "remove") if kind in a}
        there = {path.relative_to(table).as_posix() for path in table.rglob("*.parquet")}
        data = {path for path in there if not path.startswith("_delta_log/")}
        assert data <= known, table.name
        assert not [path for path in data if not NAMED_BY_ENGINES.fullmatch(path)]
    assert set(engines) == {"delta-rs", "Apache-Spark"}  # what comes by a stream is on Spark
    assert (engines["delta-rs"] > engines["Apache-Spark"]) == (engine == "local")


def test_every_row_of_writes_says_what_its_commit_says(lake: Lake):
    checked = 0
    for row in lake.rows(WRITES):
        if row["executor"] == "none":
            continue
        entry = local(lake.root) / row["asset"] / "_delta_log" / f"{row['version_after']:020}.json"
        if not entry.exists():
            continue  # of a table that is gone
        actions = [json.loads(line) for line in entry.read_text().split("\n") if line]
        (info,) = [action["commitInfo"] for action in actions if "commitInfo" in action]
        assert row["engine"] == info["engineInfo"], row
        assert info["engineInfo"].startswith({"delta-rs": "delta-rs:", "spark": "Apache-Spark/"}[row["executor"]]), row
        if row["statement"] is not None:
            told = row["statement"].startswith(("MERGE INTO ", "DeltaTable.merge("))
            assert told == (info["operation"] == "MERGE"), row
        checked += 1
    assert checked > 20
