"""The asset `graph_versions`: written last, so that a reader who starts from it sees one commit in every table."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from dagster import AssetExecutionContext, Output, asset

from lakehouse_assets.assets.derivations import work_of
from lakehouse_assets.assets.options import table_asset
from lakehouse_assets.assets.run import RepositoryRun
from lakehouse_assets.contracts.graph_versions import GRAPH_VERSIONS
from lakehouse_assets.contracts.schemas import arrow_rows
from lakehouse_assets.core.errors import LakeStateError
from lakehouse_assets.core.hashing import json_text
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.batches import Batches
from lakehouse_assets.lake.failed_partitions import FailedPartitions
from lakehouse_assets.lake.integrity import RULES, broken, written_by
from lakehouse_assets.lake.resources import LakehouseResource
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.cursors import read_position
from lakehouse_assets.recipes.graph import GRAPH_VERSIONS_RECIPE


@asset(**table_asset(GRAPH_VERSIONS_RECIPE))
def graph_versions(context: AssetExecutionContext, lakehouse: LakehouseResource) -> Iterator[Output[Batches]]:
    """One row per repository and commit that the graph was brought to; written last."""
    failed = FailedPartitions()
    run = RepositoryRun(context, lakehouse)
    stale, untouched = work_of(lakehouse, GRAPH_VERSIONS_RECIPE.derivation, run.names, failed, makes=run.makes)
    _refuse_unfit(run.lake, run.id, [each.key.partition for each in stale], failed)
    work = [each for each in stale if each.key.partition not in failed]
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
        rows=arrow_rows(GRAPH_VERSIONS.columns, rows),
        keys=tuple(each.key for each in work),
        owners=(),  # earlier commits stay
    )
    made = Batches(batches=(batch,) if work else (), untouched=untouched, failed=failed)
    yield from run.handed_over(made)


def _refuse_unfit(lake: Lake, run_id: str, repos: Sequence[str], failed: FailedPartitions) -> None:
    """A repository whose tables don't fit each other is not published: readers keep its last commit."""
    places = written_by(lake, run_id, repos)
    for rule in RULES:
        for row in broken(lake, rule, places, run_id=run_id):
            failed.add(
                row["repo"],
                LakeStateError(
                    subject=f"{rule.contract.name} of {row['repo']!r}",
                    seen=f"{rule.name} does not hold: {row['path']}: {row['broken']}",
                    why="readers of the graph would follow it into nothing, so this commit was not published",
                    remedy=f"see the asset check `{rule.name}` for the rows, and report it with `lakehouse verify`",
                ),
            )
