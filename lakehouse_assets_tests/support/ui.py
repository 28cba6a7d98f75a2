"""The Dagster UI as a user has it: the real `dagster dev`, and a browser to look at it."""

import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import psutil
import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from lakehouse_assets.core.settings import PROJECT_ROOT, Settings
from lakehouse_assets_tests.support.ports import free_port

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
SEEN_MS = 20_000
"""How long a page may take to show or to take what a test asks of it."""
START_SECONDS = 90
END_SECONDS = 45
_LOG_TAIL_LINES = 40
_MARK = "LAKEHOUSE_TEST_UI"
_INTERRUPTIBLE = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])
"""
"""Ctrl-C works for what this starts, even if the suite runs in a shell's background, where it is ignored."""


@dataclass(frozen=True, kw_only=True)
class DagsterUI:
    """A served UI: its address, and where its processes write what they have to say."""

    url: str
    log: Path


@contextmanager
def dagster_dev(settings: Settings, log: Path) -> Iterator[DagsterUI]:
    """`dagster dev` in the project's root on the lake of `settings`, ended as Ctrl-C does; nobody may outlive it."""
    mark = uuid.uuid4().hex
    port = free_port()
    own = {
        "DAGSTER_HOME": str(PROJECT_ROOT),
        "DAGSTER_DISABLE_TELEMETRY": "yes",
        "LAKEHOUSE_HOME": str(settings.home),
        "LAKEHOUSE_SPARK": "in-process",
        _MARK: mark,
    }
    command = [sys.executable, "-c", _INTERRUPTIBLE, str(DAGSTER), "dev", "--host", "127.0.0.1", "--port", str(port)]
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
    ui = DagsterUI(url=f"http://127.0.0.1:{port}", log=log)
    try:
        _wait_until_served(ui, process)
        yield ui
    finally:
        late = _end(process, mark)
    assert not late, f"`dagster dev` left processes behind, which had to be killed: {late}\n{_tail(log)}"


@contextmanager
def open_page(browser: Browser, ui: DagsterUI, folder: Path) -> Iterator[Page]:
    """A page for one test. If the test fails in it, `folder` gets a screenshot, and the UI's log is shown."""
    page = browser.new_page(base_url=ui.url, viewport={"width": 1400, "height": 800}, locale="en-US", timezone_id="UTC")
    page.set_default_timeout(SEEN_MS)
    try:
        yield page
    except BaseException:
        page.screenshot(path=folder / "failure.png")
        print(f"{page.url} looked like {folder / 'failure.png'}; `dagster dev` said at last:\n{_tail(ui.log)}")
        raise
    finally:
        page.close()


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
        expect.set_options(timeout=SEEN_MS)
        browser = playwright.chromium.launch(executable_path=found, args=list(BROWSER_OPTIONS))
        try:
            yield browser
        finally:
            browser.close()


def _wait_until_served(ui: DagsterUI, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        assert process.poll() is None, f"`dagster dev` ended with code {process.returncode}:\n{_tail(ui.log)}"
        try:
            with urlopen(f"{ui.url}/server_info", timeout=5):
                return
        except (URLError, ConnectionError, TimeoutError):
            late = time.monotonic() > deadline
            assert not late, f"`dagster dev` did not serve {ui.url} within {START_SECONDS} s:\n{_tail(ui.log)}"
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
