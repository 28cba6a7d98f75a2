"""Rows that wait on disk until all of an index is known to be good."""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from lakehouse_assets.extract.scip.rows import SCIP_TABLES


class Spill:
    """Chunks of rows by table, in Arrow's own format. A chunk is deleted as it is read back."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0

    @staticmethod
    @contextmanager
    def opened() -> "Iterator[Spill]":
        with tempfile.TemporaryDirectory(prefix="lakehouse-scip-") as folder:
            yield Spill(Path(folder))

    def add(self, chunk: Mapping[str, pa.RecordBatch]) -> None:
        for name, batch in chunk.items():
            with (
                pa.OSFile(str(self._file(self._count, name)), "wb") as file,
                pa.ipc.new_file(file, batch.schema) as out,
            ):
                out.write_batch(batch)
        self._count += 1

    def chunks(self) -> Iterator[dict[str, pa.Table]]:
        for number in range(self._count):
            yield {contract.name: self._read(number, contract.name) for contract in SCIP_TABLES}

    def _read(self, number: int, name: str) -> pa.Table:
        file = self._file(number, name)
        with pa.OSFile(str(file)) as source:
            rows = pa.ipc.open_file(source).read_all()
        file.unlink()
        return rows

    def _file(self, number: int, name: str) -> Path:
        return self._folder / f"{number}-{name}.arrow"
