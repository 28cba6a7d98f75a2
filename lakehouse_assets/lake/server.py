"""The resident Spark Connect server: a warm JVM that runs attach to instead of starting their own.

Invariant: one home has at most one server. Its state file names a process by id and birth time, so
that a recycled process id is never taken for it, and stopping ends its Python workers with it.
"""

import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import psutil

from lakehouse_assets.core.errors import EnvironmentNotReadyError
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.jars import lake_jars
from lakehouse_assets.plan.spark_conf import driver_conf
from lakehouse_assets.plan.store_conf import store_reach

_START_SECONDS = 120
_STOP_SECONDS = 20
_LOG_TAIL_LINES = 15
_HOST = "127.0.0.1"


@dataclass(frozen=True, kw_only=True)
class ServerState:
    """A running server. `born` is the process's birth time as the operating system tells it."""

    pid: int
    born: float
    port: int
    profile: str
    store: str = ""
    """The object store that it was started for, with its JARs, and with credentials in its environment."""

    @property
    def url(self) -> str:
        return f"sc://{_HOST}:{self.port}"


def running_server(settings: Settings) -> ServerState | None:
    """The home's server if its process is alive."""
    path = _state_path(settings)
    if not path.exists():
        return None
    told = json.loads(path.read_text())
    state = ServerState(**{each.name: told[each.name] for each in fields(ServerState) if each.name in told})
    return state if _is_alive(state) else None


def resident_url(settings: Settings) -> str | None:
    """The address of the home's server; None if it is not up, or knows nothing of the store that the lake is in."""
    state = running_server(settings)
    if state is None or (settings.is_on_object_store and state.store != store_reach(settings)):
        return None
    return state.url if _accepts(state.port) else None


def start_server(settings: Settings) -> tuple[ServerState, bool]:
    """Start the server unless it is up; tells whether it was started now."""
    with _exclusive(settings):
        state = running_server(settings)
        if state is not None:
            return state, False
        _refuse_taken_port(settings.resident_port)
        state = _launch(settings)
        _write_state(settings, state)
    return state, True


def stop_server(settings: Settings) -> ServerState | None:
    """End the server and every process below it; gives the state it had, or None if there was none."""
    with _exclusive(settings):
        state = running_server(settings)
        if state is not None:
            _end(psutil.Process(state.pid))
        _state_path(settings).unlink(missing_ok=True)
    return state


def port_is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        return probe.connect_ex((_HOST, port)) != 0


def _launch(settings: Settings) -> ServerState:
    from lakehouse_assets.lake.session import LOCAL_ONLY, LOG_CONF, launch_environment

    conf = driver_conf(settings, jars=lake_jars(settings), python=sys.executable, log_conf=LOG_CONF) | {
        "spark.connect.grpc.binding.port": str(settings.resident_port),
        "spark.connect.grpc.binding.address": _HOST,
    }
    log = settings.server / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            _command(conf),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=settings.server,
            env=os.environ | launch_environment() | LOCAL_ONLY,
            start_new_session=True,
        )
    deadline = time.monotonic() + _START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        if _accepts(settings.resident_port):
            return ServerState(
                pid=process.pid,
                born=psutil.Process(process.pid).create_time(),
                port=settings.resident_port,
                profile=settings.profile,
                store=store_reach(settings),
            )
        time.sleep(0.1)
    if process.poll() is None:
        _end(psutil.Process(process.pid))
    tail = log.read_text(errors="replace").splitlines()[-_LOG_TAIL_LINES:]
    raise EnvironmentNotReadyError(
        subject="resident Spark server",
        seen="it did not come up; its last lines were:\n  " + "\n  ".join(tail or ["(nothing)"]) + "\n",
        why="runs would go on without it, each starting a JVM of its own",
        remedy=f"read {log}, mend what it names, and start it again",
    )


def _command(conf: dict[str, str]) -> list[str]:
    import pyspark

    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    options = [word for key, value in sorted(conf.items()) for word in ("--conf", f"{key}={value}")]
    server_class = "org.apache.spark.sql.connect.service.SparkConnectServer"
    return [str(submit), "--class", server_class, *options, "spark-internal"]


def _end(process: psutil.Process) -> None:
    """Python workers make process groups of their own, so the tree is walked before its root goes."""
    family = [*process.children(recursive=True), process]
    process.send_signal(signal.SIGTERM)
    _, alive = psutil.wait_procs(family, timeout=_STOP_SECONDS)
    for survivor in alive:
        survivor.kill()
    psutil.wait_procs(alive, timeout=_STOP_SECONDS)


def _is_alive(state: ServerState) -> bool:
    try:
        process = psutil.Process(state.pid)
        return process.create_time() == state.born and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _accepts(port: int) -> bool:
    return not port_is_free(port)


def _refuse_taken_port(port: int) -> None:
    if port_is_free(port):
        return
    raise EnvironmentNotReadyError(
        subject=f"port {port}",
        seen="another process listens on it",
        why="the resident Spark server needs a port of its own",
        remedy="stop that process, or set LAKEHOUSE_RESIDENT_PORT to a free port",
    )


def _state_path(settings: Settings) -> Path:
    return settings.server / "state.json"


def _write_state(settings: Settings, state: ServerState) -> None:
    """Whole or not at all: a reader never sees half a file."""
    fresh = _state_path(settings).with_suffix(".new")
    fresh.write_text(json.dumps(asdict(state)))
    fresh.replace(_state_path(settings))


@contextmanager
def _exclusive(settings: Settings) -> Iterator[None]:
    settings.server.mkdir(parents=True, exist_ok=True)
    with (settings.server / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
