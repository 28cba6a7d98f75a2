"""A stream that the project names, run in the session of this process."""

from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.contracts.streams import StreamFiles, StreamSpec
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.session import runtime_for
from lakehouse_assets.lake.streams import FileSource, Stream, StreamReport, TableSource, run_stream
from lakehouse_assets.lake.tables import Lake


def take_stream(settings: Settings, spec: StreamSpec, *, seconds: int | None = None) -> StreamReport:
    """Take what has come; see `run_stream`. What was taken is kept in the home, under the stream's name."""
    lake = Lake(settings.lake)
    source = spec.source
    stream = Stream(
        source=FileSource(path=source.path, format=source.format, options=source.options)
        if isinstance(source, StreamFiles)
        else TableSource(path=lake.path(CATALOG[source.table])),
        contract=spec.contract,
        newest_by=spec.newest_by,
        settings_hash=spec.settings_hash,
    )
    return run_stream(
        runtime_for(settings).session, lake, stream, settings.home / "streams" / spec.name, seconds=seconds
    )
