"""Texts of files are read once, and together."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.explorer import texts
from lakehouse_assets.explorer.texts import Texts
from lakehouse_assets.lake.tables import Lake


class Reads:
    """Stands for the table: tells what is asked of it, and answers when it is let."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.begun = threading.Semaphore(0)
        self.let = threading.Semaphore(0)

    def __call__(self, _: Lake, shas: list[str]) -> dict[str, str]:
        self.asked.append(shas)
        self.begun.release()
        assert self.let.acquire(timeout=10)
        return {sha: f"one {sha}\ntwo" for sha in shas if sha != "binary"}


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Reads:
    reads = Reads()
    monkeypatch.setattr(texts, "stored_texts", reads)
    return reads


def test_what_is_missing_at_the_same_time_is_read_together_and_once(lake: Lake, reads: Reads):
    held = Texts(lake)
    with ThreadPoolExecutor(9) as pool:
        first = pool.submit(held.lines, "a")
        assert reads.begun.acquire(timeout=10)
        rest = [pool.submit(held.lines, sha) for sha in ("b", "c", "a", "b", "c", "a", "b", "c")]
        while held._wanted != {"a", "b", "c"}:  # all wait, those for "a" too: it is not read yet
            time.sleep(0.001)
        reads.let.release(2)
        assert first.result(timeout=10) == ("one a", "two")
        assert {each.result(timeout=10)[0] for each in rest} == {"one a", "one b", "one c"}
    assert held.lines("c") == ("one c", "two")
    assert reads.asked == [["a"], ["b", "c"]]


def test_a_content_without_text_is_refused_each_time_and_read_once(lake: Lake, reads: Reads):
    held = Texts(lake)
    reads.let.release()
    for _ in range(2):
        with pytest.raises(BadInputError, match="it has no text in the lake"):
            held.lines("binary")
    assert reads.asked == [["binary"]]


def test_the_latest_are_kept(lake: Lake, reads: Reads, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(texts, "_KEPT", 2)
    held = Texts(lake)
    reads.let.release(9)
    for sha in ("a", "b", "a", "c", "a", "b"):
        held.lines(sha)
    assert reads.asked == [["a"], ["b"], ["c"], ["b"]]
