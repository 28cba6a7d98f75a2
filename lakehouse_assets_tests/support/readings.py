"""A file format of a user's own, as a plug-in: fixed-width numbers and names."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa


def write_readings(path: Path, rows: Sequence[tuple[int, str]]) -> None:
    path.write_text("".join(f"{number:06}{name:<10}\n" for number, name in rows))


def read_readings(path: Path) -> pa.Table:
    lines = path.read_text().splitlines()
    return pa.table({"id": [int(line[:6]) for line in lines], "name": [line[6:].strip() for line in lines]})
