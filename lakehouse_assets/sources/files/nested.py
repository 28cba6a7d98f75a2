"""Nested documents as rows: objects become columns named by their way, lists of texts stay lists, others are text."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from lakehouse_assets.core.errors import SourceError

Row = Mapping[str, Any]


def records_at(document: Any, path: str, *, subject: str, keep: Mapping[str, str] | None = None) -> list[Row]:
    """The rows of a document: the list at `path`, or a lone object there. Lists on the way are gone through.

    `keep` has columns for the rows out of what they are in: their places, by name.
    """
    kept = {way: name for name, way in (keep or {}).items()}
    found: list[tuple[Any, Row]] = [(document, {})]
    way = ""
    for name in filter(None, path.split(".")):
        met = _told_apart(found, way, kept)
        if not all(isinstance(each, dict) and name in each for each, _ in met):
            raise _nowhere(subject, f"there is no {name!r} on the way {path}")
        found = [(each[name], held) for each, held in met]
        way = f"{way}.{name}" if way else name
    rows = _told_apart(found, way, kept)
    if lost := sorted(name for name in keep or {} if not any(name in held for _, held in rows) and rows):
        raise _nowhere(subject, f"{(keep or {})[lost[0]]} is not on the way {path}, or nowhere in it")
    return [{**(each if isinstance(each, dict) else {"value": each}), **held} for each, held in rows]


def _told_apart(found: Sequence[tuple[Any, Row]], way: str, kept: Mapping[str, str]) -> list[tuple[Any, Row]]:
    """The things of lists one by one, each with what is kept of it for the rows in it."""
    single = [(each, held) for one, held in found for each in (one if isinstance(one, list) else [one])]
    here = {place.rpartition(".")[2]: name for place, name in kept.items() if place.rpartition(".")[0] == way}
    if not here:
        return single
    return [
        (
            each,
            {**held, **{name: each[field] for field, name in here.items() if isinstance(each, dict) and field in each}},
        )
        for each, held in single
    ]


def _nowhere(subject: str, seen: str) -> SourceError:
    return SourceError(
        subject=subject,
        seen=seen,
        why="its rows cannot be found",
        remedy="set `records` to where the rows are, and `keep` to what stands on the way there",
    )


def flat_table(rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Rows with one level of columns, all of them text or lists of text."""
    flat = [dict(_leaves(row, ())) for row in rows]
    names = list(dict.fromkeys(name for row in flat for name in row))
    arrays: list[pa.Array] = []
    for name in names:
        values = [row.get(name) for row in flat]
        if any(isinstance(value, list) for value in values) and all(_texts(value) for value in values):
            arrays.append(pa.array(values, pa.list_(pa.string())))
        else:
            arrays.append(pa.array([_text(value) for value in values], pa.string()))
    return pa.table(arrays, names=names) if names else pa.table({})


def _leaves(value: Mapping[str, Any], way: tuple[str, ...]) -> Iterable[tuple[str, Any]]:
    for name, held in value.items():
        if isinstance(held, Mapping) and held:
            yield from _leaves(held, (*way, str(name)))
        else:
            yield "_".join((*way, str(name))), held


def _texts(value: Any) -> bool:
    return value is None or (
        isinstance(value, Sequence) and not isinstance(value, str) and all(isinstance(e, str) for e in value)
    )


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)
