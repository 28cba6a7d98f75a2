"""The asset `iceberg_tables`: chosen tables of the lake as Iceberg."""

from dagster import AssetExecutionContext, Config, MaterializeResult, MetadataValue, TableRecord, asset
from pydantic import Field

from lakehouse_assets.assets.following import FOLLOWS
from lakehouse_assets.assets.options import OWNERS
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.lake.failures import explained
from lakehouse_assets.lake.resources import LakehouseResource

_GRAPH = ("definitions", "nodes", "edges", "props")


class PublishConfig(Config):
    """Which tables are published, and how many snapshots of each stay readable."""

    tables: list[str] = Field(default=list(_GRAPH), description="Names of tables of the lake.")
    keep: int = Field(default=30, ge=1, description="How many snapshots stay readable.")


@asset(
    group_name="publish",
    kinds={"iceberg"},
    owners=OWNERS,
    deps=["graph_versions"],
    automation_condition=FOLLOWS,
)
def iceberg_tables(
    context: AssetExecutionContext, config: PublishConfig, lakehouse: LakehouseResource
) -> MaterializeResult:
    """One Iceberg table per chosen table of the lake, sharing its data files; one snapshot per publication."""
    # Loading pyiceberg takes longer than many a run that does not publish.
    from lakehouse_assets.lake.iceberg import open_catalog, publish
    from lakehouse_assets.lake.known_tables import known_tables

    lake = lakehouse.lake
    with explained():
        known = known_tables(lake)
        if unknown := [name for name in config.tables if name not in known or not lake.exists(known[name])]:
            raise BadInputError(
                subject=f"table {unknown[0]}",
                seen="the lake has no table of that name",
                why="nothing was published",
                remedy="name tables that `lakehouse tables` lists in the run's configuration",
            )
        catalog = open_catalog(lakehouse.settings.home)
        done = [publish(lake, known[name], catalog, keep=config.keep) for name in config.tables]
    return MaterializeResult(
        metadata={
            "files_shared": sum(each.files_shared for each in done),
            "files_copied": sum(each.files_copied for each in done),
            "publications": MetadataValue.table(
                [
                    TableRecord(
                        {
                            "table": each.table,
                            "delta_version": each.delta_version,
                            "snapshot": str(each.snapshot),
                            "files_shared": each.files_shared,
                            "files_copied": each.files_copied,
                            "files_removed": each.files_removed,
                        }
                    )
                    for each in done
                ]
            ),
        }
    )
