"""Streams of tables that came from elsewhere: ingested, landed from files, or filled by another stream."""

from pathlib import Path
from typing import Any

import pytest

from lakehouse_assets.assets.streams.running import take_stream
from lakehouse_assets.contracts.connections import SqliteConnection
from lakehouse_assets.contracts.ingest import SqlProject
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.streams import StreamReport
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.sources.sql.ingested import table_contract
from lakehouse_assets.sources.sql.whole_way import ingest_table, land_table
from lakehouse_assets_tests.support.shops import run_sql


class Source:
    """A table in SQLite that is compared as a whole, and streams of it in the lake."""

    def __init__(self, settings: Settings, folder: Path, *streams: dict[str, Any], **more: Any) -> None:
        self.settings = settings
        self.database = SqliteConnection(kind="sqlite", path=str(folder / "shop.db"))
        columns = [{"name": "email", "sensitive": True}]
        ingest = {"name": "people", "connection": "shop", "table": "people", "key": ["id"], "strategy": "snapshot"}
        parts = {"connections": {"shop": self.database}, "ingest": [{**ingest, "columns": columns}], **more}
        self.project = SqlProject.model_validate({**parts, "streams": streams})
        self.run("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, email TEXT)")

    def run(self, *statements: str) -> None:
        run_sql(self.database, statements)

    def ingest(self) -> None:
        ingest_table(self.settings, self.project, self.project.ingest[0])

    def take(self, name: str) -> StreamReport:
        spec = next(each for each in self.project.streams if each.name == name)
        return take_stream(self.settings, self.project, spec)

    def rows(self, name: str) -> list[dict[str, Any]]:
        lake = Lake(self.settings.lake)
        contract = table_contract(lake, self.project, name)
        assert contract is not None
        return sorted(lake.rows(contract), key=lambda row: row[contract.key[0]])


def of(table: str, name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "source": {"kind": "table", "table": table}, **more}


def test_a_stream_of_a_table_that_is_not_there_yet_is_refused(settings: Settings, tmp_path: Path):
    source = Source(settings, tmp_path, of("people", "copy"))
    with pytest.raises(BadInputError, match="the lake has no table people yet"):
        source.take("copy")


@pytest.mark.slow
@pytest.mark.usefixtures("spark")
def test_an_ingested_table_streams_its_changes_deletes_and_secrets_too(settings: Settings, tmp_path: Path):
    source = Source(
        settings, tmp_path, of("people", "copy"), of("people", "names", columns=[{"name": "id"}, {"name": "name"}])
    )
    source.run("INSERT INTO people VALUES (1, 'Ann', 'a@x'), (2, 'Bob', 'b@x')")
    source.ingest()
    assert source.take("copy").inserted == 2
    source.run("UPDATE people SET name = 'Bea' WHERE id = 2", "DELETE FROM people WHERE id = 1")
    source.run("INSERT INTO people VALUES (3, 'Cy', 'c@x')")
    source.ingest()
    done = source.take("copy")
    assert (done.inserted, done.updated, done.deleted) == (1, 1, 1)
    assert source.rows("copy") == source.rows("people")
    source.take("names")
    assert source.rows("names") == [{"id": 2, "name": "Bea"}, {"id": 3, "name": "Cy"}]
    copied = table_contract(Lake(settings.lake), source.project, "copy")
    assert copied is not None
    assert copied.sensitive_columns == {"email"}


@pytest.mark.slow
@pytest.mark.usefixtures("spark")
def test_a_column_that_the_source_gets_later_comes_along(settings: Settings, tmp_path: Path):
    source = Source(settings, tmp_path, of("people", "copy"), of("copy", "copy_of_copy"))
    source.run("INSERT INTO people VALUES (1, 'Ann', 'a@x')")
    source.ingest()
    source.take("copy")
    source.take("copy_of_copy")
    source.run("INSERT INTO people VALUES (2, 'Bob', 'b@x')")
    source.ingest()
    source.run("ALTER TABLE people ADD COLUMN city TEXT DEFAULT 'Ulm'", "DELETE FROM people WHERE id = 1")
    source.ingest()
    for name in ("copy", "copy_of_copy"):
        source.take(name)
        assert source.rows(name) == source.rows("people") == [{"id": 2, "name": "Bob", "email": "b@x", "city": "Ulm"}]


@pytest.mark.slow
@pytest.mark.usefixtures("spark")
def test_files_that_were_landed_stream_on(settings: Settings, tmp_path: Path):
    landed = {"name": "trips", "path": str(tmp_path / "*.csv"), "format": "csv"}
    source = Source(settings, tmp_path, of("trips", "copy"), files=[landed])
    (tmp_path / "1.csv").write_text("a,b\n1,2\n3,4\n")
    land_table(settings, source.project.files[0])
    assert source.take("copy").inserted == 2
    (tmp_path / "1.csv").write_text("a,b\n1,2\n")
    land_table(settings, source.project.files[0])
    assert source.take("copy").deleted == 1
    assert source.rows("copy") == source.rows("trips")
