"""Rows into Arrow, column by column."""

from collections.abc import Iterator

import pyarrow as pa

from lakehouse_assets.contracts.schemas import arrow_array


class Columns:
    """One list per column of `schema`; `drain` turns them into a batch and starts over."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._lists: list[list[object]] = [[] for _ in schema]

    def __len__(self) -> int:
        return len(self._lists[0])

    def append(self, *values: object) -> None:
        """Add one value to each column, in the schema's order."""
        for column, value in zip(self._lists, values, strict=True):
            column.append(value)

    def drain(self) -> Iterator[pa.RecordBatch]:
        """The rows so far as one batch; none if there are no rows."""
        if not len(self):
            return
        arrays = [arrow_array(values, field.type) for values, field in zip(self._lists, self._schema, strict=True)]
        self._lists = [[] for _ in self._schema]
        yield pa.RecordBatch.from_arrays(arrays, schema=self._schema)
