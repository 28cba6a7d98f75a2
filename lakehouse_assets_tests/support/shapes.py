"""Ways to partition one small table: what its contract is, which places it has, which of them a run covers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any

from lakehouse_assets.contracts.table import Column, ColumnType, TableContract
from lakehouse_assets.plan.scope import Equals, Scope, Window


@dataclass(frozen=True, kw_only=True)
class Shape:
    name: str
    partition: Mapping[str, ColumnType]
    places: tuple[tuple[Any, ...], ...]
    """Values of the partition columns that rows have."""
    every: Mapping[str, Scope]
    """All partitions by name."""
    run: tuple[str, ...]
    """The partitions that the write under test covers."""
    feed_by_spark: bool = False
    """delta-rs cannot read the change feed where a folder's name is percent-encoded."""

    def contract(self) -> TableContract:
        return TableContract(
            name="things",
            description="One row per thing.",
            columns=(
                *(Column(name=name, type=kind, description="Where it is.") for name, kind in self.partition.items()),
                Column(name="path", type="string", description="File that owns it."),
                Column(name="name", type="string", description="Its name."),
                Column(name="size", type="bigint", nullable=True, description="How large it is."),
                Column(name="tags", type="array<string>", nullable=True, description="Words for it."),
            ),
            key=(*self.partition, "path", "name"),
            owner="path",
            partition_by=tuple(self.partition),
            strategy="upsert",
            schema_policy="evolve",
        )

    def row(self, place: Sequence[Any], path: str, name: str, size: int | None, **more: Any) -> dict[str, Any]:
        here = dict(zip(self.partition, place, strict=True))
        return {**here, "path": path, "name": name, "size": size, "tags": None, **more}

    @property
    def scopes(self) -> dict[str, Scope]:
        return {name: self.every[name] for name in self.run}


def _texts(name: str, run: str) -> Shape:
    return Shape(
        name=name,
        partition={"repo": "string"},
        places=(("a",), ("b",), ("c",)),
        every={each: (Equals(column="repo", value=each),) for each in "abc"},
        run=tuple(run),
    )


def _windows(name: str, column: str, kind: ColumnType, starts: Sequence[Any], step: timedelta) -> Shape:
    """A window's first and last moment each have a row; what is at its end belongs to the next."""
    edges = [*starts, starts[-1] + (starts[1] - starts[0])]
    return Shape(
        name=name,
        partition={column: kind},
        places=tuple((moment,) for start, end in pairwise(edges) for moment in (start, end - step)),
        every={str(start): (Window(column=column, start=start, end=end),) for start, end in pairwise(edges)},
        run=(str(starts[1]),),
        feed_by_spark=kind == "timestamp",
    )


_DAYS = [date(2024, 2, 26) + timedelta(days=7 * i) for i in range(3)]
_HOURS = [datetime(2024, 1, 1, 23, tzinfo=UTC) + timedelta(hours=i) for i in range(3)]
_DAILY = {str(_DAYS[0] + timedelta(days=i)): _DAYS[0] + timedelta(days=i) for i in range(5)}

SHAPES = (
    _texts("one partition", "a"),
    _texts("many partitions", "ab"),
    Shape(
        name="a range of partitions",
        partition={"day": "date"},
        places=tuple((day,) for day in _DAILY.values()),
        every={name: (Equals(column="day", value=day),) for name, day in _DAILY.items()},
        run=tuple(_DAILY)[1:4],
    ),
    Shape(
        name="an integer column",
        partition={"bucket": "int"},
        places=((1,), (-2,), (30,)),
        every={str(i): (Equals(column="bucket", value=i),) for i in (1, -2, 30)},
        run=("1", "-2"),
    ),
    _windows("windows of dates", "day", "date", _DAYS, timedelta(days=1)),
    _windows("windows of moments", "at", "timestamp", _HOURS, timedelta(microseconds=1)),
    Shape(
        name="two dimensions",
        partition={"repo": "string", "bucket": "int"},
        places=(("a", 1), ("a", 2), ("b", 1), ("b", 2)),
        every={
            f"{repo}|{bucket}": (Equals(column="repo", value=repo), Equals(column="bucket", value=bucket))
            for repo in "ab"
            for bucket in (1, 2)
        },
        run=("a|1", "b|2"),
    ),
)
