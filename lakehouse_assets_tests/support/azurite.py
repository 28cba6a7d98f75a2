"""A server of Microsoft's storage of the tests' own: Azurite, installed once from npm's registry, run by node."""

import base64
import hashlib
import hmac
import http.client
import os
import shutil
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from pathlib import Path

import pytest

from lakehouse_assets.lake.jars import cache_directory
from lakehouse_assets_tests.support.ports import free_port

VERSION = "3.35.0"
ACCOUNT = "lakehousetests"
KEY = base64.b64encode(b"never-to-be-seen-7c2e91").decode()
"""Looked for in all that a run leaves behind."""
CONTAINER = "lakes"
_HOST = "127.0.0.1"
_INSTALL_SECONDS = 900
_START_SECONDS = 60


@dataclass(frozen=True, kw_only=True)
class AzureServer:
    """A running server with one account and one container."""

    port: int
    folder: Path

    @property
    def url(self) -> str:
        return f"http://{_HOST}:{self.port}"

    @property
    def environ(self) -> dict[str, str]:
        """As a user sets it."""
        return {
            "AZURE_STORAGE_ACCOUNT_KEY": KEY,
            "AZURE_STORAGE_USE_EMULATOR": "true",
            "AZURITE_BLOB_STORAGE_URL": self.url,
            "AZURE_ALLOW_HTTP": "true",
        }

    def lake(self, name: str) -> dict[str, str]:
        """The environment of a lake in the container."""
        return self.environ | {"LAKEHOUSE_LAKE": f"abfss://{CONTAINER}@{ACCOUNT}.dfs.core.windows.net/{name}"}


def server_program() -> Path:
    """The server's script, installed if this machine has not got it yet."""
    folder = cache_directory() / "tools" / f"azurite-{VERSION}"
    program = folder / "node_modules" / ".bin" / "azurite-blob"
    if program.exists():
        return program
    if shutil.which("npm") is None:
        pytest.fail(f"tests of Microsoft's storage need a server: install Node.js, or put Azurite into {folder}")
    place = folder.with_name(f".installing-{os.getpid()}")
    place.mkdir(parents=True)
    command = ["npm", "install", "--prefix", str(place), f"azurite@{VERSION}", "--no-audit", "--no-fund"]
    made = subprocess.run(command, capture_output=True, text=True, timeout=_INSTALL_SECONDS, check=False)
    if made.returncode:
        pytest.fail(f"the server cannot be installed: {' '.join(command)} said\n{made.stderr[-2000:]}")
    place.replace(folder)
    return program


@contextmanager
def running_azurite(folder: Path) -> Generator[AzureServer, None, None]:
    """A server whose blobs are in `folder`."""
    port = free_port()
    options = ["--silent", "--skipApiVersionCheck", "--disableTelemetry", "--location", str(folder / "data")]
    command = ["node", str(server_program()), "--blobHost", _HOST, "--blobPort", str(port), *options]
    with (folder / "log").open("wb") as log:
        environ = os.environ | {"AZURITE_ACCOUNTS": f"{ACCOUNT}:{KEY}"}
        process = subprocess.Popen(command, env=environ, stdout=log, stderr=log, cwd=folder)
    try:
        server = AzureServer(port=port, folder=folder)
        _make_container(server, process)
        yield server
    finally:
        process.terminate()
        process.wait(timeout=30)


def _make_container(server: AzureServer, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            if _put_container(server.port) == http.HTTPStatus.CREATED:
                return
        except OSError:
            time.sleep(0.2)
    pytest.fail(f"the server did not come up:\n{(server.folder / 'log').read_text()[-2000:]}")


def _put_container(port: int) -> int:
    """Make the container by a request that is signed as Microsoft describes it: no client of ours makes one."""
    headers = {"x-ms-date": format_datetime(datetime.now(UTC), usegmt=True), "x-ms-version": "2021-08-06"}
    named = "".join(f"{name}:{value}\n" for name, value in headers.items())
    signed = "PUT" + "\n" * 12 + f"{named}/{ACCOUNT}/{ACCOUNT}/{CONTAINER}\nrestype:container"
    digest = hmac.new(base64.b64decode(KEY), signed.encode(), hashlib.sha256).digest()
    right = f"SharedKey {ACCOUNT}:{base64.b64encode(digest).decode()}"
    connection = http.client.HTTPConnection(_HOST, port, timeout=10)
    connection.request("PUT", f"/{ACCOUNT}/{CONTAINER}?restype=container", headers=headers | {"Authorization": right})
    return connection.getresponse().status
