"""Transforms of time: parsed, taken apart, put in buckets."""

from typing import Literal

from pydantic import Field

from lakehouse_assets.models.transforms.base import (
    Expression,
    Query,
    Relation,
    Tables,
    Transform,
    expression,
    value,
    with_columns,
)
from lakehouse_assets.models.transforms.expressions import quoted

Unit = Literal["minute", "hour", "day", "week", "month", "quarter", "year"]
Part = Literal["year", "quarter", "month", "week", "day", "weekday", "hour", "minute"]


class ParseTime(Transform):
    """Reads text in a format as a date or a moment; what does not fit fails the run, or becomes NULL."""

    do: Literal["parse_time"]
    column: str
    format: str = Field(description="Spark's pattern, such as dd.MM.yyyy HH:mm.")
    into: str
    type: Literal["date", "timestamp"] = "timestamp"
    on_error: Literal["fail", "null"] = "fail"
    example = "{do: parse_time, column: sold, format: dd.MM.yyyy, into: sold_on, type: date}"

    def query(self, rows: Relation, tables: Tables) -> Query:
        rows.has(self.column)
        function = "TO_TIMESTAMP" if self.on_error == "fail" else "TRY_TO_TIMESTAMP"
        moment = f"{function}({quoted(self.column)}, {value(self.format)})"
        return with_columns(rows, {self.into: moment if self.type == "timestamp" else f"CAST({moment} AS DATE)"})


class TruncateTime(Transform):
    """Takes a moment back to the beginning of its minute, hour, day, week, month, quarter or year."""

    do: Literal["truncate_time"]
    column: str
    unit: Unit
    into: str
    example = "{do: truncate_time, column: at, unit: month, into: month}"

    def query(self, rows: Relation, tables: Tables) -> Query:
        rows.has(self.column)
        return with_columns(rows, {self.into: f"DATE_TRUNC({value(self.unit.upper())}, {quoted(self.column)})"})


class TimeParts(Transform):
    """Makes columns of the parts of a moment; a week begins on Monday, which is weekday 1."""

    do: Literal["time_parts"]
    column: str
    parts: tuple[Part, ...] = Field(min_length=1)
    example = "{do: time_parts, column: at, parts: [year, weekday]}"

    def query(self, rows: Relation, tables: Tables) -> Query:
        rows.has(self.column)
        names = {"weekday": "DAYOFWEEK_ISO"}
        return with_columns(
            rows,
            {
                f"{self.column}_{part}": f"EXTRACT({names.get(part, part.upper())} FROM {quoted(self.column)})"
                for part in self.parts
            },
        )


class Resample(Transform):
    """Brings readings to one row per group and interval, each column by a measure."""

    do: Literal["resample"]
    time: str
    every: str = Field(description="An interval, such as 15 minutes.", pattern=r"^\d+ (second|minute|hour|day|week)s?$")
    by: tuple[str, ...] = ()
    measures: dict[str, Expression] = Field(min_length=1)
    into: str = "window_start"
    example = "{do: resample, time: at, every: 15 minutes, by: [sensor], measures: {mean: avg(reading)}}"

    def query(self, rows: Relation, tables: Tables) -> Query:
        rows.has(self.time, *self.by)
        made = {
            **{name: quoted(name) for name in self.by},
            self.into: f"WINDOW({quoted(self.time)}, {value(self.every)}).start",
            **{name: expression(measure) for name, measure in self.measures.items()},
        }
        listed = ", ".join(f"{sql} AS {quoted(name)}" for name, sql in made.items())
        groups = ", ".join([*map(quoted, self.by), f"WINDOW({quoted(self.time)}, {value(self.every)})"])
        return Query(sql=f"SELECT {listed} FROM {quoted(rows.name)} GROUP BY {groups}", columns=tuple(made))
