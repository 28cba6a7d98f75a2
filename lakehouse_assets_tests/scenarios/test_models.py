"""Environments over a small lake: which models ran, and what each environment shows."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lakehouse_assets.contracts.commit_files import COMMIT_FILES
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.model_lake import ModelLake, file
from lakehouse_assets_tests.support.models import model_text

BASE = "SELECT repo, path, size, kind FROM snapshots WHERE size > 0"
SIZES = "SELECT repo, path, size * 2 AS twice FROM base"
KINDS = "SELECT repo, path, kind FROM base"


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> ModelLake:
    """Three models, applied in prod."""
    home = tmp_path_factory.mktemp("built")
    found = ModelLake(Lake(home / "lake"), home / "models")
    found.rows(SNAPSHOTS, [file("a", "x.py", 1), file("a", "y.py", 2)])
    found.models(base=BASE, sizes=SIZES, kinds=KINDS)
    found.create("prod")
    assert found.ran("prod") == ["base", "kinds", "sizes"]
    return found


@pytest.fixture
def built(once: ModelLake, tmp_path: Path) -> ModelLake:
    return once.copy(tmp_path)


def shown(lake: ModelLake, environment: str) -> list[tuple[str, int]]:
    rows = lake.ask(environment, "SELECT path, twice FROM sizes ORDER BY path")
    return [(row["path"], row["twice"]) for row in rows]


def test_what_is_applied_is_shown_and_a_second_apply_runs_nothing(built: ModelLake):
    assert shown(built, "prod") == [("x.py", 2), ("y.py", 4)]
    before = built.environment("prod")
    assert built.ran("prod") == []
    assert built.environment("prod") == before


CHANGES: dict[str, tuple[dict[str, str | None], list[str]]] = {
    "a comment": ({"base": "-- new\n" + BASE.replace(" FROM", "\n  FROM")}, []),
    "a description": ({"base": model_text(BASE, description="All.")}, []),
    "an added column that nobody uses": ({"base": BASE.replace("kind", "kind, mode")}, ["base"]),
    "an added column in the middle": ({"base": BASE.replace("path,", "path, mode,")}, ["base"]),
    "a changed column": ({"base": BASE.replace("size,", "size + 1 AS size,")}, ["base", "sizes"]),
    "a changed filter": ({"base": BASE.replace("> 0", "> 1")}, ["base", "kinds", "sizes"]),
    "a renamed column": (
        {"base": BASE.replace("kind", "kind AS sort"), "kinds": "SELECT repo, path, sort AS kind FROM base"},
        ["base", "kinds"],
    ),
    "a declared type": ({"base": model_text(BASE, columns="{size: {type: int}}")}, ["base", "sizes"]),
    "a changed key": ({"base": model_text(BASE, key="[path, repo]")}, ["base"]),
    "a changed materialization": ({"base": model_text(BASE, materialization="by_key")}, ["base"]),
    "a view instead": ({"base": model_text(BASE, materialization="view", key=None)}, []),
    "a removed model": ({"kinds": None}, []),
    "a changed child": ({"sizes": SIZES.replace("2", "3")}, ["sizes"]),
}


@pytest.mark.parametrize(("texts", "ran"), CHANGES.values(), ids=CHANGES)
def test_a_change_runs_exactly_what_it_affects_once_for_two_environments(
    built: ModelLake, texts: dict[str, str | None], ran: list[str]
):
    built.create("dev", base="prod")
    before = shown(built, "prod")
    built.models(**texts)
    assert built.ran("dev") == ran
    assert shown(built, "prod") == before
    # What dev has built, prod shares.
    assert built.ran("prod") == []
    assert built.environment("prod").models == built.environment("dev").models


@pytest.mark.parametrize(("texts", "ran"), CHANGES.values(), ids=CHANGES)
def test_a_change_runs_exactly_what_it_affects_in_one_environment(
    built: ModelLake, texts: dict[str, str | None], ran: list[str]
):
    built.models(**texts)
    assert built.ran("prod") == ran
    assert built.ran("prod") == []


@pytest.mark.slow
def test_what_spark_builds_is_what_is_built_without_it_and_an_input_that_is_not_there_stays_so(
    built: ModelLake, tmp_path: Path, spark: SparkSession
):
    built.models(touched="SELECT repo, path, commit_sha FROM commit_files")
    on_spark = built.copy(tmp_path / "spark")
    on_spark.spark = lambda: spark
    assert (
        built.ran("prod", restate=["base"])
        == on_spark.ran("prod", restate=["base"])
        == ["base", "kinds", "sizes", "touched"]
    )
    for name in ("base", "sizes", "kinds", "touched"):
        query = f"SELECT * FROM {name} ORDER BY ALL"
        assert on_spark.ask("prod", query) == built.ask("prod", query)
    assert not on_spark.lake.exists(COMMIT_FILES)
    assert on_spark.ran("prod") == []


ODD = {
    "pivoted": "SELECT repo, 'p' AS path, x, y FROM (SELECT repo, path, size FROM snapshots) "
    "PIVOT (MAX(size) FOR path IN ('x.py' AS x, 'y.py' AS y))",
    "unpivoted": "SELECT repo, path, v FROM (SELECT repo, path, size FROM snapshots) UNPIVOT (v FOR k IN (size))",
    "escaped": "SELECT repo, path FROM snapshots WHERE path LIKE 'x%' ESCAPE '!'",
    "hidden": "WITH snapshots AS (SELECT repo, path FROM snapshots WHERE size > 1) SELECT * FROM snapshots",
    "nested": "SELECT a.repo, a.path, c.size FROM snapshots AS a "
    "LEFT JOIN (base AS b JOIN snapshots AS c ON b.repo = c.repo AND b.path = c.path AND c.size > 1) "
    "ON a.path = b.path AND a.repo = b.repo",
    "offset_by": "SELECT repo, path FROM snapshots ORDER BY size DESC OFFSET 1",
    "exploded": "SELECT repo, path, w FROM snapshots LATERAL VIEW explode(array(path)) e AS w",
    "mixing": model_text(
        "SELECT repo, path, COUNT(*) OVER () AS n FROM snapshots",
        materialization="by_partition",
        partition_by="[repo]",
        audits="[relationships: {path: base.path}]",
    ),
}


@pytest.mark.slow
def test_odd_queries_run_on_spark(built: ModelLake, spark: SparkSession):
    built.spark = lambda: spark
    built.rows(SNAPSHOTS, [file("a", "x.py", 1), file("a", "y.py", 2), file("b", "y.py", 3)])
    built.models(**ODD)
    assert set(ODD) <= set(built.ran("prod"))

    def rows(name: str) -> list[tuple[object, ...]]:
        found = built.ask("prod", f"SELECT * FROM {name} ORDER BY ALL")
        return [tuple(value for column, value in row.items() if column != "repo") for row in found]

    assert rows("pivoted") == [("p", 1, 2), ("p", None, 3)]
    assert rows("unpivoted") == [("x.py", 1), ("y.py", 2), ("y.py", 3)]
    assert rows("escaped") == [("x.py",)]
    assert rows("hidden") == [("y.py",), ("y.py",)]
    assert rows("nested") == [("x.py", None), ("y.py", 2), ("y.py", 3)]
    assert rows("offset_by") == [("x.py",), ("y.py",)]
    assert rows("exploded") == [("x.py", "x.py"), ("y.py", "y.py"), ("y.py", "y.py")]
    assert rows("mixing") == [("x.py", 2), ("y.py", 2), ("y.py", 1)]
