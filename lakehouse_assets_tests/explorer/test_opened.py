"""A lake in a notebook: every form gives the same rows, and the example runs."""

import json

import pytest
from pyspark.sql import SparkSession

import lakehouse_assets
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.settings import PROJECT_ROOT
from lakehouse_assets_tests.explorer.conftest import Explored

NOTEBOOK = PROJECT_ROOT / "docs" / "notebook.ipynb"


def test_every_form_has_the_same_rows(explored: Explored):
    lake = lakehouse_assets.open_lake(explored.settings.home)
    rows = lake.query("SELECT repo, path FROM snapshots WHERE repo = 'shop' ORDER BY path")
    wanted = [("shop", "shop/__init__.py"), ("shop", "shop/cart.py"), ("shop", "shop/main.py")]
    assert rows.duckdb().fetchall() == wanted
    assert rows.polars().rows() == wanted
    assert list(rows.pandas().itertuples(index=False, name=None)) == wanted
    assert rows.arrow()["path"].to_pylist() == [path for _, path in wanted]
    assert "definitions" in lake.tables()


def test_a_commit_can_be_named(explored: Explored):
    lake = lakehouse_assets.open_lake(explored.settings.home)
    first, second = explored.commits["shop"]
    called = "FROM edges e JOIN definitions d ON e.dst_def = d.def_id WHERE e.kind = 'CALL' AND d.name = 'run'"
    calls = f"SELECT count(*) {called}"
    assert lake.query(calls, at=f"shop@{first}").duckdb().fetchall() == [(1,)]
    assert lake.query(calls, at=f"shop@{second[:10]}").duckdb().fetchall() == [(0,)]
    assert set(lake.table("definitions", at=f"shop@{first}").arrow()["repo"].to_pylist()) == {"shop"}


def test_spark_gets_the_rows_too(explored: Explored, spark: SparkSession):
    rows = lakehouse_assets.open_lake(explored.settings.home).query("SELECT count(*) AS n FROM repositories").spark()
    assert [row.n for row in rows.collect()] == [3]


def test_what_is_shown_in_a_notebook_is_text(explored: Explored):
    lake = lakehouse_assets.open_lake(explored.settings.home)
    shown = lake.query("SELECT path FROM snapshots WHERE repo = 'harm'")._repr_html_()
    assert "<img" not in shown
    assert "&lt;img" in shown
    with pytest.raises(BadInputError, match="no table has this name"):
        lake.table("nonsense")


def test_the_example_notebook_runs(explored: Explored, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LAKEHOUSE_HOME", str(explored.settings.home))
    cells = [cell for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == "code"]
    names: dict[str, object] = {}
    for cell in cells:
        exec(compile("".join(cell["source"]), str(NOTEBOOK), "exec"), names)
    assert names["then"].num_rows > 0  # type: ignore[attr-defined]
    assert len(cells) >= 5
