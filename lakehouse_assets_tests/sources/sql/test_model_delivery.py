"""Models in a database: what their environment shows, only changes, and all of it when another version is promoted."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from lakehouse_assets.assets.holders import deliveries
from lakehouse_assets.contracts.connections import PostgresConnection, SqliteConnection
from lakehouse_assets.contracts.ingest import SqlProject
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.settings import Settings, load_settings
from lakehouse_assets.lake.environment_changes import promote, rollback
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.holds import Hold
from lakehouse_assets.sources.sql.project import load_project
from lakehouse_assets.sources.sql.whole_way import deliver_table
from lakehouse_assets_tests.support.model_lake import ModelLake, file
from lakehouse_assets_tests.support.models import model_text
from lakehouse_assets_tests.support.shops import table_rows

LARGE = "SELECT repo, path, size FROM snapshots WHERE size > 1"
BY_REPO = {"materialization": "by_partition", "partition_by": "[repo]"}


class Reports:
    """The model `large`, applied in prod, and its table in a database."""

    def __init__(self, settings: Settings, target: PostgresConnection | SqliteConnection, **more: Any) -> None:
        self.settings, self.target = settings, target
        self.models = ModelLake(Lake(settings.lake), settings.home / "models")
        self.models.rows(SNAPSHOTS, [file("a", "x.py", 1), file("a", "y.py", 2), file("b", "z.py", 3)])
        self.models.models(large=model_text(LARGE, **BY_REPO))
        self.models.create("prod")
        self.models.apply("prod")
        deliver = {"asset": "large", "connection": "there", "table": "large_files", **more}
        parts = {"connections": {"there": target.model_dump()}, "deliver": [deliver]}
        self.project = SqlProject.model_validate(parts)

    def send(self) -> dict[str, Any]:
        return deliver_table(self.settings, self.project, self.project.deliver[0])

    def there(self) -> list[tuple[Any, ...]]:
        return table_rows(self.target, "large_files", ["repo", "path", "size"])


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("LAKEHOUSE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LAKEHOUSE_INGEST", str(tmp_path / "ingest"))
    monkeypatch.setenv("LAKEHOUSE_MODELS", str(tmp_path / "home" / "models"))
    (tmp_path / "ingest").mkdir()
    return load_settings()


@pytest.fixture(params=["postgres", "sqlite"])
def target(request: pytest.FixtureRequest) -> PostgresConnection | SqliteConnection:
    return request.getfixturevalue(request.param)


def counts(row: dict[str, Any]) -> list[int]:
    return [row[f"rows_{name}"] for name in ("inserted", "updated", "deleted", "unchanged")]


def test_a_model_is_sent_as_its_environment_shows_it_and_then_only_what_changed(settings: Settings, target: Any):
    reports = Reports(settings, target)
    assert counts(reports.send()) == [2, 0, 0, 0]
    assert (reports.send()["way"], reports.there()) == ("nothing", [("a", "y.py", "2"), ("b", "z.py", "3")])
    reports.models.rows(SNAPSHOTS, [file("a", "x.py", 9), file("a", "y.py", 1)])
    assert counts(reports.send()) == [0, 0, 0, 0]  # prod was not applied yet
    reports.models.apply("prod")
    done = reports.send()
    assert (done["way"], done["reason"], counts(done)) == ("feed", "", [1, 0, 1, 0])
    assert reports.there() == [("a", "x.py", "9"), ("b", "z.py", "3")]


def test_what_another_environment_builds_on_in_the_same_table_is_not_sent(settings: Settings, sqlite: SqliteConnection):
    reports = Reports(settings, sqlite)
    reports.send()
    reports.models.create("dev", base="prod")
    reports.models.rows(SNAPSHOTS, [file("a", "x.py", 9), file("a", "y.py", 2)])
    reports.models.apply("dev")
    assert (reports.send()["way"], len(reports.there())) == ("nothing", 2)
    promote(reports.models.lake, "dev", "prod")
    done = reports.send()
    assert (done["way"], counts(done)) == ("feed", [1, 0, 0, 0])


def test_another_version_that_was_promoted_is_compared_as_a_whole_and_said(settings: Settings, target: Any):
    reports = Reports(settings, target)
    first = reports.send()
    reports.models.create("dev", base="prod")
    reports.models.models(large=model_text(LARGE.replace("1", "2"), **BY_REPO))
    reports.models.apply("dev")
    assert reports.send()["way"] == "nothing"
    promote(reports.models.lake, "dev", "prod")
    done = reports.send()
    assert (done["way"], counts(done)) == ("full", [0, 0, 1, 1])
    assert done["reason"] == f"prod shows {done['table_name']} in the place of {first['table_name']}"
    assert reports.there() == [("b", "z.py", "3")]
    (hold,) = deliveries_held(reports)
    assert (hold.table, hold.version) == (done["table_name"], done["version"])
    rollback(reports.models.lake, "prod")
    assert counts(reports.send()) == [1, 0, 0, 1]


def deliveries_held(reports: Reports) -> list[Hold]:
    """What a vacuum has to leave for the delivery, as the ingest folder names it."""
    parts = reports.project.model_dump(mode="json", include={"connections", "deliver"})
    (reports.settings.ingest / "out.yaml").write_text(yaml.safe_dump(parts))
    return list(deliveries(reports.settings))


def test_a_column_that_a_version_added_is_sent_by_policy(settings: Settings, sqlite: SqliteConnection):
    reports = Reports(settings, sqlite, schema_policy="evolve")
    reports.send()
    reports.models.models(large=model_text(LARGE.replace("size FROM", "size, language FROM"), **BY_REPO))
    reports.models.apply("prod")
    assert (reports.send()["reason"], reports.there()) == (
        "the target lacks language",
        [("a", "y.py", "2"), ("b", "z.py", "3")],
    )


def test_an_environment_of_choice_is_sent_tables_too(settings: Settings, sqlite: SqliteConnection):
    reports = Reports(settings, sqlite, asset="snapshots", environment="prod")
    reports.models.rows(SNAPSHOTS, [file("c", "new.py", 5)])
    assert counts(reports.send()) == [3, 0, 0, 0]  # as prod has it


def test_a_model_that_the_environment_has_not_is_refused_with_the_nearest(settings: Settings, sqlite: SqliteConnection):
    with pytest.raises(BadInputError, match="no lager; did you mean"):
        Reports(settings, sqlite, asset="lager").send()


def test_an_environment_that_is_not_there_is_refused(settings: Settings, sqlite: SqliteConnection):
    with pytest.raises(BadInputError, match="none of that name"):
        Reports(settings, sqlite, environment="nowhere").send()


def test_a_view_is_refused(settings: Settings, sqlite: SqliteConnection):
    reports = Reports(settings, sqlite)
    reports.models.models(large=model_text(LARGE, key=None, materialization="view"))
    reports.models.apply("prod")
    with pytest.raises(BadInputError, match="a view in prod"):
        reports.send()


def test_a_name_that_is_neither_table_nor_model_is_refused_when_it_is_read(settings: Settings):
    settings.models.mkdir(parents=True)
    (settings.models / "large.sql").write_text(model_text(LARGE, **BY_REPO))
    parts = "connections: {x: {kind: sqlite, path: x.db}}\ndeliver: [{asset: %s, connection: x, table: t}]\n"
    (settings.ingest / "out.yaml").write_text(parts % "lager")
    with pytest.raises(BadInputError, match=r"nor a model; did you mean .large"):
        load_project(settings)
    (settings.ingest / "out.yaml").write_text(parts % "large")
    assert load_project(settings).deliver[0].asset == "large"
