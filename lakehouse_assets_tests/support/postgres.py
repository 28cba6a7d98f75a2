"""A PostgreSQL of the tests' own: Debian's programs, a cluster in a temporary folder, no port."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lakehouse_assets_tests.support.ports import free_port


def programs() -> Path | None:
    """The folder of `initdb` and its like; Debian keeps them off the PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[4]))
    on_path = shutil.which("initdb")
    return found[-1].parent if found else Path(on_path).resolve().parent if on_path else None


class Cluster:
    """A running server; `kill` ends it without warning, `start` brings it back."""

    def __init__(self, folder: Path, bin_folder: Path) -> None:
        self._folder, self._bin = folder, bin_folder
        self._databases = 0
        self._command(
            "initdb", "-D", str(folder / "data"), "-A", "trust", "-U", "tests", "-E", "UTF8", "--locale=C", "-N"
        )
        self.start()

    def start(self, more: str = "-c listen_addresses=''") -> None:
        options = f"-k {self._folder} {more} -c fsync=off -c max_prepared_transactions=2"
        log = str(self._folder / "log")
        self._command("pg_ctl", "-D", str(self._folder / "data"), "-w", "-l", log, "-o", options, "start")

    def stop(self, mode: str = "fast") -> None:
        self._command("pg_ctl", "-D", str(self._folder / "data"), "-w", "-m", mode, "stop")

    @contextmanager
    def on_a_port(self) -> Generator[str, None, None]:
        """Listen on a port for a while, for drivers that know no sockets; the address."""
        port = free_port()
        self.stop()
        self.start(f"-c listen_addresses=127.0.0.1 -c port={port}")
        try:
            yield f"127.0.0.1:{port}"
        finally:
            self.stop()
            self.start()

    def uri(self, database: str) -> str:
        return f"postgresql:///{database}?host={self._folder}&user=tests"

    def new_database(self) -> str:
        """The address of a database of one's own."""
        from adbc_driver_postgresql import dbapi

        self._databases += 1
        name = f"test_{self._databases}"
        with dbapi.connect(self.uri("postgres"), autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute(f"CREATE DATABASE {name}")
        return self.uri(name)

    def _command(self, program: str, *words: str) -> None:
        # PostgreSQL refuses to run as root.
        user = _other_user() if os.geteuid() == 0 else None
        subprocess.run(
            [str(self._bin / program), *words],
            user=user,
            cwd=self._folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
            timeout=60,
        )


def _other_user() -> int:
    known = {each.pw_name: each.pw_uid for each in pwd.getpwall()}
    return known.get("postgres", known["nobody"])


@contextmanager
def running_cluster() -> Generator[Cluster, None, None]:
    bin_folder = programs()
    if bin_folder is None:
        pytest.skip("there is no PostgreSQL on this machine: `apt-get install postgresql` (.ci/run does)")
    folder = Path(tempfile.mkdtemp(prefix="lakehouse-pg-"))
    if os.geteuid() == 0:
        os.chown(folder, _other_user(), -1)
    try:
        cluster = Cluster(folder, bin_folder)
        try:
            yield cluster
        finally:
            cluster.stop("immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
