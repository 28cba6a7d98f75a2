"""Linking on Spark: a task a repository, or a stage a round for one that is large, with the rows of one process."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from lakehouse_assets.contracts.exported_defs import EXPORTED_DEFS
from lakehouse_assets.contracts.extracts import EXTRACTS
from lakehouse_assets.contracts.imports_resolved import IMPORTS_RESOLVED
from lakehouse_assets.contracts.link_files import LINK_FILES
from lakehouse_assets.contracts.link_state import LINK_STATE
from lakehouse_assets.contracts.links import LINKS
from lakehouse_assets.contracts.module_index import MODULE_INDEX
from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.core.errors import LakeStateError
from lakehouse_assets.lake import link_job
from lakehouse_assets.lake.ledger import Ledger
from lakehouse_assets.lake.link_job import LinkedOnSpark, link_on_spark
from lakehouse_assets.lake.link_shelf import FOLDER, Shelf, shelf
from lakehouse_assets.lake.neighbours import NeighbourVersions
from lakehouse_assets.recipes.extractors import extractors
from lakehouse_assets_tests.link.test_repository import PROJECT
from lakehouse_assets_tests.scenarios.test_neighbours import Neighbours
from lakehouse_assets_tests.support.places import local

TABLES = (MODULE_INDEX, EXPORTED_DEFS, IMPORTS_RESOLVED, LINKS, LINK_FILES, LINK_STATE)
REPOS = {
    "large": {
        **PROJECT,
        "pkg/__init__.py": "from .many import *\nfrom base import helper as hand\n__all__ = ['one', 'hand']\n",
        "pkg/many.py": "import tool\n\n\ndef one():\n    tool.each(one)\n    return other.far()\n\n\nimport other\n",
        "odd\u2028name.py": "from pkg import one, hand\n\nvalue = one()\nvalue.go()\nhand()\n",
        "web/page.js": "import { draw } from './draw.js';\nexport function show() { draw(); }\n",
        "web/draw.js": "export function draw() { return 1; }\n",
    },
    "other": {"other.py": "from large_base import nothing\nimport mid\n\n\ndef far():\n    return mid.Mid()\n"},
    "empty": {"README.md": "# Nothing to link\n"},
}


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Neighbours:
    """Three repositories that this process has linked, two of which know each other."""
    return Neighbours(tmp_path_factory.mktemp("linked"), REPOS)


@pytest.fixture
def place(lake: Neighbours) -> Iterator[Shelf]:
    with shelf(lake.lake.root) as held:
        yield held


def linked(lake: Neighbours, spark: SparkSession, place: Shelf, *names: str) -> LinkedOnSpark:
    versions = NeighbourVersions(lake.lake, Ledger(lake.lake).latest([SNAPSHOTS, EXTRACTS]), REPOS, names)
    return link_on_spark(spark, lake.lake, names, versions, extractors(), place)


def rows_of(table: pa.Table) -> list[str]:
    return sorted(map(repr, table.to_pylist()))


@pytest.mark.parametrize(("files", "pieces"), [(400, {"large": 1, "other": 1, "empty": 0}), (3, {"large": 4})])
def test_spark_links_what_this_process_links(
    lake: Neighbours,
    spark: SparkSession,
    place: Shelf,
    monkeypatch: pytest.MonkeyPatch,
    files: int,
    pieces: dict[str, int],
):
    monkeypatch.setattr(link_job, "FILES_A_PART", files)
    found = linked(lake, spark, place, *REPOS)
    assert {repo: found.pieces[repo] for repo in pieces} == pieces
    for contract in TABLES:
        made = found.rows(contract, list(REPOS)).items.toArrow().cast(arrow_schema(contract.columns))
        assert rows_of(made) == rows_of(lake.lake.read(contract)), contract.name
    assert found.files == {"large": 10, "other": 1, "empty": 0}
    assert ("repository", "large") in found.reads["other"]
    assert ("repository", "other") in found.reads["large"]
    assert found.reads["empty"] == set()
    assert found.solves["large"] >= 8


def test_what_tasks_hand_each_other_is_gone_afterwards(lake: Neighbours, spark: SparkSession):
    with shelf(lake.lake.root) as held:
        linked(lake, spark, held, "other")
        assert list(local(lake.lake.root / FOLDER).iterdir())
    assert not list(local(lake.lake.root / FOLDER).iterdir())


def test_files_that_were_not_extracted_are_refused(lake: Neighbours, spark: SparkSession, place: Shelf):
    versions = NeighbourVersions(lake.lake, {}, REPOS, ["large"])
    with pytest.raises(LakeStateError, match="10 files of the head have no row there"):
        link_on_spark(spark, lake.lake, ["large"], versions, dict.fromkeys(extractors(), "another"), place)


def test_an_error_of_a_task_comes_home(
    lake: Neighbours, spark: SparkSession, place: Shelf, monkeypatch: pytest.MonkeyPatch
):
    def refuse(**_: Any) -> None:
        raise LakeStateError(subject="a neighbour", seen="it is gone", why="no link leads there", remedy="none")

    monkeypatch.setattr(link_job, "link_repository", refuse)
    with pytest.raises(Exception, match="a neighbour") as failed:
        linked(lake, spark, place, "other")
    assert "it is gone" in str(failed.value)


def test_a_kept_bucket_is_read_once_and_forgotten_when_others_need_the_place(
    place: Shelf, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
):
    rows = spark.createDataFrame(
        [("told", number, "x" * 100) for number in range(3)], "kind string, bucket int, name string"
    )
    rows.repartition(3, "bucket").write.partitionBy("kind", "bucket").parquet(place.path("round-0"))
    first = place.read("round-0", "told", 0, keep=True)
    assert place.read("round-0", "told", 0, keep=True) is first
    monkeypatch.setattr("lakehouse_assets.lake.link_shelf._KEPT_BYTES", 1)
    assert place.read("round-0", "told", 1, keep=True) is not None
    assert place.read("round-0", "told", 0, keep=True) is not first
    assert place.read("round-0", "told", 7) is None


def test_the_shelf_is_beside_the_tables_and_no_table(lake: Neighbours):
    with shelf(lake.lake.root) as held:
        assert Path(held.path("rows")).parent.parent.parent == local(lake.lake.root)
        assert FOLDER.startswith(".")
