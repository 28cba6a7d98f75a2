"""A stream that the project names, run in the session of this process."""

from lakehouse_assets.contracts.ingest import SqlProject
from lakehouse_assets.contracts.streams import StreamFiles, StreamSpec
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.session import runtime_for
from lakehouse_assets.lake.stream_files import FileSource
from lakehouse_assets.lake.streams import Stream, StreamReport, TableSource, run_stream
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.sources.sql.ingested import streamed_contract, table_contract


def take_stream(
    settings: Settings, project: SqlProject, spec: StreamSpec, *, seconds: int | None = None
) -> StreamReport:
    """Take what has come; see `run_stream`. What was taken is kept in the home, under the stream's name."""
    lake = Lake(settings.lake)
    contract = streamed_contract(lake, project, spec)
    source = _source(lake, project, spec)
    if contract is None or source is None:
        table = "" if isinstance(spec.source, StreamFiles) else spec.source.table
        raise BadInputError(
            subject=f"stream {spec.name}",
            seen=f"the lake has no table {table} yet",
            why="there is nothing to take, and it is not known which columns there will be",
            remedy=f"make it first: `lakehouse ingest {table}`, `lakehouse stream`, or `lakehouse sync`",
        )
    stream = Stream(source=source, contract=contract, newest_by=spec.newest_by, settings_hash=spec.settings_hash)
    return run_stream(
        runtime_for(settings).session, lake, stream, settings.home / "streams" / spec.name, seconds=seconds
    )


def _source(lake: Lake, project: SqlProject, spec: StreamSpec) -> FileSource | TableSource | None:
    """Where the rows come from; None if it is a table that was never made."""
    if isinstance(spec.source, StreamFiles):
        return FileSource(path=spec.source.path, format=spec.source.format, options=spec.source.options)
    table = table_contract(lake, project, spec.source.table)
    return TableSource(path=lake.path(table)) if table is not None and lake.exists(table) else None
