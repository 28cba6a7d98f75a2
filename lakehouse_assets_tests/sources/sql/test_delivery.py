"""A table of the lake in a database: every type arrives, only changes are sent, and what does not fit is refused."""

from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from lakehouse_assets.contracts.connections import PostgresConnection, SqliteConnection
from lakehouse_assets.contracts.ingest import Delivery, Ingest, SqlProject, ingest_contract
from lakehouse_assets.contracts.table import ColumnType
from lakehouse_assets.core.errors import BadInputError, LakeStateError, SourceError
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.sources.sql import delivery as out
from lakehouse_assets.sources.sql.delivered import delivered_table
from lakehouse_assets.sources.sql.whole_way import deliver_table
from lakehouse_assets_tests.support.shops import run_sql, table_rows, tables
from lakehouse_assets_tests.support.writes import table_of, write

TYPES: dict[str, ColumnType] = {
    "id": "bigint",
    "text": "string",
    "small": "int",
    "number": "double",
    "truth": "boolean",
    "day": "date",
    "moment": "timestamp",
    "words": "array<string>",
    "payload": "binary",
}
WHOLE: dict[str, Any] = {
    "id": 1,
    "text": 'it\'s "quoted", with ünïcode and a tab\t',
    "small": -7,
    "number": 0.1 + 0.2,
    "truth": True,
    "day": date(1969, 12, 31),
    "moment": datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC),
    "words": ["a", "b,c", ""],
    "payload": b"\x00\xff",
}
EMPTY: dict[str, Any] = dict.fromkeys(TYPES) | {"id": 2}


@pytest.fixture(params=["postgres", "sqlite"])
def target(request: pytest.FixtureRequest) -> PostgresConnection | SqliteConnection:
    return request.getfixturevalue(request.param)


class Table:
    """A table of the lake with every type, and its delivery."""

    def __init__(self, settings: Settings, target: PostgresConnection | SqliteConnection, **more: Any) -> None:
        ingest = Ingest(name="things", connection="there", table="nothing", key=("id",), strategy="snapshot")
        self.settings, self.target = settings, target
        self.contract = ingest_contract(ingest, TYPES)
        self.delivery = Delivery(asset="things", connection="there", table="copy", **more)
        self.project = SqlProject(connections={"there": target}, ingest=(ingest,), deliver=(self.delivery,))

    def hold(self, *rows: dict[str, Any], run_id: str) -> None:
        """Make these the rows of the lake's table."""
        batch = table_of(self.contract, rows)
        write(Lake(self.settings.lake), self.contract, batch, partitions={"": ()}, run_id=run_id)

    def send(self, **options: Any) -> dict[str, Any]:
        return deliver_table(self.settings, self.project, self.delivery, **options)


def counts(row: dict[str, Any]) -> list[int]:
    return [row[f"rows_{name}"] for name in ("inserted", "updated", "deleted", "unchanged")]


def test_every_type_arrives_and_only_changes_are_sent(settings: Settings, target: Any):
    things = Table(settings, target)
    things.hold(WHOLE, EMPTY, run_id="1")
    assert counts(things.send()) == [2, 0, 0, 0]
    assert counts(things.send()) == [0, 0, 0, 0]
    things.hold({**WHOLE, "words": []}, {**EMPTY, "id": 3}, run_id="2")
    done = things.send()
    assert (done["way"], counts(done), done["rows_compared"]) == ("feed", [1, 1, 1, 0], 2)
    assert [row[0] for row in table_rows(target, "copy", ["id"])] == ["1", "3"]


def test_the_table_of_a_stream_is_delivered_like_any_other(settings: Settings, sqlite: SqliteConnection):
    source = {"kind": "files", "path": "nowhere", "format": "json"}
    columns = [{"name": "id", "type": "bigint"}, {"name": "value", "type": "double"}]
    parts = {
        "connections": {"there": sqlite},
        "streams": [{"name": "readings", "source": source, "key": ["id"], "columns": columns}],
        "deliver": [{"asset": "readings", "connection": "there", "table": "copy"}],
    }
    project = SqlProject.model_validate(parts)
    with pytest.raises(BadInputError, match="no table readings yet"):
        deliver_table(settings, project, project.deliver[0])
    contract = project.streams[0].contract_over(None)
    rows = table_of(contract, [{"id": 1, "value": 1.5}])
    write(Lake(settings.lake), contract, rows, partitions={"": ()}, run_id="1")
    assert deliver_table(settings, project, project.deliver[0])["rows_inserted"] == 1
    assert table_rows(sqlite, "copy", ["id", "value"]) == [("1", "1.5")]


def test_a_table_of_somebody_else_is_left_alone(settings: Settings, target: Any):
    run_sql(target, ["CREATE TABLE copy (id bigint, text text)", "INSERT INTO copy VALUES (9, 'mine')"])
    things = Table(settings, target)
    things.hold(EMPTY, run_id="1")
    with pytest.raises(BadInputError, match="has rows already"):
        things.send()
    adopted = Table(settings, target, adopt=True, schema_policy="evolve")
    assert counts(adopted.send()) == [1, 0, 1, 0]


def test_a_column_of_another_type_is_refused(settings: Settings, target: Any):
    run_sql(target, ["CREATE TABLE copy (id bigint, moment integer)"])
    things = Table(settings, target, schema_policy="evolve")
    things.hold(EMPTY, run_id="1")
    with pytest.raises(BadInputError, match="moment is"):
        things.send()
    assert not [name for name in tables(target) if name.startswith("lakehouse_staging")]


def test_a_target_that_somebody_changed_is_noticed_and_mended_on_demand(settings: Settings, target: Any):
    things = Table(settings, target)
    things.hold(WHOLE, EMPTY, run_id="1")
    things.send()
    run_sql(target, ["DELETE FROM copy WHERE id = 2"])
    with pytest.raises(LakeStateError, match="the target has 1 rows and the lake 2"):
        things.send()
    assert counts(things.send(everything=True)) == [1, 0, 0, 1]


def test_of_two_runs_at_once_the_second_is_refused(settings: Settings, target: Any):
    things = Table(settings, target)
    things.hold(WHOLE, run_id="1")
    things.send()
    things.hold(WHOLE, EMPTY, run_id="2")
    lake = Lake(settings.lake)
    table = delivered_table(lake, things.project, things.delivery)
    staged = out.stage(lake, things.project, things.delivery, table, run_id="slow")
    things.send()
    with pytest.raises(LakeStateError, match="another run has delivered"):
        out.merge(things.project, things.delivery, staged, run_id="slow")


def test_a_run_that_is_overtaken_says_so_and_leaves_the_other_s_staging_table_alone(settings: Settings, target: Any):
    things = Table(settings, target)
    things.hold(WHOLE, EMPTY, run_id="1")
    lake = Lake(settings.lake)
    table = delivered_table(lake, things.project, things.delivery)
    slow, quick = (
        out.stage(lake, things.project, things.delivery, table, run_id=run_id) for run_id in ("slow", "quick")
    )
    with pytest.raises(LakeStateError, match="another run has delivered"):
        out.merge(things.project, things.delivery, slow, run_id="slow")
    merged = out.merge(things.project, things.delivery, quick, run_id="quick")
    assert out.reconcile(things.project, things.delivery, merged, lake).target_rows == 2


def test_a_password_is_in_no_message(settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("PLANTED_PASSWORD", "p@ss:w0rd/planted")
    uri = f"postgresql://someone:${{PLANTED_PASSWORD}}@localhost:1/x?host={tmp_path}"
    things = Table(settings, PostgresConnection(kind="postgresql", uri=uri))
    things.hold(EMPTY, run_id="1")
    with pytest.raises(SourceError) as refused:
        things.send()
    assert "planted" not in str(refused.value)
    monkeypatch.delenv("PLANTED_PASSWORD")
    with pytest.raises(BadInputError, match="PLANTED_PASSWORD is not set"):
        things.send()
