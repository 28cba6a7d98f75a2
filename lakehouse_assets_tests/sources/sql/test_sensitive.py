"""A planted value of a sensitive column is in the tables, and in no other file, log, event or message."""

from pathlib import Path

import dagster as dg
import pytest
import yaml

from lakehouse_assets.assets.sql.definitions import sql_definitions
from lakehouse_assets.cli.instance import open_instance
from lakehouse_assets.contracts.connections import PostgresConnection
from lakehouse_assets.core.errors import LakehouseError
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.resources import LakehouseResource
from lakehouse_assets_tests.support.command import lakehouse
from lakehouse_assets_tests.support.planted import files_with
from lakehouse_assets_tests.support.shops import Shop, run_sql, table_rows

SECRET = "Zyx98765-planted"
SENSITIVE = {"columns": [{"name": "customer", "sensitive": True}]}


def shop_of(settings: Settings, postgres: PostgresConnection, **more: object) -> Shop:
    more = {"strategy": "snapshot", **SENSITIVE, **more}
    shop = Shop(settings=settings, source=postgres, target=postgres, more=more, deliver={})
    shop.make()
    shop.add(1, customer="Ann")
    shop.add(2, customer=SECRET)
    return shop


def run(shop: Shop) -> dg.ExecuteInProcessResult:
    resources = dg.Definitions(resources={"lakehouse": LakehouseResource()})
    job = dg.Definitions.merge(sql_definitions(shop.project), resources).resolve_job_def("ingest_shop_orders")
    with open_instance(shop.settings) as instance:
        return job.execute_in_process(instance=instance, raise_on_error=False)


def test_a_run_leaves_a_sensitive_value_in_the_table_alone(settings: Settings, postgres: PostgresConnection):
    shop = shop_of(settings, postgres)
    assert run(shop).success
    shop.change(2, customer=f"{SECRET}-changed")
    assert run(shop).success
    shop.all_equal()
    held = list(files_with(settings.home, SECRET))
    assert held, "the value is nowhere, so that the search proves nothing"
    assert {path.parts[:2] for path in held} == {("lake", "shop_orders")}
    assert not [path for path in held if path.suffix != ".parquet"]


@pytest.mark.parametrize(
    "place",
    [
        "value that does not fit",
        pytest.param("constraint in the target", marks=pytest.mark.slow),
        pytest.param("doubled key", marks=pytest.mark.slow),
    ],
)
def test_a_failure_tells_no_sensitive_value(settings: Settings, postgres: PostgresConnection, place: str):
    match place:
        case "constraint in the target":
            shop = shop_of(settings, postgres)
            assert run(shop).success
            run_sql(postgres, [f"ALTER TABLE orders_copy ADD CHECK (customer <> '{SECRET}-2')"])
            shop.change(2, customer=f"{SECRET}-2")
        case "value that does not fit":
            column = {"name": "customer", "sensitive": True, "type": "bigint"}
            shop = shop_of(settings, postgres, columns=[column])
        case _:
            key = {"columns": [{"name": "customer", "sensitive": True, "nullable": False}], "key": ["customer"]}
            shop = shop_of(settings, postgres, **key)
            shop.add(3, customer=SECRET)
    done = run(shop)
    assert not done.success
    assert not [path for path in files_with(settings.home, SECRET) if path.suffix != ".parquet"]
    with pytest.raises(LakehouseError) as refused:
        shop.cycle()
    assert SECRET not in str(refused.value)
    assert refused.value.__cause__ is None


def test_rows_that_are_set_aside_keep_no_sensitive_value(settings: Settings, postgres: PostgresConnection):
    columns = [{"name": "customer", "sensitive": True}, {"name": "price", "nullable": False}]
    shop = shop_of(settings, postgres, columns=columns, violations="quarantine")
    shop.run("UPDATE orders SET price = NULL WHERE id = 2")
    assert shop.ingest().count("rows_quarantined") == 1
    assert not list(files_with(settings.home, SECRET))


MODEL = """/* model
key: [customer]
*/
SELECT customer, COUNT(*) AS orders FROM shop_orders GROUP BY customer
"""


@pytest.mark.slow
@pytest.mark.usefixtures("spark")
def test_the_whole_way_through_model_stream_iceberg_and_story_leaves_it_in_tables_alone(
    settings: Settings, postgres: PostgresConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for name in ("ingest", "models"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(f"LAKEHOUSE_{name.upper()}", str(tmp_path / name))
    shop = shop_of(settings, postgres)
    parts = shop.project.model_dump(mode="json", exclude_defaults=True)
    parts["deliver"].append({"asset": "per_customer", "connection": "reports", "table": "per_customer"})
    parts["streams"] = [{"name": "order_copy", "source": {"kind": "table", "table": "shop_orders"}}]
    (tmp_path / "ingest" / "shop.yaml").write_text(yaml.safe_dump(parts))
    (tmp_path / "models" / "per_customer.sql").write_text(MODEL)
    told: list[str] = []

    def tell(*words: str) -> None:
        done = lakehouse(*words)
        told.append(done.output)
        assert done.exit_code == 0, done.output

    tell("env", "create", "prod")
    for change in (lambda: None, lambda: shop.change(2, customer=f"{SECRET}-changed"), lambda: shop.remove(1)):
        change()
        assert run(shop).success
        tell("story", "-o", str(settings.home / "story.html"))
        tell("story", "--json")
        for words in ("apply prod", "deliver per_customer", "stream order_copy", "publish shop_orders order_copy"):
            tell(*words.split())
    run_sql(postgres, [f"ALTER TABLE per_customer ADD CHECK (customer <> '{SECRET}-3')"])
    shop.change(2, customer=f"{SECRET}-3")
    assert run(shop).success
    tell("apply", "prod")
    refused = lakehouse("deliver", "per_customer")
    assert refused.exit_code == 1
    assert SECRET not in "".join([*told, refused.output])
    assert (f"{SECRET}-changed",) in table_rows(postgres, "per_customer", ["customer"])
    held = list(files_with(settings.home, SECRET))
    assert {path.parts[1].partition("__")[0] for path in held} == {"shop_orders", "per_customer", "order_copy"}
    assert {path.parts[0] for path in held} == {"lake"}
    assert {path.suffix for path in held} == {".parquet"}
