"""Errors of engines are told as what lies behind them; what is not known stays as it was."""

import re

import pytest

from lakehouse_assets.lake.causes import cause_of

LOST = "Object at location /data/lake/nodes/part-1.zstd.parquet not found: No such file or directory (os error 2)"


@pytest.mark.parametrize(
    ("text", "subject", "seen"),
    [
        ("OSError: [Errno 28] No space left on device", "a write", "the disk is full"),
        ("sqlite3.OperationalError: database or disk is full", "a write", "the disk is full"),
        ("Generic error: /data/lake/edges/_delta_log: Read-only file system", "table edges", "read-only"),
        (
            "[Errno 13] Permission denied: '/data/lake/props/x'",
            "table props",
            "may not write or read it .*/props/x",
        ),
        ("a\njava.lang.OutOfMemoryError: Java heap space\nb", "a write", "^memory ran out$"),
        (LOST, "table nodes", "part-1.zstd.parquet is not there"),
        (
            "Transaction failed: Unsupported table features required: [TypeWidening]",
            "a write",
            "asks for TypeWidening, which another program has turned on and delta-rs has not",
        ),
        ("Invalid Parquet file: /data/lake/nodes/part-1.parquet", "table nodes", "part-1.parquet cannot be read"),
    ],
)
def test_a_fault_of_the_surroundings_is_told_with_its_table(text: str, subject: str, seen: str):
    told = cause_of("a write", text)
    assert told is not None
    assert told.subject == subject
    assert re.search(seen, told.seen)


@pytest.mark.parametrize("text", ["", "KeyError: 'x'", "table nodes not found", "No such file or directory: /etc/x"])
def test_what_is_not_known_stays_the_error_that_it_was(text: str):
    assert cause_of("a write", text) is None
