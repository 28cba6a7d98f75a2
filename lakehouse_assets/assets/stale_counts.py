"""How many partitions of each asset are stale: numbers to watch over time.

What counts is what `lakehouse status` and `lakehouse activity` would tell. Cost: as theirs, the heads of all
repositories, the ledger, and the commits by month.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from lakehouse_assets.assets.activity.months import stale_months
from lakehouse_assets.assets.freshness import plan_sync
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.registry import Registry
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.staleness import Staleness
from lakehouse_assets.recipes.activity import ACTIVITY_RECIPES
from lakehouse_assets.recipes.catalog import RECIPES, SYNC_GROUPS


@dataclass(frozen=True, kw_only=True)
class StaleCount:
    asset: str
    stale_partitions: int
    unreadable_partitions: int
    """Repositories whose heads could not be found, so that it is not known."""
    stale_because: str
    """The parts of the key that differ, with how often."""
    reasons: tuple[Staleness, ...]
    """One for each partition and part."""


def stale_counts(settings: Settings) -> list[StaleCount]:
    """A count for every asset of a sync and every one of months, also where nothing is stale."""
    lake = Lake(settings.lake)
    plan = plan_sync(settings, list(Registry(lake).all().values()))
    of_repositories = [reason for decision in plan.decisions for reason in decision.reasons]
    of_months = [reason for reasons in stale_months(lake).values() for reason in reasons]
    counts = [
        _count(each.name, of_repositories, len(plan.errors)) for each in RECIPES.values() if each.group in SYNC_GROUPS
    ]
    return counts + [_count(each.name, of_months, 0) for each in ACTIVITY_RECIPES]


def _count(asset: str, reasons: Iterable[Staleness], unreadable: int) -> StaleCount:
    own = [reason for reason in reasons if reason.asset == asset]
    parts = Counter(reason.part for reason in own)
    return StaleCount(
        asset=asset,
        stale_partitions=len({reason.partition for reason in own}),
        unreadable_partitions=unreadable,
        stale_because=", ".join(f"{part} {count}" for part, count in parts.most_common()) or "nothing",
        reasons=tuple(own),
    )
