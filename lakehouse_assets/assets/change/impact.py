"""The assets `impacted_callers`, `impacted_importers` and `impacted_files`: who the last update touched.

They are not part of a sync: whoever relies on a repository may be in any other, so that finding them reads the
relationships of the whole lake. They are made when somebody asks for them, or the sensor that follows with them does.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from dagster import AssetExecutionContext, Output, multi_asset

from lakehouse_assets.assets.change.between import last_update
from lakehouse_assets.assets.derivations import work_of
from lakehouse_assets.assets.engine import steps_of_run
from lakehouse_assets.assets.following import FOLLOWS
from lakehouse_assets.assets.handing_over import handed_over
from lakehouse_assets.assets.options import table_assets
from lakehouse_assets.assets.partitions import repositories_of
from lakehouse_assets.change.impact import find_impact
from lakehouse_assets.contracts.diffs import DIFFS
from lakehouse_assets.contracts.graph_versions import GRAPH_VERSIONS
from lakehouse_assets.contracts.impacted_callers import IMPACTED_CALLERS
from lakehouse_assets.contracts.impacted_files import IMPACTED_FILES
from lakehouse_assets.contracts.impacted_importers import IMPACTED_IMPORTERS
from lakehouse_assets.contracts.imports_resolved import IMPORTS_RESOLVED
from lakehouse_assets.contracts.links import LINKS
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.batches import Batches, joined
from lakehouse_assets.lake.failed_partitions import FailedPartitions
from lakehouse_assets.lake.failures import explained
from lakehouse_assets.lake.impact import impact_by
from lakehouse_assets.lake.resources import LakehouseResource, SparkResource
from lakehouse_assets.lake.step_engine import StepEngine
from lakehouse_assets.plan.code_version import code_version
from lakehouse_assets.plan.derivation import Derivation

if TYPE_CHECKING:
    from lakehouse_assets.lake.step_engine import Rows

TABLES = (IMPACTED_CALLERS, IMPACTED_IMPORTERS, IMPACTED_FILES)


@cache
def impact_derivation(contract: TableContract) -> Derivation:
    return Derivation(
        asset=contract.name,
        inputs=(DIFFS.name, LINKS.name, IMPORTS_RESOLVED.name),
        code_version=code_version(find_impact, parameters=[contract.version]),
        policy_hash=contract.policy_hash,
        owner_columns=(),
        after=(GRAPH_VERSIONS.name,),  # it reads what is published
    )


@multi_asset(
    name="impact",
    deps=["diffs", "links", "imports_resolved", "definitions", "graph_versions"],
    **table_assets(
        {contract: impact_derivation(contract).code_version for contract in TABLES},
        group="impact",
        kinds={"sql", "deltalake"},
        automation=FOLLOWS,
    ),
)
def impact(
    context: AssetExecutionContext, lakehouse: LakehouseResource, spark: SparkResource
) -> Iterator[Output[Batches]]:
    """Who the last update of each repository touched, in every repository."""
    repositories = repositories_of(context)
    with steps_of_run(context, lakehouse, spark, repositories) as (engine, _):
        made = impacted(lakehouse, repositories, engine)
        yield from handed_over(made.items(), of=len(context.partition_keys))


@explained()
def impacted(lakehouse: LakehouseResource, repos: Sequence[str], engine: StepEngine) -> dict[str, Batches]:
    """The batches of the three tables; a repository's ways are found once for all that are stale."""
    found: dict[str, dict[str, Rows]] = {}
    made: dict[str, Batches] = {}
    failed = FailedPartitions()
    for contract in TABLES:
        work, untouched = work_of(lakehouse, impact_derivation(contract), repos, failed)
        batches: list[Batch] = []
        for each in work:
            repo = each.key.partition
            with failed.alone(repo):
                if repo not in found:
                    found[repo] = _tables(lakehouse, repo, engine)
                batches.append(Batch(rows=found[repo][contract.name], keys=(each.key,)))
        made[contract.name] = Batches(batches=joined(batches), untouched=untouched, failed=failed)
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
