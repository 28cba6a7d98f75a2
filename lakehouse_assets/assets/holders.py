"""All who hold something of the tables' past. Whoever keeps versions of tables adds a function to `HOLDERS`.

A holder says what it needs as it is now; one that fails stops the vacuum that asks, so that nothing is removed on a
guess. It is asked under the lock of `lake.pins.unvacuumed`; who takes a new hold does so under the same lock.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.contracts.deliveries import DELIVERIES
from lakehouse_assets.contracts.file_changes import FILE_CHANGES
from lakehouse_assets.contracts.streams import StreamTable
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.environment_holds import environments
from lakehouse_assets.lake.holders import clones, iceberg_snapshots, pinned_commits, retained_commits
from lakehouse_assets.lake.ledger import Ledger
from lakehouse_assets.lake.streams import read_on_from
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.cursors import read_position
from lakehouse_assets.plan.holds import Hold
from lakehouse_assets.recipes.catalog import derivations
from lakehouse_assets.sources.sql.project import load_project

Holder = Callable[[Settings], Iterable[Hold]]


def cursors(settings: Settings) -> Iterator[Hold]:
    """Where each asset partition reads on in its inputs' change feeds, and the version it would compare with.

    Assets that are made as a whole read no feed: their positions say where they were made, and hold nothing.
    """
    readers = [each for each in derivations() if each.owner_columns or each.asset == FILE_CHANGES.name]
    latest = Ledger(Lake(settings.lake)).latest([CATALOG[each.asset] for each in readers])
    names = {each.asset for each in readers}
    for entry in latest.values():
        position = read_position(entry.cursor) if entry.asset in names else None
        for cursor in position.cursors.values() if position is not None else ():
            yield Hold(
                table=cursor.table,
                by=f"cursor of {entry.asset} of {entry.partition}",
                why="it reads on from there",
                partition=entry.partition if CATALOG[cursor.table].partition_by else None,
                version=cursor.end - 1 if cursor.end else None,
                feed_from=cursor.end,
            )


def deliveries(settings: Settings) -> Iterator[Hold]:
    """What each delivery that the project names has sent last: it goes on from there by the change feed.

    The target says itself how far it has come, and is never behind what the lake recorded after the transaction there.
    """
    project = load_project(settings)
    if not project.deliver:
        return
    lake = Lake(settings.lake)
    if not lake.exists(DELIVERIES):
        return
    there = {field.name for field in lake.present(DELIVERIES).schema().fields}  # it may be from before it had names
    told = [name for name in ("delivery", "table_name", "version", "delivered_at") if name in there]
    rows = sorted(lake.rows(DELIVERIES, columns=told), key=_delivered_at)
    last = {row["delivery"]: row for row in rows}
    for each in project.deliver:
        if (row := last.get(each.name)) is not None:
            yield Hold(
                table=row.get("table_name") or each.asset,
                by=f"delivery of {each.name}",
                why="it sends what changed since",
                version=row["version"],
                feed_from=row["version"] + 1,
            )


def _delivered_at(row: Mapping[str, Any]) -> datetime:
    return row["delivered_at"]


def streams(settings: Settings) -> Iterator[Hold]:
    """Where each stream of a table's changes reads on."""
    for each in load_project(settings).streams:
        if isinstance(each.source, StreamTable):
            place = read_on_from(settings.home / "streams" / each.name)
            if place is not None:
                why = "it reads on from there"
                yield Hold(table=each.source.table, by=f"stream {each.name}", why=why, version=place, feed_from=place)


HOLDERS: tuple[Holder, ...] = (
    cursors,
    retained_commits,
    pinned_commits,
    environments,
    clones,
    iceberg_snapshots,
    deliveries,
    streams,
)


def all_holds(settings: Settings) -> list[Hold]:
    return [hold for holder in HOLDERS for hold in holder(settings)]
