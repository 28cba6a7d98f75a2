"""Edges of one kind while they are found, as numbered nodes: their numbers are read when all are there."""

from typing import Any

from lakehouse_assets.extract.facts import Columns


class Edges:
    """No end is a constant; see `rows.number_of`."""

    def __init__(self) -> None:
        self.sources: list[Any] = []
        self.targets: list[Any] = []
        self.labels: list[str] = []
        """Of all edges, or of none."""

    def add_to(self, columns: Columns, kind: str) -> None:
        columns["kind"] += [kind] * len(self.sources)
        columns["src_d"] += [node.d for node in self.sources]
        columns["src_n"] += [node.n for node in self.sources]
        columns["dst_d"] += [node.d for node in self.targets]
        columns["dst_n"] += [node.n for node in self.targets]
        columns["label"] += self.labels or [""] * len(self.sources)
