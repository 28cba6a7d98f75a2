"""`lakehouse ingest`, `deliver` and `marks`, as a user runs them on SQLite files."""

import getpass
import json
from pathlib import Path

import pytest
import yaml

from lakehouse_assets.contracts.connections import SqliteConnection
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.settings import Settings, load_settings
from lakehouse_assets_tests.support.command import lakehouse, lakehouse_json
from lakehouse_assets_tests.support.places import local
from lakehouse_assets_tests.support.shops import Shop


@pytest.fixture
def shop(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    source = SqliteConnection(kind="sqlite", path=str(tmp_path / "shop.db"))
    target = SqliteConnection(kind="sqlite", path=str(tmp_path / "reports.db"))
    shop = Shop(settings=settings, source=source, target=target, more={"strategy": "id", "id": "id"}, deliver={})
    folder = tmp_path / "ingest"
    folder.mkdir()
    parts = shop.project.model_dump(mode="json", exclude_defaults=True)
    parts["ingest"].append({**parts["ingest"][0], "name": "broken", "table": "nothing"})
    (folder / "shop.yaml").write_text(yaml.safe_dump(parts))
    monkeypatch.setenv("LAKEHOUSE_INGEST", str(folder))
    shop.make()
    shop.add(1, 2, 3)
    return shop


def test_a_dry_run_prints_the_query_with_its_values_and_does_nothing(shop: Shop):
    printed = lakehouse("ingest", "shop_orders", "--dry-run").stdout
    assert "first (the table has no rows)" in printed
    assert '"id" < 4' in printed
    assert not (local(shop.settings.lake) / "shop_orders").exists()


def test_a_dry_run_tells_which_files_would_be_read(shop: Shop, tmp_path: Path):
    (tmp_path / "a.csv").write_text("x\n1\n")
    files = [{"name": "things", "path": str(tmp_path / "*.csv"), "format": "csv"}]
    (tmp_path / "ingest" / "files.yaml").write_text(yaml.safe_dump({"files": files}))
    assert "1 to be read, 0 unchanged" in lakehouse("ingest", "things", "--dry-run").stdout
    assert not (local(shop.settings.lake) / "things").exists()
    lakehouse("ingest", "things")
    (tmp_path / "b.csv").write_text("x\n2\n")
    (plan,) = lakehouse_json("ingest", "things", "--dry-run")
    assert (plan["waiting"], plan["unchanged"]) == ([str(tmp_path / "b.csv")], 1)


@pytest.mark.usefixtures("shop")
def test_the_exit_code_is_1_while_a_file_is_bad_and_the_good_ones_are_landed(tmp_path: Path):
    for number in range(3):
        (tmp_path / f"{number}.csv").write_text("id,name\n1,Ann\n" if number else "id;name\n1;Ann\n")
    files = [{"name": "people", "path": str(tmp_path / "*.csv"), "format": "csv"}]
    (tmp_path / "ingest" / "files.yaml").write_text(yaml.safe_dump({"files": files}))
    for landed in (2, 0):  # a bad file that is known is told of again
        done = lakehouse("ingest", "people")
        assert done.exit_code == 1
        assert f"{landed} files or pages landed" in done.stdout
        assert f"set aside: {tmp_path / '0.csv'}" in done.stdout
    (tmp_path / "0.csv").unlink()
    assert lakehouse("ingest", "people").exit_code == 0


def test_a_delivery_tells_how_many_rows_of_the_target_it_compared(shop: Shop):
    """A row that somebody changed behind its back is not vouched for; sending everything finds it."""
    from lakehouse_assets_tests.support.shops import run_sql

    lakehouse("ingest", "shop_orders")
    run_sql(shop.target, ["UPDATE orders_copy SET customer = 'somebody else' WHERE id = 2"])
    shop.add(4)
    told = lakehouse("ingest", "shop_orders").stdout
    assert "1 of the target's 4 rows compared, equal" in told
    assert "equal in 4 rows" not in told
    assert lakehouse("deliver", "shop_orders").stdout.rstrip().endswith("0 of the target's 4 rows compared")
    told = lakehouse("deliver", "shop_orders", "--everything").stdout
    assert "1 updated" in told
    assert "4 of the target's 4 rows compared, equal" in told
    shop.all_equal()


def test_one_table_fails_alone(shop: Shop):
    done = lakehouse("ingest", "--all", "--json")
    assert done.exit_code == 1
    good, bad = json.loads(done.stdout)
    assert (good["inserted"], good["deliveries"][0]["target_rows"]) == (3, 3)
    assert "no such table: nothing" in bad["error"]
    shop.all_equal()


def test_an_ingested_table_is_asked_and_listed_like_any_other(shop: Shop):
    lakehouse("ingest", "shop_orders")
    assert lakehouse_json("sql", "SELECT sum(id) AS total FROM shop_orders") == [{"total": 6}]
    assert ("shop_orders", 3) in [(row["table"], row["rows"]) for row in lakehouse_json("tables")]
    (lake,) = [each for each in lakehouse_json("doctor") if each["check"] == "lake"]
    assert "and 1 ingested ones" in lake["seen"]
    assert lake["status"] == "ok"


def test_marks_are_shown_with_their_history_and_set_with_a_reason(shop: Shop):
    lakehouse("ingest", "shop_orders")
    (mark,) = lakehouse_json("marks", "show")
    assert (mark["name"], mark["id"], mark["reason"]) == ("shop_orders", 4, None)
    lakehouse("marks", "set", "shop_orders", "--id", "2", "--reason", "row 2 was mended")
    again = lakehouse_json("ingest", "shop_orders")[0]
    assert (again["mode"], again["rows_read"], again["inserted"]) == ("window", 2, 0)
    history = lakehouse_json("marks", "show", "shop_orders", "--history")
    assert [(each["id"], each["reason"]) for each in history] == [(4, None), (2, "row 2 was mended"), (4, None)]
    assert [each["by"] for each in history] == [None, getpass.getuser(), None]
    assert "row 2 was mended" in lakehouse("marks", "show", "--history").stdout


def test_a_mark_that_the_strategy_does_not_go_by_is_refused(shop: Shop):
    lakehouse("ingest", "shop_orders")
    with pytest.raises(BadInputError, match="its strategy id goes by id"):
        lakehouse("marks", "set", "shop_orders", "--timestamp", "2026-01-01", "--reason", "a slip")


def test_a_mark_that_was_reset_makes_the_next_run_read_everything(shop: Shop):
    lakehouse("ingest", "shop_orders")
    assert "mark reset" in lakehouse("marks", "reset", "shop_orders", "--reason", "the source was restored").stdout
    (again,) = lakehouse_json("ingest", "shop_orders")
    assert (again["mode"], again["rows_read"], again["inserted"]) == ("everything", 3, 0)


def test_everything_is_delivered_again_where_the_target_was_changed(shop: Shop):
    from lakehouse_assets_tests.support.shops import run_sql

    lakehouse("ingest", "shop_orders")
    run_sql(shop.target, ["DELETE FROM orders_copy WHERE id = 2"])
    shop.add(4)
    done = lakehouse("ingest", "shop_orders")
    assert done.exit_code == 1
    assert "the target has 3 rows and the lake 4" in done.stderr
    assert "shop_orders: 1 rows inserted" in done.stdout  # what came in is told, whatever became of it then
    (sent,) = lakehouse_json("deliver", "shop_orders", "--everything")
    assert (sent["rows_inserted"], sent["rows_unchanged"]) == (1, 3)
    shop.all_equal()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("ingest: [{name: a}]", "ingest.0.connection"),
        ("tables: []", "other parts than"),
        ("ingest: [", "no YAML"),
        ("connections: {a: {kind: oracle}}", "connections.a"),
        ("deliver: [{asset: nothing, connection: x, table: t}]", "there is no connection x"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_by_place(shop: Shop, text: str, complaint: str):
    (load_settings().ingest / "bad.yaml").write_text(text)
    with pytest.raises(BadInputError, match=complaint):
        lakehouse("marks", "show")
