"""`lakehouse server`: the resident Spark server."""

import time

import click

from lakehouse_assets.cli.output import json_option, print_json
from lakehouse_assets.core.settings import load_settings


@click.group()
def server() -> None:
    """Keep a warm Spark server that runs attach to instead of starting a JVM each."""


@server.command()
@json_option
def start(as_json: bool) -> None:
    """Start it, or say that it is up."""
    from lakehouse_assets.lake.server import start_server

    state, started = start_server(load_settings())
    if as_json:
        print_json({"started": started, "url": state.url, "pid": state.pid, "profile": state.profile})
    else:
        click.echo(f"resident Spark server {'started' if started else 'was up already'}: {state.url}, pid {state.pid}")


@server.command()
@json_option
def stop(as_json: bool) -> None:
    """Stop it and its workers."""
    from lakehouse_assets.lake.server import stop_server

    state = stop_server(load_settings())
    if as_json:
        print_json({"stopped": state is not None})
    else:
        click.echo(f"stopped pid {state.pid}" if state else "no resident Spark server was running")


@server.command()
@json_option
def status(as_json: bool) -> None:
    """Tell whether it is up, since when, and how much memory it has."""
    import psutil

    from lakehouse_assets.cli.output import readable_bytes
    from lakehouse_assets.lake.server import running_server

    state = running_server(load_settings())
    if state is None:
        if as_json:
            print_json({"running": False})
        else:
            click.echo("not running; start it with `lakehouse server start`")
        return
    memory = psutil.Process(state.pid).memory_info().rss
    seconds = round(time.time() - state.born)
    if as_json:
        facts = {"url": state.url, "pid": state.pid, "profile": state.profile, "seconds": seconds, "memory": memory}
        print_json({"running": True, **facts})
    else:
        click.echo(
            f"running: {state.url}, pid {state.pid}, profile {state.profile}, "
            f"up {seconds} s, {readable_bytes(memory)} of memory"
        )
