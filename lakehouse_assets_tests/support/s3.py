"""A real S3 server of the tests' own: MinIO, built once from the Go module proxy, on a port of this machine."""

import os
import shutil
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import obstore
import pytest
from obstore.store import S3Store

from lakehouse_assets.lake.jars import cache_directory
from lakehouse_assets_tests.support.ports import free_port

MODULE = "github.com/minio/minio"
VERSION = "v0.0.0-20260212201848-7aac2a2c5b7c"
"""MinIO gives its releases no versions that Go knows; this is the commit of one."""
KEY = "lakehouse-tests"
SECRET = "never-to-be-seen-1f9a4c"
"""Looked for in all that a run leaves behind."""
BUCKET = "lakes"
_BUILD_SECONDS = 1800
_START_SECONDS = 60


@dataclass(frozen=True, kw_only=True)
class S3Server:
    """A running server with one bucket."""

    url: str
    folder: Path

    @property
    def environ(self) -> dict[str, str]:
        """As a user sets it."""
        return {
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ALLOW_HTTP": "true",
        }

    def lake(self, name: str) -> dict[str, str]:
        """The environment of a lake in the bucket."""
        return self.environ | {"LAKEHOUSE_LAKE": f"s3://{BUCKET}/{name}"}


def server_program() -> Path:
    """The server, built if this machine has not got it yet."""
    program = cache_directory() / "tools" / f"minio-{VERSION}"
    if program.exists():
        return program
    if shutil.which("go") is None:
        pytest.fail(f"tests of object storage need an S3 server: install Go, or put MinIO at {program}")
    place = program.parent / f".building-{os.getpid()}"
    environ = os.environ | {"GOBIN": str(place), "CGO_ENABLED": "0"}
    command = ["go", "install", "-trimpath", f"{MODULE}@{VERSION}"]
    built = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=_BUILD_SECONDS, check=False)
    if built.returncode:
        pytest.fail(f"the S3 server cannot be built: {' '.join(command)} said\n{built.stderr[-2000:]}")
    (place / "minio").replace(program)
    place.rmdir()
    return program


@contextmanager
def running_s3(folder: Path) -> Generator[S3Server, None, None]:
    """A server whose objects are in `folder`."""
    port = free_port()
    address = f"127.0.0.1:{port}"
    environ = os.environ | {"MINIO_ROOT_USER": KEY, "MINIO_ROOT_PASSWORD": SECRET, "MINIO_BROWSER": "off"}
    command = [str(server_program()), "server", "--quiet", "--address", address, str(folder / "data")]
    (folder / "data").mkdir(parents=True)
    (folder / "data" / BUCKET).mkdir()  # a folder of its disk is a bucket
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, env=environ, stdout=log, stderr=log)
    try:
        server = S3Server(url=f"http://{address}", folder=folder)
        _wait(server, process)
        yield server
    finally:
        process.terminate()
        process.wait(timeout=30)


def store(server: S3Server, *, secret: str = SECRET) -> S3Store:
    return S3Store(
        BUCKET,
        endpoint=server.url,
        access_key_id=KEY,
        secret_access_key=secret,
        region="us-east-1",
        client_options={"allow_http": True},
    )


def _wait(server: S3Server, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            obstore.put(store(server), "is-it-there", b"yes")
        except obstore.exceptions.BaseError:
            time.sleep(0.2)
        else:
            return
    pytest.fail(f"the S3 server did not come up:\n{(server.folder / 'log').read_text()[-2000:]}")
