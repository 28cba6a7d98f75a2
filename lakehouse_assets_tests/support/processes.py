"""Dagster as a team runs it: UI, daemon and code server as processes of their own, each of which can be killed."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil

from lakehouse_assets.core.settings import PROJECT_ROOT, Settings
from lakehouse_assets_tests.support.graphql import GraphQL
from lakehouse_assets_tests.support.ports import free_port

_BIN = Path(sys.executable).parent
_WORKSPACE = """
load_from:
  - grpc_server: {{host: 127.0.0.1, port: {port}, location_name: lakehouse_assets}}
"""
_START_SECONDS = 120
DAEMONS = ("daemon", "another daemon")
"""A team has one; a second is a mistake of whoever starts it."""


class Processes:
    """The three of them on one lake; what they say is in `folder`."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self._folder = folder
        code, ui = free_port(), free_port()
        workspace = folder / "workspace.yaml"
        workspace.write_text(_WORKSPACE.format(port=code))
        local = ("--host", "127.0.0.1")
        self._commands: dict[str, Sequence[str]] = {
            "code server": ("dagster", "api", "grpc", "-m", "lakehouse_assets.definitions", *local, "-p", str(code)),
            **dict.fromkeys(DAEMONS, ("dagster-daemon", "run", "-w", str(workspace))),
            "ui": ("dagster-webserver", *local, "-p", str(ui), "-w", str(workspace)),
        }
        self._env = os.environ | {
            "DAGSTER_HOME": str(PROJECT_ROOT),
            "LAKEHOUSE_HOME": str(settings.home),
            "LAKEHOUSE_SPARK": "in-process",
            "PYTHONPATH": str(PROJECT_ROOT),
        }
        self._ports = {"code server": code, "ui": ui}
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self.api = GraphQL(f"http://127.0.0.1:{ui}")

    def start(self, name: str) -> None:
        program, *words = self._commands[name]
        with (self._folder / f"{name}.log").open("ab") as log:
            self._running[name] = subprocess.Popen(
                [str(_BIN / program), *words], cwd=PROJECT_ROOT, env=self._env, stdout=log, stderr=subprocess.STDOUT
            )

    def kill(self, name: str, *, with_children: bool = False) -> None:
        """As the system does it when memory runs out: nobody can do anything about it."""
        process = self._running.pop(name)
        children = psutil.Process(process.pid).children(recursive=True) if with_children else []
        for pid in (process.pid, *(child.pid for child in children)):
            os.kill(pid, signal.SIGKILL)
        process.wait()

    def wait_for(self, name: str) -> None:
        """Until it takes connections on its port."""
        deadline = time.monotonic() + _START_SECONDS
        while True:
            try:
                with socket.create_connection(("127.0.0.1", self._ports[name]), timeout=5):
                    return
            except (ConnectionError, TimeoutError):
                assert time.monotonic() < deadline, f"{name} did not come up: {self.said(name)}"
                time.sleep(0.5)

    def said(self, name: str) -> str:
        return (self._folder / f"{name}.log").read_text(errors="replace")[-4000:]

    def end(self) -> None:
        """The daemon first: it starts what the others would have to carry out."""
        for name in (*DAEMONS, "ui", "code server"):
            if name in self._running:
                self.kill(name, with_children=True)


@contextmanager
def team_processes(settings: Settings, folder: Path) -> Iterator[Processes]:
    processes = Processes(settings, folder)
    try:
        for name in ("code server", "ui"):  # the UI asks the code server for its definitions when it begins
            processes.start(name)
            processes.wait_for(name)
        processes.start("daemon")
        yield processes
    except BaseException:
        for name in ("daemon", "code server"):
            print(f"{name} said at last:\n{processes.said(name)}")
        raise
    finally:
        processes.end()
