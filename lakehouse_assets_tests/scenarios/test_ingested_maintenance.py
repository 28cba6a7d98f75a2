"""Tables that were ingested are kept small like all others, and deliveries go on from where they were."""

import sqlite3
from pathlib import Path

import pytest

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.settings import Settings, load_settings
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.sources.sql.ingested import ingested_contracts
from lakehouse_assets_tests.support.command import lakehouse, lakehouse_json
from lakehouse_assets_tests.support.places import local

YAML = """
connections:
  reports: {{kind: sqlite, path: "{folder}/reports.db"}}
files:
  - name: things
    path: "{folder}/in/*.csv"
    format: csv
    columns: [{{name: id, type: bigint}}, {{name: secret, sensitive: true}}]
deliver:
  - {{asset: things, connection: reports, table: things}}
"""


@pytest.fixture
def folder(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "ingest").mkdir()
    (tmp_path / "in").mkdir()
    (tmp_path / "ingest" / "all.yaml").write_text(YAML.format(folder=tmp_path))
    monkeypatch.setenv("LAKEHOUSE_INGEST", str(tmp_path / "ingest"))
    return tmp_path


def come(folder: Path, *numbers: int) -> None:
    """So many runs, each with a file of its own."""
    for number in numbers:
        (folder / "in" / f"{number}.csv").write_text(f"id,secret\n{number},planted{number}\n")
        assert lakehouse("ingest", "things").exit_code == 0


def rows_there(folder: Path) -> int:
    with sqlite3.connect(folder / "reports.db") as held:
        (count,) = held.execute("SELECT count(*) FROM things").fetchone()
    held.close()
    return count


def test_small_files_are_written_together_and_the_delivery_goes_on_by_the_feed(folder: Path):
    come(folder, *range(3))
    (folder / "in" / "0.csv").write_text("id,secret\n0,other\n")
    assert lakehouse("ingest", "things").exit_code == 0
    (done,) = lakehouse_json("optimize", "things", "--everything")
    assert (done["table"], done["files after"]) == ("things", 1)
    (contract,) = ingested_contracts(load_settings())
    log = local(Lake(load_settings().lake).path(contract)) / "_delta_log"
    assert not [path for path in log.glob("*.json") if "planted" in path.read_text()]
    # What the delivery has yet to send is changed, compacted and vacuumed behind its back.
    (folder / "in" / "1.csv").write_text("id,secret\n1,other\n")
    assert lakehouse("ingest", "things").exit_code == 0
    before = lakehouse_json("sql", "SELECT max(version) AS v FROM deliveries")[0]["v"]
    (told,) = lakehouse_json("vacuum", "things", "--older-than", "0")
    assert told["removed_files"] > 0
    come(folder, 9)
    ways = lakehouse_json("sql", f"SELECT way FROM deliveries WHERE version > {before}")
    assert {row["way"] for row in ways} == {"feed"}
    assert rows_there(folder) == 4


def test_what_a_delivery_has_yet_to_send_is_held(folder: Path):
    come(folder, 1, 2)
    yaml = folder / "ingest" / "all.yaml"
    whole = yaml.read_text()
    yaml.write_text(whole.partition("deliver:")[0])  # it waits
    (folder / "in" / "1.csv").write_text("id,secret\n1,other\n")
    assert lakehouse("ingest", "things").exit_code == 0
    (folder / "in" / "2.csv").write_text("id,secret\n2,other\n")
    assert lakehouse("ingest", "things").exit_code == 0
    yaml.write_text(whole)
    lakehouse("optimize", "things", "--everything")
    (told,) = lakehouse_json("vacuum", "things", "--older-than", "0")
    assert [each["by"] for each in told["held"]] == ["delivery of things to reports.things"]
    (sent,) = lakehouse_json("deliver", "things")
    assert (sent["way"], sent["rows_updated"], sent["target_rows"]) == ("feed", 2, 2)


@pytest.mark.usefixtures("folder")
def test_a_table_that_nobody_names_is_refused_with_the_nearest(folder: Path):
    come(folder, 1)
    with pytest.raises(BadInputError, match="did you mean 'things'"):
        lakehouse("optimize", "thing")
