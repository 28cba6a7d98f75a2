"""Which contents of some snapshots the table `blobs` does not have yet."""

from typing import TYPE_CHECKING

import pyarrow as pa

from lakehouse_assets.contracts.blobs import BLOBS
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.lake.frames import frame_of
from lakehouse_assets.lake.local_engine import local_engine
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.relational_step import RelationalStep, over
from lakehouse_assets.plan.sql_text import in_list

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CONTENTS = RelationalStep(
    name="contents",
    sql="""
        SELECT blob_sha, min(repo) AS repo, any_value(size) AS size FROM {snapshots}
        WHERE kind IN ('file', 'executable') GROUP BY blob_sha ORDER BY blob_sha
    """,
    inputs=over(SNAPSHOTS),
    assets=(BLOBS.name,),
)
"""The contents of files, each once."""


def missing_here(lake: Lake, snapshots: pa.Table) -> pa.Table:
    """Each missing content once, with its size and the first repository by name that has it, in the order of shas.

    Cost: contents are asked for by name, so that files of `blobs` whose range has none of them are skipped.
    """
    with local_engine() as engine:
        wanted = engine.ask_arrow(CONTENTS.text(engine.give({SNAPSHOTS.name: snapshots})))
    shas = wanted["blob_sha"].to_pylist()
    where = in_list('"blob_sha"', shas, "datafusion")
    known = set(lake.read(BLOBS, columns=["blob_sha"], where=where)["blob_sha"].to_pylist()) if shas else set()
    return wanted.filter(pa.array([sha not in known for sha in shas], pa.bool_()))


def missing_on_spark(spark: "SparkSession", lake: Lake, snapshots: pa.Table) -> "DataFrame":
    """The same on Spark, in no order."""
    lake.ensure(BLOBS)
    wanted = spark.sql(CONTENTS.text({SNAPSHOTS.name: "{snapshots}"}), snapshots=frame_of(spark, snapshots))
    known = spark.read.format("delta").load(str(lake.path(BLOBS))).select("blob_sha")
    return wanted.join(known, "blob_sha", "left_anti")
