"""The asset `offered_modules`."""

from collections.abc import Iterator

import pyarrow as pa
from dagster import AssetExecutionContext, Output, asset

from lakehouse_assets.assets.derivations import work_of
from lakehouse_assets.assets.options import table_asset
from lakehouse_assets.assets.run import RepositoryRun
from lakehouse_assets.contracts.offered_modules import OFFERED_MODULES
from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.batches import Batches, joined
from lakehouse_assets.lake.failed_partitions import FailedPartitions
from lakehouse_assets.lake.resources import LakehouseResource
from lakehouse_assets.lake.source_files import Selection, source_files
from lakehouse_assets.link import offers
from lakehouse_assets.plan.sql_text import in_list
from lakehouse_assets.recipes.extractors import extractors
from lakehouse_assets.recipes.graph import OFFERED_MODULES_RECIPE


@asset(**table_asset(OFFERED_MODULES_RECIPE))
def offered_modules(context: AssetExecutionContext, lakehouse: LakehouseResource) -> Iterator[Output[Batches]]:
    """One row per top-level module that other repositories can import from a repository."""
    failed = FailedPartitions()
    run = RepositoryRun(context, lakehouse)
    work, untouched = work_of(lakehouse, OFFERED_MODULES_RECIPE.derivation, run.names, failed, makes=run.makes)
    whole: list[Batch] = []
    changed: list[Batch] = []
    for each in work:
        repo = each.key.partition
        with failed.alone(repo):
            paths = source_files(lakehouse.lake, Selection(repos=(repo,)), extractors())["path"].to_pylist()
            rows = offers.offered_modules(repo, paths)
            if each.owners is None:
                whole.append(Batch(rows=_table(rows), keys=(each.key,)))
                continue
            modules = _differing(lakehouse, repo, dict(zip(rows["module"], rows["path"], strict=True)))
            chosen = _table(rows).filter(pa.array([module in modules for module in rows["module"]], pa.bool_()))
            changed.append(Batch(rows=chosen, keys=(each.key,), owners=modules, since=each.since))
    made = Batches(batches=(*joined(whole), *changed), untouched=untouched, failed=failed)
    yield from run.handed_over(made)


def _table(rows: offers.Columns) -> pa.Table:
    return pa.table(rows, schema=arrow_schema(OFFERED_MODULES.columns))


def _differing(lakehouse: LakehouseResource, repo: str, offered: dict[str, str]) -> tuple[str, ...]:
    """Modules that are not offered as the lake has it."""
    stored = lakehouse.lake.rows(OFFERED_MODULES, where=in_list('"repo"', [repo], "datafusion"))
    before = {row["module"]: row["path"] for row in stored}
    return tuple(sorted({name for name in {*before, *offered} if before.get(name) != offered.get(name)}))
