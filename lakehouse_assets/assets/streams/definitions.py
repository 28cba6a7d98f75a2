"""One asset for each stream: a run takes what has come, until nothing is left or for some seconds."""

from dataclasses import asdict

import dagster as dg
from pydantic import Field

from lakehouse_assets.assets.options import table_metadata
from lakehouse_assets.assets.streams.running import take_stream
from lakehouse_assets.contracts.ingest import SqlProject
from lakehouse_assets.contracts.streams import StreamSpec, StreamTable
from lakehouse_assets.lake.failures import explained
from lakehouse_assets.lake.resources import LakehouseResource


class StreamConfig(dg.Config):
    """How long a run goes on."""

    seconds: int | None = Field(
        default=None, ge=1, description="For how long; if it is not given, until nothing is left."
    )


def stream_asset(project: SqlProject, spec: StreamSpec) -> dg.AssetsDefinition:
    @dg.asset(
        name=spec.name,
        description=spec.description or "Rows of a stream.",
        group_name="streams",
        kinds={"deltalake", "spark"},
        deps=[spec.source.table] if isinstance(spec.source, StreamTable) else [],
        metadata=table_metadata(known) if (known := spec.known_contract) else {},
    )
    @explained()
    def taken(config: StreamConfig, lakehouse: LakehouseResource) -> dg.MaterializeResult:
        done = take_stream(lakehouse.settings, project, spec, seconds=config.seconds)
        return dg.MaterializeResult(metadata=asdict(done))

    return taken
