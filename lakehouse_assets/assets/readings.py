"""Which repositories a run reads, and at which commit."""

from collections.abc import Mapping, Sequence

from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.core.errors import LakeStateError
from lakehouse_assets.lake.failed_partitions import FailedPartitions
from lakehouse_assets.lake.failures import explained
from lakehouse_assets.lake.registry import registered
from lakehouse_assets.lake.resources import LakehouseResource
from lakehouse_assets.sources.head import resolve_head
from lakehouse_assets.sources.mirror import git_directory, refresh
from lakehouse_assets.sources.reads import Reading


@explained()
def readings_at_heads(
    lakehouse: LakehouseResource, names: Sequence[str], heads: Mapping[str, str], failed: FailedPartitions
) -> list[Reading]:
    """The repositories at the commits that `heads` decided already, the others at their newest."""
    settings = lakehouse.settings
    known = lakehouse.registry.all()
    readings: list[Reading] = []
    for name in names:
        with failed.alone(name):
            repository = registered(known, name)
            decided = heads.get(name)
            if decided is None:
                refresh(repository, settings.mirrors, skip=settings.home)
            head = resolve_head(repository, settings.mirrors, decided)
            git_dir = git_directory(repository, settings.mirrors)
            readings.append(Reading(repository=repository, git_dir=git_dir, head=head))
    return readings


@explained()
def readings_at_commits(lakehouse: LakehouseResource, names: Sequence[str], failed: FailedPartitions) -> list[Reading]:
    """The repositories at the commits that the asset `commits` has, so that all assets tell of one commit."""
    latest = lakehouse.ledger.latest([COMMITS])
    heads: dict[str, str] = {}
    for name in names:
        with failed.alone(name):
            entry = latest.get((COMMITS.name, name))
            if entry is None or not entry.cursor:
                raise LakeStateError(
                    subject=f"repository {name!r}",
                    seen="its `commits` have never been materialized",
                    why="they decide which commit the other assets tell of",
                    remedy="materialize `commits` for this partition first, or run `lakehouse sync`",
                )
            heads[name] = entry.cursor
    return readings_at_heads(lakehouse, list(heads), heads, failed)
