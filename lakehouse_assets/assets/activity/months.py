"""Which months of an asset are stale, and what the assets of months have in common."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from dagster import AssetExecutionContext

from lakehouse_assets.assets.run import engine_of
from lakehouse_assets.contracts.commit_files import COMMIT_FILES
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.activity import DatedCommits
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.ledger import Entry, EntryKey, Ledger
from lakehouse_assets.lake.local_engine import local_engine
from lakehouse_assets.lake.resources import LakehouseResource
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.cursors import Position
from lakehouse_assets.plan.derivation import Task, sorted_out, wanted_key
from lakehouse_assets.plan.engine import EngineChoice, Extent
from lakehouse_assets.plan.makes import Makes
from lakehouse_assets.plan.staleness import MaterializationKey, Staleness
from lakehouse_assets.recipes.activity import ACTIVITY_RECIPES, CHURN_RECIPE
from lakehouse_assets.recipes.recipe import Recipe

if TYPE_CHECKING:
    from lakehouse_assets.lake.step_engine import Rows

MONTH_TABLES = tuple(each.contract for each in ACTIVITY_RECIPES)

_NO_COMMITS = "0"


def month_tasks(
    recipe: Recipe,
    months: Iterable[str],
    versions: Mapping[str, str],
    latest: Mapping[EntryKey, Entry],
    makes: Makes = "stale",
) -> tuple[list[Task], tuple[Entry, ...]]:
    """What is to be made among the months, and the entries of the others; `versions` has those of their inputs."""
    derivation = recipe.derivation
    wanted = (
        wanted_key(derivation, month, {name: versions.get(month, _NO_COMMITS) for name in derivation.inputs})
        for month in months
    )
    return sorted_out(wanted, latest, makes)


def commit_versions(lake: Lake) -> dict[str, str]:
    """By month what its commits are: what is made of them is stale where these differ."""
    with local_engine() as engine:
        return DatedCommits(engine, lake).versions()


def months_engine(
    context: AssetExecutionContext, lakehouse: LakehouseResource, contract: TableContract, tasks: Sequence[Task]
) -> EngineChoice:
    """Where a run of months works: by the commits of those that are stale."""

    def extent() -> Extent:
        if not lakehouse.lake.exists(contract):
            return Extent(first=(contract.name,), of="commits")
        counts = {month: int(version.partition("-")[0]) for month, version in commit_versions(lakehouse.lake).items()}
        return Extent(changed=sum(counts.get(task.key.partition, 0) for task in tasks), of="commits")

    return engine_of(context, lakehouse, extent)


def file_versions(latest: Mapping[EntryKey, Entry]) -> dict[str, str]:
    """By month the content of `commit_files`: what `churn` is made from."""
    found = {month: entry for (asset, month), entry in latest.items() if asset == COMMIT_FILES.name and entry.cursor}
    return {month: entry.data_version or f"version {entry.table_version}" for month, entry in found.items()}


def stale_months(lake: Lake) -> dict[str, tuple[Staleness, ...]]:
    """By month, up to the present one, why it is stale. One without commits that was never made is not missing."""
    latest = Ledger(lake).latest(MONTH_TABLES)
    versions = commit_versions(lake)
    made = {month for asset, month in latest if asset in {each.name for each in MONTH_TABLES}}
    now = datetime.now(UTC).date().isoformat()
    months = sorted(month for month in {*versions, *made} if month <= now)
    reasons: dict[str, tuple[Staleness, ...]] = dict.fromkeys(months, ())
    for recipe in ACTIVITY_RECIPES:
        of_files = recipe is CHURN_RECIPE
        tasks, _ = month_tasks(recipe, months, file_versions(latest) if of_files else versions, latest)
        for task in tasks:
            reasons[task.key.partition] += task.reasons
    return {month: found for month, found in reasons.items() if found}


def month_batches(tasks: Sequence[Task], rows: "Rows") -> tuple[Batch, ...]:
    """One batch for all months of the tasks; none without tasks."""
    return (_batch(tuple(made_key(task.key) for task in tasks), rows),) if tasks else ()


def made_key(key: MaterializationKey) -> MaterializationKey:
    """The key of what is made now. A month is of no single commit and reads no feed: its input says all."""
    return replace(key, cursor=Position(commit="").text)


def _batch(keys: tuple[MaterializationKey, ...], rows: "Rows") -> Batch:
    def part(months: Sequence[str]) -> Batch:
        days = [date.fromisoformat(month) for month in months]
        if isinstance(rows, pa.Table):
            some = rows.filter(pc.field("month").isin(pa.array(days)))
        else:
            some = rows.where(rows["month"].isin(days))
        return _batch(tuple(key for key in keys if key.partition in months), some)

    return Batch(rows=rows, keys=keys, part=part)
