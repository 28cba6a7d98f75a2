"""The work that rows of the graph are made of: a row per file with its payload, and a row per link of a file.

They are put together where the run works; both ways give the same columns.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from lakehouse_assets.contracts.edges import EDGES
from lakehouse_assets.contracts.links import LINKS
from lakehouse_assets.contracts.module_index import MODULE_INDEX
from lakehouse_assets.contracts.nodes import NODES
from lakehouse_assets.lake.local_engine import local_engine
from lakehouse_assets.lake.local_sql import local_sql
from lakehouse_assets.lake.source_files import Selection, extracts_here, extracts_on_spark, source_files
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.engine import Engine
from lakehouse_assets.plan.relational_step import RelationalStep, over

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Session = Callable[[], "SparkSession"]

OUTSIDE = RelationalStep(
    name="outside",
    sql="SELECT DISTINCT repo, path, dst_def, external FROM {links} WHERE external IS NOT NULL",
    inputs=over(LINKS),
    assets=(NODES.name,),
)
"""What files name outside all repositories, each once a file."""

LINKED_EDGES = RelationalStep(
    name="linked_edges",
    sql="""
        SELECT repo, path, kind, src_def, src_n, dst_repo, dst_path, dst_def, dst_n, label, method, confidence,
          caller_def
        FROM {links}
    """,
    inputs=over(LINKS),
    output=EDGES,
    assets=(EDGES.name,),
)


@dataclass(frozen=True, kw_only=True)
class PayloadWork:
    """What a function that places facts gets of each file besides its payload."""

    modules: bool = False
    """The name that it is called by as a module."""
    links: RelationalStep | None = None
    """The rows of this step over its links."""


def payload_work(
    lake: Lake,
    spark: Session,
    selection: Selection,
    extractors: Mapping[str, str],
    wanted: PayloadWork,
    *,
    engine: Engine,
) -> "pa.Table | DataFrame":
    """The files with their payload, and what else is wanted of them."""
    files, links = source_files(lake, selection, extractors), wanted.links
    if wanted.modules:
        files = _with_modules(lake, files, selection)
    if engine == "local":
        work = extracts_here(lake, files, ["payload"])
        if links is None:
            return work
        return _together(work, _links_here(lake, selection, links))
    frame = extracts_on_spark(spark(), lake, files, ["payload"])
    if links is not None:
        frame = frame.unionByName(_links_on_spark(spark(), lake, selection, links), allowMissingColumns=True)
    return frame


def _with_modules(lake: Lake, files: pa.Table, selection: Selection) -> pa.Table:
    """The files with the name they are called by as modules; NULL for those that have none."""
    modules = lake.read(MODULE_INDEX, columns=["repo", "path", "module"], where=f"{selection.predicate} AND is_own")
    with local_sql() as connection:
        connection.register("files", files)
        connection.register("modules", modules)
        return connection.sql(
            "SELECT f.*, m.module FROM files f LEFT JOIN modules m USING (repo, path) ORDER BY repo, path"
        ).to_arrow_table()


def _links_here(lake: Lake, selection: Selection, step: RelationalStep) -> pa.Table:
    with local_engine() as engine:
        names = engine.give({LINKS.name: lake.read(LINKS, where=selection.predicate)})
        return engine.ask_arrow(step.text(names))


def _links_on_spark(spark: "SparkSession", lake: Lake, selection: Selection, step: RelationalStep) -> "DataFrame":
    from pyspark.sql import functions

    lake.ensure(LINKS)
    links = spark.read.format("delta").load(str(lake.path(LINKS)))
    chosen = links.where(functions.col("repo").isin(list(selection.repos)))
    if selection.paths is not None:
        chosen = chosen.where(functions.col("path").isin(list(selection.paths)))
    return spark.sql(step.text({LINKS.name: "{links}"}), links=chosen)


def _together(work: pa.Table, links: pa.Table) -> pa.Table:
    """By file, so that rows are made in the order that they are written in."""
    both = pa.concat_tables([work, links], promote_options="permissive")
    return both.sort_by([("repo", "ascending"), ("path", "ascending")])
