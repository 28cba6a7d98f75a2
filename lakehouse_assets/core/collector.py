"""The garbage collector, out of the way while much is made that has no cycles."""

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def undisturbed() -> Generator[None, None, None]:
    """Without the collector, which would walk everything that was made again and again, and find nothing."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
