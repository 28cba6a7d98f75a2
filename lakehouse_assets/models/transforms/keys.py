"""Transforms for keys, secrets and history."""

from typing import Literal

from pydantic import Field

from lakehouse_assets.models.transforms.base import (
    Columns,
    Query,
    Relation,
    Tables,
    Transform,
    TransformError,
    all_of,
    over,
    with_columns,
)
from lakehouse_assets.models.transforms.expressions import quoted


class Hash(Transform):
    """Puts a fingerprint (SHA-256) in the place of values: equal values stay equal, and NULL stays NULL."""

    do: Literal["hash"]
    columns: Columns
    example = "{do: hash, columns: [email]}"

    def query(self, rows: Relation, tables: Tables) -> Query:
        rows.has(*self.columns)
        return with_columns(rows, {name: f"SHA2(CAST({quoted(name)} AS STRING), 256)" for name in self.columns})


class Redact(Transform):
    """Puts stars in the place of values, but for the last characters if some are to stay; NULL stays NULL."""

    do: Literal["redact"]
    columns: Columns
    keep_last: int = Field(default=0, ge=0)
    example = "{do: redact, columns: [card], keep_last: 4}"

    def query(self, rows: Relation, tables: Tables) -> Query:
        rows.has(*self.columns)
        made = {}
        for name in self.columns:
            text = f"CAST({quoted(name)} AS STRING)"
            # A text that is no longer than what may stay would stay as a whole.
            kept = f"CASE WHEN LENGTH({text}) > {2 * self.keep_last} THEN RIGHT({text}, {self.keep_last}) ELSE '' END"
            made[name] = f"CASE WHEN {text} IS NOT NULL THEN CONCAT('***', {kept}) END"
        return with_columns(rows, made)


class SurrogateKey(Transform):
    """Makes a key (SHA-256) of columns; NULL, empty text and the places of columns all count."""

    do: Literal["surrogate_key"]
    columns: Columns
    into: str
    example = "{do: surrogate_key, columns: [source, number], into: id}"

    def query(self, rows: Relation, tables: Tables) -> Query:
        rows.has(*self.columns)
        parts = []
        for name in self.columns:
            text = f"CAST({quoted(name)} AS STRING)"
            parts.append(f"COALESCE(CONCAT(LENGTH({text}), ':', {text}), '-')")
        return with_columns(rows, {self.into: f"SHA2(CONCAT_WS(',', {', '.join(parts)}), 256)"})


class History(Transform):
    """Makes a slowly changing dimension (type 2) of states over time: one row for each time that a key stayed the same.

    `valid_from` is the first moment, `valid_to` the first of the next state, NULL for the present one.
    """

    do: Literal["history"]
    key: Columns
    at: str = Field(description="When the state was seen.")
    tracked: tuple[str, ...] = Field(default=(), description="Columns whose change makes a new row; all if none.")
    valid_from: str = "valid_from"
    valid_to: str = "valid_to"
    is_current: str = "is_current"
    example = "{do: history, key: [customer], at: changed_at, tracked: [address]}"

    def query(self, rows: Relation, tables: Tables) -> Query:
        rows.has(*self.key, self.at, *self.tracked)
        kept = tuple(name for name in rows.columns if name != self.at)
        tracked = self.tracked or tuple(name for name in kept if name not in self.key)
        if not tracked:
            raise TransformError("there is no column whose change could be followed")
        rows.lacks("_is_new")
        frame = over(self.key, (self.at,))
        same = " AND ".join(f"{quoted(name)} <=> LAG({quoted(name)}) {frame}" for name in tracked)
        marked = (
            f"SELECT {', '.join(all_of(rows).values())}, "
            f"ROW_NUMBER() {frame} = 1 OR NOT ({same}) AS _is_new FROM {quoted(rows.name)}"
        )
        listed = ", ".join(quoted(name) for name in kept)
        ends = f"LEAD({quoted(self.at)}) {frame}"
        sql = (
            f"SELECT {listed}, {quoted(self.at)} AS {quoted(self.valid_from)}, {ends} AS {quoted(self.valid_to)}, "
            f"{ends} IS NULL AS {quoted(self.is_current)} FROM ({marked}) WHERE _is_new"
        )
        return Query(sql=sql, columns=(*kept, self.valid_from, self.valid_to, self.is_current))
