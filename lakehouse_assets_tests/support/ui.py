"""The Dagster UI as a user has it: the real `dagster dev`, and a browser to look at it."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import psutil
import pytest
from playwright.sync_api import Browser, sync_playwright

from lakehouse_assets.core.settings import PROJECT_ROOT, Settings

DAGSTER = Path(sys.executable).parent / "dagster"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
BROWSER_OPTIONS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
START_SECONDS = 90
END_SECONDS = 45
_LOG_TAIL_LINES = 40
_MARK = "LAKEHOUSE_TEST_UI"


@contextmanager
def dagster_dev(settings: Settings, log: Path) -> Iterator[str]:
    """`dagster dev` in the project's root on the lake of `settings`; gives its address, and ends it as Ctrl-C does."""
    mark = uuid.uuid4().hex
    port = free_port()
    own = {
        "DAGSTER_HOME": str(PROJECT_ROOT),
        "DAGSTER_DISABLE_TELEMETRY": "yes",
        "LAKEHOUSE_HOME": str(settings.home),
        "LAKEHOUSE_SPARK": "in-process",
        _MARK: mark,
    }
    command = [str(DAGSTER), "dev", "--host", "127.0.0.1", "--port", str(port)]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=PROJECT_ROOT,
            env=os.environ | own,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        _wait_until_served(f"http://127.0.0.1:{port}", process)
        yield f"http://127.0.0.1:{port}"
    except BaseException:
        print(f"\nthe last lines of {log}:\n{_tail(log)}")
        raise
    finally:
        late = _end(process, mark)
    assert not late, f"`dagster dev` left processes behind, which had to be killed: {late}\n{_tail(log)}"


@contextmanager
def chromium() -> Iterator[Browser]:
    """The machine's own Chromium without a window. While it is open, this thread runs Playwright's event loop."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.fail(
            f"none of {', '.join(BROWSERS)} is on PATH, and the tests of the Dagster UI drive one: "
            "`apt-get install chromium` provides it, and so does `.ci/run`",
            pytrace=False,
        )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=list(BROWSER_OPTIONS))
        try:
            yield browser
        finally:
            browser.close()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait_until_served(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        assert process.poll() is None, f"`dagster dev` ended by itself, with code {process.returncode}"
        try:
            with urlopen(f"{url}/server_info", timeout=5):
                return
        except (URLError, ConnectionError, TimeoutError):
            assert time.monotonic() < deadline, f"`dagster dev` did not serve {url} within {START_SECONDS} s"
            time.sleep(0.25)


def _end(process: subprocess.Popen[bytes], mark: str) -> list[str]:
    """Interrupt the process group as a terminal does; kill and name what is still there after a while."""
    family = _family(process, mark)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)
    deadline = time.monotonic() + END_SECONDS
    while time.monotonic() < deadline and _alive([*family, *_family(process, mark)]):
        process.poll()  # takes leave of the parent, which would stay as a zombie
        time.sleep(0.2)
    late = _alive([*family, *_family(process, mark)])
    names = [_describe(one) for one in late]
    for one in late:
        one.terminate()
    for one in psutil.wait_procs(late, timeout=5)[1]:
        one.kill()
    process.wait(timeout=10)
    return names


def _family(process: subprocess.Popen[bytes], mark: str) -> list[psutil.Process]:
    """The process, its descendants, and those who lost their parent but still carry the mark."""
    family = {one.pid: one for one in psutil.process_iter() if _marked(one, mark)}
    if process.poll() is None:
        parent = psutil.Process(process.pid)
        family |= {one.pid: one for one in [parent, *parent.children(recursive=True)]}
    return list(family.values())


def _marked(process: psutil.Process, mark: str) -> bool:
    try:
        return process.environ().get(_MARK) == mark
    except (psutil.NoSuchProcess, psutil.AccessDenied, OSError):
        return False


def _alive(processes: list[psutil.Process]) -> list[psutil.Process]:
    alive: dict[int, psutil.Process] = {}
    for one in processes:
        try:
            if one.is_running() and one.status() != psutil.STATUS_ZOMBIE:
                alive[one.pid] = one
        except psutil.NoSuchProcess:
            continue
    return list(alive.values())


def _describe(process: psutil.Process) -> str:
    try:
        return f"{process.pid} {' '.join(process.cmdline())[:120]}"
    except psutil.NoSuchProcess:
        return f"{process.pid} (gone meanwhile)"


def _tail(log: Path) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-_LOG_TAIL_LINES:])
