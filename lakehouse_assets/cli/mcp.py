"""`lakehouse mcp`: the graph as tools for coding assistants."""

import click

from lakehouse_assets.cli.explore import runs_of
from lakehouse_assets.core.settings import load_settings


@click.command()
def mcp() -> None:
    """Serve the graph to a coding assistant over the Model Context Protocol, on standard input and output.

    Tools: find_symbol, callers, callees, importers, source, impact, commit_diff. Read-only, with small, paged answers,
    at the last commit or at another that the graph was brought to. Starts no JVM; ends when its input does.

    \b
    Example, as an assistant's configuration names it:
      {"mcpServers": {"lakehouse": {"command": "lakehouse", "args": ["mcp"]}}}
    """
    from lakehouse_assets.explorer.asked import asked_of
    from lakehouse_assets.explorer.tools import mcp_server

    settings = load_settings()
    mcp_server(asked_of(settings, runs_of(settings))).run()
