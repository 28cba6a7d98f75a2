"""Staging tables of deliveries: each is of one run, which removes it whatever happens.

A run that begins removes those of the runs before it, which were killed, or else are overtaken: of several at once, the
one that began last delivers, and the others are told so. A run that fails removes its own alone.
"""

from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager

from lakehouse_assets.contracts.ingest import Delivery, SqlProject
from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.core.errors import LakehouseError, SourceError
from lakehouse_assets.plan.delivery_sql import Statement, sibling, staging_prefix
from lakehouse_assets.plan.source_sql import quoted_table
from lakehouse_assets.sources.sql.overtaken import overtaken
from lakehouse_assets.sources.sql.target import TargetDatabase, target_database


def open_target(project: SqlProject, delivery: Delivery) -> AbstractContextManager[TargetDatabase]:
    return target_database(project.connections[delivery.connection], name=delivery.connection)


def staging_table(delivery: Delivery, run_id: str) -> str:
    return sibling(delivery.table, f"{staging_prefix(delivery.name)}{run_id[:8]}")


def remove_earlier(target: TargetDatabase, delivery: Delivery) -> None:
    """Those of all runs so far."""
    for name in target.tables_like(delivery.table, staging_prefix(delivery.name)):
        remove(target, sibling(delivery.table, name))


def remove(target: TargetDatabase, staging: str) -> None:
    target.run([Statement(sql=f"DROP TABLE IF EXISTS {quoted_table(staging)}")])


@contextmanager
def cleaning(project: SqlProject, delivery: Delivery, staging: str | None) -> Generator[None, None, None]:
    """Remove the staging table when the step does not end, by a connection of its own: the step's may be broken."""
    ended = False
    try:
        yield
        ended = True
    finally:
        if not ended and staging is not None:
            try:
                with open_target(project, delivery) as target:
                    remove(target, staging)
            except LakehouseError as unreachable:
                told = "its staging table is left to the next run"
                report("deliver", delivery.name, told, level="warning", seen=unreachable.seen)


@contextmanager
def needing(project: SqlProject, delivery: Delivery, staging: str) -> Generator[None, None, None]:
    """Around what cannot be done without the staging table: where that is gone, another run has begun since."""
    try:
        yield
    except SourceError:
        with open_target(project, delivery) as target:
            _, _, name = staging.rpartition(".")
            is_there = name in target.tables_like(delivery.table, name)
        if is_there:
            raise
    else:
        return
    raise overtaken(delivery.name)
