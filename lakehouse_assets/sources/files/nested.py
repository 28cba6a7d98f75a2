"""Nested documents as rows: objects become columns named by their way, lists of texts stay lists, others are text."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from lakehouse_assets.core.errors import SourceError


def records_at(document: Any, path: str, *, subject: str) -> list[Mapping[str, Any]]:
    """The rows of a document: the list at `path`, or a lone object there. Lists on the way are gone through."""
    found: list[Any] = [document]
    for name in filter(None, path.split(".")):
        found = [each for held in found for each in (held if isinstance(held, list) else [held])]
        if not all(isinstance(each, dict) and name in each for each in found):
            raise SourceError(
                subject=subject,
                seen=f"there is no {name!r} on the way {path}",
                why="its rows cannot be found",
                remedy="set `records` to where the rows are",
            )
        found = [each[name] for each in found]
    rows = [each for held in found for each in (held if isinstance(held, list) else [held])]
    return [each if isinstance(each, dict) else {"value": each} for each in rows]


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
