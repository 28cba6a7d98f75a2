"""Calls that nest as deeply as the data does, on a stack that has room for them.

A chain of re-exports is followed by calls that nest, and a repository decides how long it is. Python counts calls up to
a limit, which is there because the stack of a thread is small; so this takes a thread with a large one. Only what is
used of a stack takes memory.
"""

import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")

STACK_BYTES = 2 * 1024**3 - 4096
"""Some two KiB a call."""
MOST_CALLS = 1_000_000

_starting = threading.Lock()
_running = 0
_usual_calls = 0


def on_deep_stack(work: Callable[[], T]) -> T:
    """Run `work` where calls may nest a million deep, and give its result or raise its error."""
    done: Future[T] = Future()
    with _starting:
        usual = threading.stack_size(STACK_BYTES)
        try:
            thread = threading.Thread(target=_run, args=(work, done), name="deep-calls", daemon=True)
            thread.start()
        finally:
            threading.stack_size(usual)
    return done.result()


def _run(work: Callable[[], T], done: "Future[T]") -> None:
    _allow_more()
    try:
        done.set_result(work())
    except BaseException as error:  # noqa: BLE001 - raised where the result is asked for
        done.set_exception(error)
    finally:
        _allow_usual()


def _allow_more() -> None:
    """The limit is one for all threads: whoever comes first raises it, whoever goes last sets it back."""
    global _running, _usual_calls
    with _starting:
        if not _running:
            _usual_calls = sys.getrecursionlimit()
            sys.setrecursionlimit(MOST_CALLS)
        _running += 1


def _allow_usual() -> None:
    global _running
    with _starting:
        _running -= 1
        if not _running:
            sys.setrecursionlimit(_usual_calls)
