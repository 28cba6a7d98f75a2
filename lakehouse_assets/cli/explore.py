"""`lakehouse explore`: the graph in the browser, and as a JSON API."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from lakehouse_assets.cli.instance import open_instance
from lakehouse_assets.cli.story import story_of
from lakehouse_assets.core.settings import Settings, load_settings

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from lakehouse_assets.explorer.asked import Runs
    from lakehouse_assets.stories.records import Run

_LISTED = 50


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; others may then read all.")
@click.option("--port", type=click.IntRange(1, 65535), help="Port; default: LAKEHOUSE_EXPLORER_PORT, or 3001.")
def explore(host: str, port: int | None) -> None:
    """Serve the explorer: search symbols, walk callers and callees, read source, stories and impact; and the JSON API.

    Read-only, and on this machine only unless --host says otherwise. Starts no JVM. Ctrl-C ends it.

    \b
    Example:
      lakehouse explore --port 8080
    """
    settings = load_settings()
    chosen = port or settings.explorer_port
    click.echo(f"explorer: http://{host}:{chosen} (API: http://{host}:{chosen}/api)", err=True)
    serve(settings, host, chosen)


def serve(settings: Settings, host: str, port: int) -> None:
    """Serve until told to end."""
    import uvicorn

    uvicorn.run(explorer_app(settings, host), host=host, port=port, log_level="warning", server_header=False)


def explorer_app(settings: Settings, host: str) -> "Starlette":
    from lakehouse_assets.explorer.app import create_app

    local = ["localhost", "127.0.0.1", "[::1]"]
    # Who opens it to others answers for the names that they know it by.
    return create_app(settings, runs_of(settings), hosts=local if host in ("127.0.0.1", "localhost", "::1") else ["*"])


def runs_of(settings: Settings) -> "Runs":
    from lakehouse_assets.explorer.asked import Runs

    return Runs(latest=lambda: _latest(settings), story=lambda run: story_of(settings, run))


def _latest(settings: Settings) -> "Sequence[Run]":
    from lakehouse_assets.automation.run_records import latest_runs

    with open_instance(settings) as instance:
        return latest_runs(instance, _LISTED)
