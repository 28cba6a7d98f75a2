"""The asset `graph_versions`: written last, so that a reader who starts from it sees one commit in every table."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pyarrow as pa
from dagster import AssetExecutionContext, Output, asset

from lakehouse_assets.assets.derivations import work_of
from lakehouse_assets.assets.graph.derivation_list import derivation
from lakehouse_assets.assets.graph.options import graph_asset
from lakehouse_assets.assets.handing_over import handed_over
from lakehouse_assets.contracts.graph_versions import GRAPH_VERSIONS
from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.core.hashing import json_text
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.batches import Batches
from lakehouse_assets.lake.failed_partitions import FailedPartitions
from lakehouse_assets.lake.resources import LakehouseResource
from lakehouse_assets.plan.cursors import read_position


@asset(**graph_asset(GRAPH_VERSIONS), deps=["definitions", "nodes", "edges", "props", "global_props"])
def graph_versions(context: AssetExecutionContext, lakehouse: LakehouseResource) -> Iterator[Output[Batches]]:
    """One row per repository and commit that the graph was brought to; written last."""
    failed = FailedPartitions()
    work, untouched = work_of(lakehouse, derivation(GRAPH_VERSIONS), context.partition_keys, failed)
    rows: list[dict[str, object]] = []
    for each in work:
        position = read_position(each.key.cursor)
        assert position is not None
        rows.append(
            {
                "repo": each.key.partition,
                "commit_sha": position.commit,
                "tables": json_text({name: cursor.end - 1 for name, cursor in position.cursors.items()}),
                "published_at": datetime.now(UTC),
            }
        )
    batch = Batch(
        rows=pa.Table.from_pylist(rows, schema=arrow_schema(GRAPH_VERSIONS.columns)),
        keys=tuple(each.key for each in work),
        owners=(),  # earlier commits stay
    )
    made = Batches(batches=(batch,) if work else (), untouched=untouched, failed=failed)
    yield from handed_over(made, of=len(context.partition_keys))
