"""`lakehouse up`: everything at once: the resident Spark server, the Dagster UI with its daemon, the explorer."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from urllib.error import URLError
from urllib.request import urlopen

import click

from lakehouse_assets.cli.instance import dagster_environment
from lakehouse_assets.cli.progress import Progress
from lakehouse_assets.core.errors import EnvironmentNotReadyError
from lakehouse_assets.core.overlays import FILE_NAME
from lakehouse_assets.core.settings import PROJECT_ROOT, Settings, load_settings

_START_SECONDS = 120
_END_SECONDS = 45
_LOG_TAIL_LINES = 15


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; others may then read all.")
@click.option("--port", type=click.IntRange(1, 65535), help="Port of the explorer; default: LAKEHOUSE_EXPLORER_PORT.")
@click.option("--ui-port", type=click.IntRange(1, 65535), default=3000, show_default=True, help="Port of Dagster's UI.")
@click.option("--no-spark", is_flag=True, help="Start no resident Spark server; runs that need Spark start their own.")
def up(host: str, port: int | None, ui_port: int, no_spark: bool) -> None:
    """Start the resident Spark server, the Dagster UI and the explorer, and keep them up until Ctrl-C.

    In a project that `lakehouse new` made the UI has its assets as well. What was up before stays up afterwards. Logs
    are in LAKEHOUSE_HOME/server.

    \b
    Examples:
      lakehouse up
      lakehouse up --no-spark --ui-port 3010 --port 3011
    """
    settings = load_settings()
    explorer_port = port or settings.explorer_port
    for name, taken in (("explorer", explorer_port), ("Dagster UI", ui_port)):
        _refuse_taken(name, taken)
    progress = Progress()
    with ExitStack() as stack:
        stack.enter_context(_ending_by_signals())
        dagster = stack.enter_context(_dagster(settings, host, ui_port, explorer_port))
        if not no_spark:
            with progress.step("resident Spark"):
                stack.enter_context(_spark(settings))
        with progress.step("Dagster UI"):
            _wait(dagster, settings, f"http://{host}:{ui_port}/server_info")
        click.echo(f"Dagster UI: http://{host}:{ui_port}", err=True)
        click.echo(f"explorer:   http://{host}:{explorer_port}", err=True)
        click.echo("Ctrl-C ends them.", err=True)
        _serve(settings, host, explorer_port, dagster)
    click.echo("ended", err=True)


def _serve(settings: Settings, host: str, port: int, dagster: "subprocess.Popen[bytes]") -> None:
    """Serve the explorer in this thread until a signal comes or Dagster ends by itself."""
    import uvicorn

    from lakehouse_assets.cli.explore import explorer_app

    app = explorer_app(settings, host)
    server = uvicorn.Server(uvicorn.Config(app, host=host, port=port, log_level="warning", server_header=False))

    def watch() -> None:
        dagster.wait()
        server.should_exit = True

    threading.Thread(target=watch, daemon=True).start()
    try:
        server.run()
    except KeyboardInterrupt:
        return  # uvicorn has ended well, and tells the signal on
    if dagster.poll() is not None:
        raise _ended(dagster, settings)


@contextmanager
def _ending_by_signals() -> Iterator[None]:
    """SIGTERM as Ctrl-C, and Ctrl-C also where a shell's background ignores it: whatever ends us, we clean up."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    except KeyboardInterrupt:
        click.echo("ending…", err=True)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _spark(settings: Settings) -> Iterator[None]:
    from lakehouse_assets.lake.server import start_server, stop_server

    _, started = start_server(settings)
    try:
        yield
    finally:
        if started:
            stop_server(settings)


@contextmanager
def _dagster(settings: Settings, host: str, port: int, explorer_port: int) -> "Iterator[subprocess.Popen[bytes]]":
    """`dagster dev`, in a session of its own: Ctrl-C is ours to tell it, once."""
    settings.server.mkdir(parents=True, exist_ok=True)
    place, folder = what_is_served(settings)
    environment = dagster_environment(settings) | {"LAKEHOUSE_EXPLORER_PORT": str(explorer_port)}
    if settings.project is not None:
        environment |= {"LAKEHOUSE_SETTINGS": str(settings.project / FILE_NAME)}
    with _log(settings).open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "dagster", "dev", *place, "--host", host, "--port", str(port)],
            cwd=folder,
            env=os.environ | environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        _end(process)


def what_is_served(settings: Settings) -> tuple[list[str], Path]:
    """What Dagster is to load, and in which folder: a project's own definitions, ours among them, or ours alone."""
    if settings.project is not None and (settings.project / "definitions.py").exists():
        return ["-f", "definitions.py"], settings.project
    if (PROJECT_ROOT / "workspace.yaml").exists():
        return ["-w", "workspace.yaml"], PROJECT_ROOT
    return ["-m", "lakehouse_assets.definitions"], Path.cwd()


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Interrupt it and all that it started; kill what is still there after a while."""
    import psutil

    if process.poll() is not None:
        return
    family = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
    os.killpg(process.pid, signal.SIGINT)
    _, alive = psutil.wait_procs(family, timeout=_END_SECONDS)
    for late in alive:
        late.kill()
    process.wait(timeout=10)


def _wait(process: "subprocess.Popen[bytes]", settings: Settings, url: str) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise _ended(process, settings)
        try:
            with urlopen(url, timeout=5):
                return
        except (URLError, ConnectionError, TimeoutError):
            time.sleep(0.25)
    raise _ended(process, settings)


def _ended(process: "subprocess.Popen[bytes]", settings: Settings) -> EnvironmentNotReadyError:
    log = _log(settings)
    tail = log.read_text(errors="replace").splitlines()[-_LOG_TAIL_LINES:]
    code = process.poll()
    happened = "it does not answer" if code is None else f"it ended with code {code}"
    return EnvironmentNotReadyError(
        subject="Dagster UI",
        seen=f"{happened}; its last lines were:\n  " + "\n  ".join(tail or ["(nothing)"]) + "\n",
        why="runs could be neither started nor seen",
        remedy=f"read {log}, mend what it names, and start again",
    )


def _log(settings: Settings) -> Path:
    return settings.server / "dagster.log"


def _refuse_taken(name: str, port: int) -> None:
    from lakehouse_assets.lake.server import port_is_free

    if not port_is_free(port):
        raise EnvironmentNotReadyError(
            subject=f"port {port}",
            seen="another process listens on it",
            why=f"the {name} needs a port of its own",
            remedy="stop that process, or choose another port (see `lakehouse up --help`)",
        )
