"""Streams as a project's YAML names them: in the UI, and by the command."""

import json
from pathlib import Path

import dagster as dg
import pytest

from lakehouse_assets.assets.streams.definitions import stream_asset
from lakehouse_assets.cli.instance import open_instance
from lakehouse_assets.contracts.ingest import SqlProject
from lakehouse_assets.contracts.streams import StreamSpec
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.settings import Settings, load_settings
from lakehouse_assets.lake.resources import LakehouseResource
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.sources.sql.project import load_project
from lakehouse_assets_tests.support.command import lakehouse, lakehouse_json
from lakehouse_assets_tests.support.planted import files_with
from lakehouse_assets_tests.support.writes import rows_of

YAML = """
streams:
  - name: readings
    source: {{kind: files, path: {folder}, format: json}}
    key: [id]
    columns: [{{name: id, type: bigint}}, {{name: value, type: double}}]
"""


@pytest.fixture
def project(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "in").mkdir()
    (tmp_path / "ingest").mkdir()
    (tmp_path / "ingest" / "streams.yaml").write_text(YAML.format(folder=tmp_path / "in"))
    monkeypatch.setenv("LAKEHOUSE_INGEST", str(tmp_path / "ingest"))
    return tmp_path


@pytest.mark.usefixtures("spark")
def test_a_stream_runs_from_the_ui_and_by_the_command(project: Path, lake: Lake):
    held = load_project(load_settings(), project / "ingest")
    streams = held.streams
    (project / "in" / "1.json").write_text(json.dumps({"id": 1, "value": 1.5}))
    run = dg.materialize([stream_asset(held, streams[0])], resources={"lakehouse": LakehouseResource()})
    (made,) = run.asset_materializations_for_node("readings")
    assert made.metadata["inserted"].value == 1
    (project / "in" / "2.json").write_text(json.dumps({"id": 2, "value": 2.5}))
    assert [each["inserted"] for each in lakehouse_json("stream", "readings")] == [1]
    assert [row["id"] for row in rows_of(lake, streams[0].contract_over(None))] == [1, 2]


@pytest.mark.usefixtures("project")
def test_a_stream_that_is_not_named_is_refused():
    with pytest.raises(BadInputError, match="none of that name among readings"):
        lakehouse("stream", "nothing")


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"source": {"kind": "files", "path": "x", "format": "json"}}, "needs columns with types"),
        ({"source": {"kind": "table", "table": "nothing"}}, "no table nothing"),
        ({"name": "edges"}, "a table of the code graph"),
        ({"key": ["other"], "columns": [{"name": "id", "type": "int"}]}, "other is not one of the columns"),
        ({"key": ["repo"]}, "rows of edges are told apart by repo, "),
        ({"newest_by": "path"}, "newest_by goes with files"),
        (
            {"source": {"kind": "files", "path": "x", "format": "csv", "options": {"mode": "DROPMALFORMED"}}},
            "mode is not an option here",
        ),
        ({"source": {"kind": "table", "table": "s"}}, "s is made of itself: s from s"),
        ({"source": {"kind": "table", "table": "t"}}, "made of itself: s from t from s"),
    ],
)
def test_what_a_stream_cannot_be_is_refused_when_it_is_read(said: dict[str, object], told: str):
    plain = {"name": "s", "source": {"kind": "table", "table": "edges"}}
    other = {"name": "t", "source": {"kind": "table", "table": "s"}}
    with pytest.raises(ValueError, match=told):
        SqlProject.model_validate({"streams": [plain | said, other]})


def test_a_stream_of_a_table_has_its_columns_and_follows_it_in_the_lineage():
    spec = StreamSpec.model_validate({"name": "copy", "source": {"kind": "table", "table": "definitions"}})
    assert spec.known_contract is not None
    assert "qualified_name" in spec.known_contract.column_names
    assert stream_asset(SqlProject(streams=(spec,)), spec).asset_deps[dg.AssetKey("copy")] == {
        dg.AssetKey("definitions")
    }


SECRET = "Zyx98765-planted"


@pytest.mark.slow
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("key", ["id", "who"])
def test_a_sensitive_value_of_a_stream_is_in_its_table_alone(
    tmp_path: Path, settings: Settings, caplog: pytest.LogCaptureFixture, key: str
):
    (tmp_path / "in").mkdir()
    columns = [{"name": "id", "type": "bigint"}, {"name": "who", "type": "string", "sensitive": True}]
    source = {"kind": "files", "path": str(tmp_path / "in"), "format": "json"}
    spec = StreamSpec.model_validate({"name": "people", "source": source, "key": [key], "columns": columns})
    whole = SqlProject(streams=(spec,))

    def run() -> bool:
        with open_instance(settings) as instance:
            resources = {"lakehouse": LakehouseResource()}
            done = dg.materialize(
                [stream_asset(whole, spec)], resources=resources, instance=instance, raise_on_error=False
            )
            told = [str(each) for each in instance.all_logs(done.run_id)]
        assert not [each for each in told if SECRET in each]
        assert SECRET not in caplog.text
        return done.success

    (tmp_path / "in" / "1.json").write_text(json.dumps({"id": 1, "who": SECRET}))
    assert run()
    # Twice in one batch: refused, and told of without the key.
    (tmp_path / "in" / "2.json").write_text(f'{{"id": 2, "who": "{SECRET}-2"}}\n' * 2)
    assert not run()
    held = list(files_with(settings.home, SECRET))
    assert {path.parts[:2] for path in held} == {("lake", "people")}
    assert {path.suffix for path in held} == {".parquet"}
