"""The assets `impacted_callers`, `impacted_importers` and `impacted_files`: who the last update touched.

They are not part of a sync: whoever relies on a repository may be in any other, so that finding them reads the
relationships of the whole lake. They are made when somebody asks for them, or the sensor that follows with them does.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dagster import AssetExecutionContext, Output, multi_asset

from lakehouse_assets.assets.change.between import last_update
from lakehouse_assets.assets.derivations import work_of
from lakehouse_assets.assets.following import FOLLOWS
from lakehouse_assets.assets.options import table_assets
from lakehouse_assets.assets.run import RepositoryRun
from lakehouse_assets.contracts.impacted_callers import IMPACTED_CALLERS
from lakehouse_assets.contracts.impacted_files import IMPACTED_FILES
from lakehouse_assets.contracts.impacted_importers import IMPACTED_IMPORTERS
from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.batches import Batches, joined
from lakehouse_assets.lake.failed_partitions import FailedPartitions
from lakehouse_assets.lake.failures import explained
from lakehouse_assets.lake.impact import impact_by
from lakehouse_assets.lake.resources import LakehouseResource, SparkResource
from lakehouse_assets.lake.step_engine import StepEngine
from lakehouse_assets.plan.makes import Makes
from lakehouse_assets.recipes.catalog import RECIPES
from lakehouse_assets.recipes.impact import IMPACT_RECIPES

if TYPE_CHECKING:
    from lakehouse_assets.lake.step_engine import Rows


@multi_asset(**table_assets(IMPACT_RECIPES, automation=FOLLOWS))
def impact(
    context: AssetExecutionContext, lakehouse: LakehouseResource, spark: SparkResource
) -> Iterator[Output[Batches]]:
    """Who the last update of each repository touched, in every repository."""
    run = RepositoryRun(context, lakehouse, spark)
    tables = run.selected(each.name for each in IMPACT_RECIPES)
    with run.steps() as engine:
        yield from run.handed_over(impacted(lakehouse, run.names, tables, engine, run.makes).items())


@explained()
def impacted(
    lakehouse: LakehouseResource,
    repos: Sequence[str],
    tables: Sequence[str],
    engine: StepEngine,
    makes: Makes = "stale",
) -> dict[str, Batches]:
    """The batches of the tables; a repository's ways are found once for all that are stale."""
    found: dict[str, dict[str, Rows]] = {}
    made: dict[str, Batches] = {}
    failed = FailedPartitions()
    for name in tables:
        work, untouched = work_of(lakehouse, RECIPES[name].derivation, repos, failed, makes=makes)
        batches: list[Batch] = []
        for each in work:
            repo = each.key.partition
            with failed.alone(repo):
                if repo not in found:
                    found[repo] = _tables(lakehouse, repo, engine)
                batches.append(Batch(rows=found[repo][name], keys=(each.key,)))
        made[name] = Batches(batches=joined(batches), untouched=untouched, failed=failed)
    return made


def _tables(lakehouse: LakehouseResource, repo: str, engine: StepEngine) -> "dict[str, Rows]":
    lake = lakehouse.lake
    (repository,) = lakehouse.registry.get([repo])
    update = last_update(lake, repository)
    # After the first update everything is new, and nobody can have relied on it.
    files = update.files if update.from_commit is not None else update.files.slice(0, 0)
    touched = impact_by(engine, lake, repo, update.definitions, files, from_commit=update.from_commit)
    for note in touched.notes:
        report("impact", repo, note, level="warning")
    if touched.more_callers or touched.more_importers:
        report("impact", repo, f"there is more beyond {touched.limit} steps", level="warning")
    return {
        IMPACTED_CALLERS.name: touched.callers,
        IMPACTED_IMPORTERS.name: touched.importers,
        IMPACTED_FILES.name: touched.files,
    }
