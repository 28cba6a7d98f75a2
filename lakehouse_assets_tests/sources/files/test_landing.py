"""Files and pages come into their table once, however often the job runs; a bad one is named and set aside."""

import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import permutations
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakehouse_assets.contracts.files import FileIngest, HttpIngest
from lakehouse_assets.contracts.landed_sources import LANDED_SOURCES
from lakehouse_assets.core.errors import BadInputError, SourceError
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.sources.files.landing import LandedReport, stored_landed_contract
from lakehouse_assets.sources.files.pages import pages
from lakehouse_assets.sources.files.waiting import last_page
from lakehouse_assets.sources.sql.whole_way import land_table
from lakehouse_assets_tests.support.readings import write_readings


def land(settings: Settings, folder: Path, names: str, kind: str, **more: Any) -> LandedReport:
    return land_table(settings, FileIngest(name="things", path=str(folder / names), format=kind, **more))


def rows(settings: Settings, *names: str, **more: Any) -> list[tuple[Any, ...]]:
    lake = Lake(settings.lake)
    contract = stored_landed_contract(lake, FileIngest(name="things", path="x", format="csv", **more))
    assert contract is not None
    table = lake.read(contract, columns=["source", "source_row", *names])
    order = table.sort_by([("source", "ascending"), ("source_row", "ascending")])
    return list(zip(*(order[name].to_pylist() for name in names), strict=True))


def test_each_file_is_landed_once_and_again_when_it_changed(settings: Settings, tmp_path: Path):
    (tmp_path / "a.csv").write_text('id,name\n1,"Ann, with\na line"\n2,""\n3,\n')
    (tmp_path / "b.csv").write_text("id,name,extra\n4,Bob,x\n")
    typed = {"columns": [{"name": "id", "type": "bigint"}]}
    first = land(settings, tmp_path, "*.csv", "csv", **typed)
    assert (first.landed, first.rows_inserted) == (2, 4)
    assert rows(settings, "id", "name", "extra", **typed) == [
        (1, "Ann, with\na line", None),
        (2, "", None),
        (3, None, None),
        (4, "Bob", "x"),
    ]
    again = land(settings, tmp_path, "*.csv", "csv", **typed)
    assert (again.landed, again.unchanged, again.rows_inserted) == (0, 2, 0)
    (tmp_path / "a.csv").write_text("id,name\n1,Anna\n")
    changed = land(settings, tmp_path, "*.csv", "csv", **typed)
    assert (changed.landed, changed.unchanged) == (1, 1)
    assert (changed.rows_updated, changed.rows_deleted) == (1, 2)


def test_a_bad_file_is_set_aside_by_name_and_taken_in_when_it_is_mended(settings: Settings, tmp_path: Path):
    typed = {"columns": [{"name": "id", "type": "bigint"}]}
    (tmp_path / "good.csv").write_text("id\n1\n")
    (tmp_path / "bad.csv").write_text("id\nmany\n")
    done = land(settings, tmp_path, "*.csv", "csv", **typed)
    assert (done.landed, len(done.bad)) == (1, 1)
    assert "bad.csv: the column id has values that are no bigint" in done.bad[0]
    (kept,) = [row for row in Lake(settings.lake).rows(LANDED_SOURCES) if row["status"] == "bad"]
    assert kept["source"].endswith("bad.csv")
    again = land(settings, tmp_path, "*.csv", "csv", **typed)
    assert (again.landed, again.unchanged, again.bad) == (0, 1, done.bad)
    (tmp_path / "bad.csv").write_text("id\n2\n")
    assert land(settings, tmp_path, "*.csv", "csv", **typed).landed == 1
    assert rows(settings, "id", **typed) == [(2,), (1,)]


@pytest.mark.parametrize(
    ("kind", "sign", "word"),
    [("csv", ";", "semicolon"), ("csv", "\t", "tab"), ("csv", "|", "bar"), ("tsv", ",", "comma")],
)
def test_a_file_with_another_delimiter_is_set_aside_until_it_is_told(
    settings: Settings, tmp_path: Path, kind: str, sign: str, word: str
):
    (tmp_path / f"a.{kind}").write_text(f"id{sign}name\n1{sign}Ann\n2{sign}Bob\n")
    (bad,) = land(settings, tmp_path, f"*.{kind}", kind).bad
    assert word in bad
    assert "delimiter" in bad
    done = land(settings, tmp_path, f"*.{kind}", kind, delimiter=sign)
    assert (done.landed, done.bad) == (1, ())
    assert rows(settings, "id", "name") == [("1", "Ann"), ("2", "Bob")]


def test_a_header_that_has_more_of_another_delimiter_is_set_aside_until_it_is_told(settings: Settings, tmp_path: Path):
    (tmp_path / "a.csv").write_text("item;price, net;town\ntea;1,50;Bonn\n")
    (bad,) = land(settings, tmp_path, "*.csv", "csv").bad
    assert "1 comma but 2 semicolon" in bad
    done = land(settings, tmp_path, "*.csv", "csv", delimiter=";")
    assert (done.landed, done.bad) == (1, ())
    assert rows(settings, "item", "price, net", "town") == [("tea", "1,50", "Bonn")]
    (tmp_path / "a.csv").write_text('"a;b;c",d\n1,2\n')
    assert land(settings, tmp_path, "*.csv", "csv", delimiter=",").bad == ()


def test_a_single_column_whose_quoted_name_has_another_delimiter_is_landed(settings: Settings, tmp_path: Path):
    (tmp_path / "a.csv").write_text('"day; month"\n"1; 2"\n')
    assert land(settings, tmp_path, "*.csv", "csv").landed == 1
    assert rows(settings, "day; month") == [("1; 2",)]


def test_parquet_types_that_the_lake_has_not_come_as_those_it_has(settings: Settings, tmp_path: Path):
    held = pa.table(
        {
            "at": pa.array(["2026-01-02 03:04:05"]).cast(pa.timestamp("ns")),
            "price": pa.array([Decimal("1.50")]),
            "small": pa.array([200], pa.uint8()),
            "half": pa.array([0.5], pa.float32()),
            "kind": pa.array(["x"]).dictionary_encode(),
            "numbers": pa.array([[1, 2]]),
            "place": pa.array([{"x": 1, "y": None}]),
            "nothing": pa.nulls(1),
        }
    )
    pq.write_table(held, tmp_path / "a.parquet")
    land(settings, tmp_path, "*.parquet", "parquet")
    names = [name for name in held.column_names if name != "at"]
    assert rows(settings, *names) == [("1.50", 200, 0.5, "x", "[1, 2]", '{"x": 1, "y": null}', None)]
    assert rows(settings, "at")[0][0].isoformat() == "2026-01-02T03:04:05+00:00"


def test_a_file_whose_values_do_not_fit_the_table_is_set_aside_and_the_others_are_landed(
    settings: Settings, tmp_path: Path
):
    for name, values in (("a", [1]), ("b", [2.0]), ("c", [2.5]), ("d", ["x"])):
        pq.write_table(pa.table({"v": values}), tmp_path / f"{name}.parquet")
    done = land(settings, tmp_path, "*.parquet", "parquet")
    assert [bad.partition(": ")[0][-9:] for bad in done.bad] == ["c.parquet", "d.parquet"]
    assert "v has values that are no bigint, which it is in the table" in done.bad[0]
    assert rows(settings, "v") == [(1,), (2,)]


def test_a_file_s_own_column_that_is_called_as_ours_keeps_its_values(settings: Settings, tmp_path: Path):
    (tmp_path / "a.csv").write_text("source,x\nweb,1\n")
    land(settings, tmp_path, "*.csv", "csv")
    assert rows(settings, "source_", "x") == [("web", "1")]


def test_columns_that_are_called_alike_make_a_bad_file(settings: Settings, tmp_path: Path):
    (tmp_path / "a.csv").write_text("name,Name\n1,2\n")
    assert "name and Name are one name" in land(settings, tmp_path, "*.csv", "csv").bad[0]


def test_a_table_that_was_taken_away_is_landed_anew_also_in_other_types(settings: Settings, tmp_path: Path):
    (tmp_path / "a.csv").write_text("id\n1\n")
    land(settings, tmp_path, "*.csv", "csv")
    typed = {"columns": [{"name": "id", "type": "bigint"}]}
    with pytest.raises(
        BadInputError, match=r"id is string in the table instead of bigint.*move the table's folder away"
    ):
        land(settings, tmp_path, "*.csv", "csv", **typed)
    Path(str(settings.lake), "things").rename(tmp_path / "away")
    assert land(settings, tmp_path, "*.csv", "csv", **typed).landed == 1
    assert rows(settings, "id", **typed) == [(1,)]
    Path(str(settings.lake), "things").rename(tmp_path / "away too")
    assert land(settings, tmp_path, "*.csv", "csv", **typed).landed == 1


def test_documents_are_flattened_to_any_depth(settings: Settings, tmp_path: Path):
    match = {"teams": {"home": {"name": "A", "tags": ["x", "y"]}, "away": {"name": "B"}}, "goals": [{"minute": 3}]}
    (tmp_path / "m.json").write_text(json.dumps({"days": [{"matches": [match]}, {"matches": []}]}))
    land(settings, tmp_path, "*.json", "json", records="days.matches")
    found = rows(settings, "teams_home_name", "teams_home_tags", "teams_away_name", "goals")
    assert found == [("A", ["x", "y"], "B", '[{"minute": 3}]')]


def test_rows_keep_what_stands_on_the_way_to_them(settings: Settings, tmp_path: Path):
    days = [{"day": 1, "at": {"city": "X"}, "matches": [{"id": "a", "goals": [{"by": "Ann"}, "own"]}]}]
    (tmp_path / "m.json").write_text(json.dumps({"year": 2026, "days": days}))
    keep = {"year": "year", "day": "days.day", "match": "days.matches.id"}
    land(settings, tmp_path, "*.json", "json", records="days.matches.goals", keep=keep)
    found = rows(settings, "year", "day", "match", "by", "value")
    assert found == [("2026", "1", "a", "Ann", None), ("2026", "1", "a", None, "own")]
    wrong = land(settings, tmp_path, "*.json", "json", records="days.matches.goals", keep={"x": "days.other"})
    assert "days.other is not on the way days.matches.goals" in wrong.bad[0]


def test_lists_nulls_and_quotes_of_a_tsv_are_as_it_says(settings: Settings, tmp_path: Path):
    (tmp_path / "f.tsv").write_text('id\ttitle\tgenres\n1\tThe "Long" Way\tDrama, Comedy\n2\t\\N\t\\N\n3\t\tOne\n')
    genres = {"name": "genres", "type": "array<string>", "separator": ","}
    land(settings, tmp_path, "*.tsv", "tsv", nulls=["\\N"], quote="", columns=[genres])
    found = rows(settings, "title", "genres", columns=[genres])
    assert found == [('The "Long" Way', ["Drama", "Comedy"]), (None, None), ("", ["One"])]
    with pytest.raises(ValueError, match="a separator goes with array<string>"):
        FileIngest.model_validate(
            {"name": "a", "path": "x", "format": "csv", "columns": [{"name": "b", "type": "int", "separator": ","}]}
        )


def test_a_text_is_one_row_or_what_a_pattern_finds_in_it(settings: Settings, tmp_path: Path):
    (tmp_path / "a.txt").write_text("Bill 7\n 2 x pens\n 1 x lamp\n")
    land(settings, tmp_path, "*.txt", "text")
    assert rows(settings, "text") == [("Bill 7\n 2 x pens\n 1 x lamp\n",)]
    pattern = {"pattern": r"(?P<count>\d+) x (?P<thing>\w+)", "columns": [{"name": "count", "type": "int"}]}
    lines = FileIngest(name="lines", path=str(tmp_path / "*.txt"), format="text", **pattern)
    assert land_table(settings, lines).rows_inserted == 2
    (tmp_path / "b.txt").write_text("nothing")
    assert "the pattern is nowhere in it" in land_table(settings, lines).bad[0]
    with pytest.raises(ValueError, match="a pattern has named groups"):
        FileIngest(name="lines", path="x", format="text", pattern="x")


@pytest.mark.parametrize("kind", ["tsv", "jsonl", "parquet", "log", "plug-in"])
def test_every_format_gives_its_rows(settings: Settings, tmp_path: Path, kind: str):
    more: dict[str, Any] = {}
    match kind:
        case "tsv":
            (tmp_path / "f").write_text("id\tname\n1\tAnn\n")
        case "jsonl":
            (tmp_path / "f").write_text('{"id": 1, "name": "Ann"}\n\n')
        case "parquet":
            pq.write_table(pa.table({"id": pa.array([1], pa.int16()), "name": ["Ann"]}), tmp_path / "f")
        case "log":
            (tmp_path / "f").write_text("DENY 1 from Ann\nsomething else\n")
            more = {"pattern": r"DENY (?P<id>\d+) from (?P<name>\w+)", "unmatched": "skip"}
        case _:
            write_readings(tmp_path / "f", [(1, "Ann")])
            kind = "lakehouse_assets_tests.support.readings:read_readings"
    land(settings, tmp_path, "f", kind, columns=[{"name": "id", "type": "bigint"}], **more)
    assert rows(settings, "id", "name", columns=[{"name": "id", "type": "bigint"}]) == [(1, "Ann")]


def test_a_plug_in_that_is_not_there_is_refused(settings: Settings, tmp_path: Path):
    (tmp_path / "f").write_text("")
    with pytest.raises(BadInputError, match="cannot be loaded"):
        land(settings, tmp_path, "f", "no_such_package:read")


class _Server(BaseHTTPRequestHandler):
    orders: ClassVar[list[dict[str, Any]]] = []
    asked: ClassVar[list[str]] = []
    failures: ClassVar[list[int]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        if self.failures:
            self.send_response(self.failures.pop())
            self.send_header("Retry-After", "0")
            self.end_headers()
            return
        page = int(self.path.rpartition("=")[2])
        body: dict[str, Any] = {"data": {"orders": self.orders[(page - 1) * 2 : page * 2]}}
        if self.path.startswith("/linked"):
            body["next"] = f"/linked?from={page + 1}" if page * 2 < len(self.orders) else None
            body["self"] = self.path
        self.send_response(200)
        if "/cut" in self.path:  # promises more than it sends
            self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the name that its caller uses
        """Quiet."""


@pytest.fixture
def server() -> Iterator[str]:
    _Server.orders, _Server.asked, _Server.failures = [{"id": n} for n in range(1, 6)], [], []
    held = ThreadingHTTPServer(("127.0.0.1", 0), _Server)
    threading.Thread(target=held.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{held.server_port}"
    held.shutdown()
    held.server_close()


@pytest.mark.parametrize(
    "ways", [{"url": "/numbered", "page_parameter": "page"}, {"url": "/linked?from=1", "next": "next"}]
)
def test_pages_are_fetched_once_but_for_the_last_which_may_have_grown(
    settings: Settings, server: str, ways: dict[str, str]
):
    given = {**ways, "url": server + ways["url"], "name": "things", "records": "data.orders", "per_second": 1000}
    http = HttpIngest.model_validate(given)
    _Server.failures = [503, 429]
    first = land_table(settings, http)
    assert (first.landed, first.rows_inserted) == (3, 5)
    assert len(_Server.asked) >= 5  # two of them answered that the server is busy
    _Server.asked.clear()
    _Server.orders += [{"id": 6}, {"id": 7}]
    second = land_table(settings, http)
    assert (second.landed, second.rows_inserted) == (2, 2)
    assert not [path for path in _Server.asked if path.endswith(("=1", "=2"))]
    third = land_table(settings, http)
    assert (third.landed, third.unchanged) == (0, 1)


def test_a_server_that_stays_busy_is_named(settings: Settings, server: str):
    _Server.failures = [500] * 3
    http = HttpIngest(name="things", url=f"{server}/numbered", page_parameter="page", retries=2, per_second=1000)
    with pytest.raises(SourceError, match="it answered 500, 3 times"):
        land_table(settings, http)


def test_an_answer_that_breaks_off_is_asked_for_again_and_then_told(settings: Settings, server: str):
    http = HttpIngest(name="things", url=f"{server}/cut?from=1", records="data.orders", retries=1, per_second=1000)
    with pytest.raises(SourceError, match="its answer broke off: IncompleteRead, 2 times"):
        land_table(settings, http)


def test_pages_that_lead_back_are_refused(settings: Settings, server: str):
    given = {"url": f"{server}/linked?from=1", "records": "data.orders", "next": "self", "per_second": 1000}
    with pytest.raises(SourceError, match="its pages lead back to it"):
        land_table(settings, HttpIngest.model_validate({**given, "name": "things"}))


def test_pages_are_asked_for_no_faster_than_the_limit(server: str):
    http = HttpIngest(
        name="things", url=f"{server}/numbered", page_parameter="page", records="data.orders", per_second=0.1
    )
    waited: list[float] = []
    assert len(list(pages(http, begin=None, sleep=waited.append))) == 3
    assert waited[0] == 0
    assert all(5 < each <= 10 for each in waited[1:])


def test_the_last_page_is_the_one_that_no_other_follows_whatever_the_clock_said():
    at = datetime(2026, 1, 1, tzinfo=UTC)
    chain = {"a": "b", "b": "c", "c": "d"}
    known = {page: {"source": page, "next_page": after, "landed_at": at} for page, after in chain.items()}
    for order in permutations(known):
        assert last_page({page: known[page] for page in order}) == "c"
    assert last_page({}) is None
