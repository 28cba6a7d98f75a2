"""A planted value of a sensitive column that came by files or pages is in its table, and in no other file or log."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import dagster as dg
import pytest

from lakehouse_assets.assets.sql.definitions import sql_definitions
from lakehouse_assets.cli.instance import open_instance
from lakehouse_assets.contracts.ingest import SqlProject
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.resources import LakehouseResource
from lakehouse_assets_tests.support.command import lakehouse
from lakehouse_assets_tests.support.places import local
from lakehouse_assets_tests.support.planted import files_with

SECRET = "Zyx98765-planted"
slow = pytest.mark.slow
WHO = {"name": "who", "sensitive": True}
COLUMNS = [{"name": "id", "type": "bigint"}, WHO]


def run(settings: Settings, caplog: pytest.LogCaptureFixture, **parts: Any) -> bool:
    """Materialize all of a project; the log tells no secret, nor does a file that is no table's."""
    project = SqlProject.model_validate(parts)
    resources = dg.Definitions(resources={"lakehouse": LakehouseResource()})
    job = dg.Definitions.merge(sql_definitions(project), resources).resolve_implicit_global_asset_job_def()
    with open_instance(settings) as instance:
        done = job.execute_in_process(instance=instance, raise_on_error=False)
        told = [str(each) for each in instance.all_logs(done.run_id)]
    assert not [each for each in told if SECRET in each]
    assert SECRET not in caplog.text
    lakehouse("story", done.run_id, "-o", str(settings.home / "story.html"))
    assert not [path for path in files_with(settings.home, SECRET) if path.suffix != ".parquet"]
    return done.success


def files(folder: Path, kind: str, **more: Any) -> dict[str, Any]:
    return {"name": "people", "path": str(folder / "*.in"), "format": kind, "columns": COLUMNS, **more}


@pytest.mark.parametrize(
    ("kind", "text", "more"),
    [
        ("csv", f"id,who\n1,{SECRET}\n", {}),
        pytest.param("jsonl", json.dumps({"id": 1, "who": SECRET}), {}, marks=slow),
        pytest.param("log", f"1 {SECRET}\n", {"pattern": r"(?P<id>\d+) (?P<who>\S+)"}, marks=slow),
        pytest.param("text", f"1 {SECRET}\n", {"pattern": r"(?P<id>\d+) (?P<who>\S+)"}, marks=slow),
    ],
)
def test_a_file_s_value_is_in_the_table_alone(
    settings: Settings, tmp_path: Path, caplog: pytest.LogCaptureFixture, kind: str, text: str, more: dict[str, Any]
):
    (tmp_path / "a.in").write_text(text)
    assert run(settings, caplog, files=[files(tmp_path, kind, **more)])
    (tmp_path / "a.in").write_text(text.replace(SECRET, f"{SECRET}-changed"))
    assert run(settings, caplog, files=[files(tmp_path, kind, **more)])
    assert {path.parts[0] for path in files_with(local(settings.lake), SECRET)} == {"people"}


@pytest.mark.parametrize(
    ("kind", "text", "more"),
    [
        pytest.param("csv", f"id,who\n{SECRET},x\n", {}, marks=slow),
        ("csv", f"id,who\n1,{SECRET},{SECRET}\n", {}),
        pytest.param("json", f'{{"id": 1, "who": "{SECRET}"', {}, marks=slow),
        pytest.param("json", json.dumps({"who": SECRET}), {"records": "people"}, marks=slow),
        pytest.param("log", f"{SECRET}\n", {"pattern": r"(?P<id>\d+) (?P<who>\S+)"}, marks=slow),
        pytest.param("parquet", SECRET, {}, marks=slow),
        pytest.param(
            "csv",
            f"id,who\n1,{SECRET}\n",
            {"columns": [{"name": "who", "type": "bigint", "sensitive": True}]},
            marks=slow,
        ),
        pytest.param(
            "csv",
            f"id,who\n1,{SECRET}\n",
            {"columns": [{"name": "who", "type": "date", "sensitive": True}]},
            marks=slow,
        ),
    ],
)
def test_a_bad_file_tells_nothing_of_what_it_holds(
    settings: Settings, tmp_path: Path, caplog: pytest.LogCaptureFixture, kind: str, text: str, more: dict[str, Any]
):
    (tmp_path / "a.in").write_text(text)
    assert run(settings, caplog, files=[files(tmp_path, kind, **more)])
    assert not list(files_with(local(settings.lake), SECRET))


class _Pages(BaseHTTPRequestHandler):
    body: ClassVar[str] = ""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.body.encode())

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the name that its caller uses
        """Quiet."""


@pytest.fixture
def server() -> Iterator[str]:
    held = ThreadingHTTPServer(("127.0.0.1", 0), _Pages)
    threading.Thread(target=held.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{held.server_port}/people"
    held.shutdown()
    held.server_close()


@pytest.mark.parametrize(
    ("body", "is_good"),
    [
        (json.dumps({"rows": [{"id": 1, "who": SECRET}]}), True),
        (f'{{"rows": ["{SECRET}"', False),
        pytest.param(json.dumps({"rows": [{"id": SECRET, "who": SECRET}]}), False, marks=slow),
        pytest.param(json.dumps({"nobody": SECRET}), False, marks=slow),
    ],
)
def test_a_page_s_value_is_in_the_table_alone(
    settings: Settings,
    server: str,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    body: str,
    is_good: bool,
):
    monkeypatch.setenv("TOKEN", f"{SECRET}-token")
    _Pages.body = body
    page = {"name": "people", "url": server, "records": "rows", "headers": {"token": "${TOKEN}"}, "columns": COLUMNS}
    assert run(settings, caplog, http=[page]) is is_good
    assert {path.parts[0] for path in files_with(local(settings.lake), SECRET)} == ({"people"} if is_good else set())
