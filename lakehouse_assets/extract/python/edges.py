"""Edges of one kind while they are found, column by column."""

from typing import Any


class Edges:
    """Ends are numbered nodes, no constants; see `rows.number_of`."""

    def __init__(self) -> None:
        self.src_d: list[int] = []
        self.src_n: list[int] = []
        self.dst_d: list[int] = []
        self.dst_n: list[int] = []
        self.labels: list[str] = []

    def add(self, source: Any, target: Any, label: str) -> None:
        self.src_d.append(source.d)
        self.src_n.append(source.n)
        self.dst_d.append(target.d)
        self.dst_n.append(target.n)
        self.labels.append(label)

    def add_numbers(self, src: tuple[int, int], dst: tuple[int, int], label: str) -> None:
        self.src_d.append(src[0])
        self.src_n.append(src[1])
        self.dst_d.append(dst[0])
        self.dst_n.append(dst[1])
        self.labels.append(label)
