"""A Spark standalone cluster on this machine: a master and workers, each a process of its own with little memory.

Its workers run an interpreter that has every library, but not this project: our code reaches them as it would
reach another machine, or not at all.
"""

import os
import socket
import subprocess
import sys
import sysconfig
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pyspark

from lakehouse_assets.core.java import find_java
from lakehouse_assets.core.settings import load_settings
from lakehouse_assets.lake.jars import delta_jars
from lakehouse_assets.plan.spark_conf import session_conf
from lakehouse_assets_tests.support.ports import free_port

_SPARK = Path(pyspark.__file__).parent
_PATIENCE_SECONDS = 60
_STILL_SECONDS = 900
"""A machine that stands still for minutes has lost nobody: a process that ends is noticed by its connection."""
_HOST = "127.0.0.1"
WORKERS = 2
DEFAULTS = """\
spark.executor.memory 512m
spark.executor.extraJavaOptions -XX:TieredStopAtLevel=1 -XX:+UseSerialGC
spark.driver.host 127.0.0.1
spark.driver.bindAddress 127.0.0.1
spark.network.timeout 900s
"""
"""What the cluster's owner writes into `spark-defaults.conf`."""


@dataclass(kw_only=True)
class SparkCluster:
    """Master and workers, and what a driver has to know of them."""

    folder: Path
    master: str
    python: Path
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def environ(self) -> dict[str, str]:
        """As a user sets it: the configuration of the cluster, its interpreter, the address of the driver."""
        return {
            "SPARK_CONF_DIR": str(self.folder / "conf"),
            "SPARK_LOCAL_IP": _HOST,
            "LAKEHOUSE_WORKER_PYTHON": str(self.python),
            "LAKEHOUSE_CORES": str(WORKERS),
            "LAKEHOUSE_DRIVER_MEMORY_MB": "1024",
        }

    def executors(self) -> list[Path]:
        """The folders of the executors that ever ran, one for each application and worker."""
        return sorted(path for path in (self.folder / "work").glob("*/app-*/*") if path.is_dir())

    def start_worker(self) -> None:
        """One more worker, of one core."""
        place = self.folder / "work" / str(len(self.workers))
        words = ["--host", _HOST, "--cores", "1", "--memory", "600m", "--webui-port", "0", "--work-dir", str(place)]
        self.workers.append(self._start("worker.Worker", *words, self.master))

    def kill_worker(self, number: int) -> None:
        """End a worker, its executors and their Python at once, as when a machine is lost."""
        worker = psutil.Process(self.workers[number].pid)
        for process in (*worker.children(recursive=True), worker):
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue  # it ended with another one of them
        self.workers[number].wait()

    @contextmanager
    def connect_server(self) -> Generator[str, None, None]:
        """A Spark Connect server whose tasks run on the cluster, started as its owner would; gives its address."""
        port = free_port()
        conf = session_conf(load_settings(self.environ)) | {
            "spark.master": self.master,
            "spark.cores.max": str(WORKERS),
            "spark.jars": ",".join(map(str, delta_jars())),
            "spark.connect.grpc.binding.port": str(port),
            "spark.connect.grpc.binding.address": _HOST,
            "spark.ui.enabled": "false",
        }
        options = [word for key, value in conf.items() for word in ("--conf", f"{key}={value}")]
        server = "org.apache.spark.sql.connect.service.SparkConnectServer"
        command = [str(_SPARK / "bin" / "spark-submit"), "--class", server, *options, "spark-internal"]
        process = self._run("connect", command, memory="1g")
        try:
            _wait_for_port(port, self.folder / "connect.log")
            yield f"sc://{_HOST}:{port}"
        finally:
            _end(process)

    def close(self) -> None:
        for process in (*self.workers, *self.processes):
            _end(process)

    def _start(self, name: str, *words: str) -> subprocess.Popen[bytes]:
        command = [str(_SPARK / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *words]
        process = self._run(f"{name}-{len(self.workers)}", command)
        self.processes.append(process)
        return process

    def _run(self, name: str, command: list[str], memory: str = "256m") -> subprocess.Popen[bytes]:
        kept = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        env = kept | {
            "JAVA_HOME": str(find_java().home),
            "SPARK_HOME": str(_SPARK),
            "SPARK_CONF_DIR": str(self.folder / "conf"),
            "SPARK_LOCAL_IP": _HOST,
            "PYSPARK_PYTHON": str(self.python),  # a Connect server takes its workers' interpreter from here only
            "SPARK_DAEMON_MEMORY": memory,
            "SPARK_DAEMON_JAVA_OPTS": f"-XX:TieredStopAtLevel=1 -Dspark.worker.timeout={_STILL_SECONDS}",
            "SPARK_NO_DAEMONIZE": "1",
        }
        with (self.folder / f"{name}.log").open("ab") as log:
            return subprocess.Popen(command, env=env, stdout=log, stderr=log, cwd=self.folder, start_new_session=True)


@contextmanager
def running_spark_cluster(folder: Path) -> Generator[SparkCluster, None, None]:
    """A cluster of two workers, whose files are in `folder`; nothing of it is left behind."""
    conf = folder / "conf"
    conf.mkdir(parents=True)
    (conf / "spark-defaults.conf").write_text(DEFAULTS)
    port = free_port()
    cluster = SparkCluster(folder=folder, master=f"spark://{_HOST}:{port}", python=_interpreter(folder))
    try:
        words = ["--host", _HOST, "--port", str(port), "--webui-port", "0"]
        cluster._start("master.Master", *words)
        _wait_for_port(port, folder / "master.Master-0.log")
        for _ in range(WORKERS):
            cluster.start_worker()
        _wait_for_text("registered with master", folder, WORKERS)
        yield cluster
    finally:
        cluster.close()


def _interpreter(folder: Path) -> Path:
    """This interpreter with its libraries but without the `.pth` files by which this project is installed."""
    script = folder / "python"
    libraries = sysconfig.get_path("purelib")
    script.write_text(f'#!/bin/sh\nPYTHONPATH="$PYTHONPATH:{libraries}" exec {sys.executable} -S "$@"\n')
    script.chmod(0o755)
    return script


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    family = [*psutil.Process(process.pid).children(recursive=True), psutil.Process(process.pid)]
    process.terminate()
    _, alive = psutil.wait_procs(family, timeout=10)
    for survivor in alive:
        survivor.kill()
    process.wait()


def _wait_for_port(port: int, log: Path) -> None:
    until = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < until:
        with socket.socket() as probe:
            if probe.connect_ex((_HOST, port)) == 0:
                return
        time.sleep(0.1)
    raise TimeoutError(f"nothing listens on port {port}:\n{log.read_text(errors='replace')[-2000:]}")


def _wait_for_text(text: str, folder: Path, times: int) -> None:
    until = time.monotonic() + _PATIENCE_SECONDS
    while sum(text in log.read_text(errors="replace") for log in folder.glob("worker.*.log")) < times:
        if time.monotonic() > until:
            raise TimeoutError(f"{text!r} is not in the logs of {times} workers below {folder}")
        time.sleep(0.1)
