"""A model's meaning as rows keep it, so that it can be compared with a later one without being read again."""

from pathlib import Path
from types import MappingProxyType
from typing import Any

from lakehouse_assets.models.header import read_header
from lakehouse_assets.models.meaning import Meaning, Part


def as_stored(meaning: Meaning) -> dict[str, Any]:
    """All that the file's text does not say by itself, as a JSON-like value."""
    return {
        "inputs": list(meaning.inputs),
        "rows": _part(meaning.rows),
        "columns": [[name, _part(part)] for name, part in meaning.columns.items()],
        "types": dict(meaning.types),
        "parent_metadata": meaning.parent_metadata,
        "restated": meaning.restated,
        "sensitive": sorted(meaning.sensitive),
        "numbers": sorted(meaning.numbers),
    }


def from_stored(name: str, text: str, sql: str, said: dict[str, Any]) -> Meaning:
    return Meaning(
        header=read_header(Path(f"{name}.sql"), text),
        text=text,
        sql=sql,
        inputs=tuple(said["inputs"]),
        rows=_read_part(said["rows"]),
        columns=MappingProxyType({column: _read_part(part) for column, part in said["columns"]}),
        types=MappingProxyType(said["types"]),
        parent_metadata=said["parent_metadata"],
        restated=said["restated"],
        sensitive=frozenset(said.get("sensitive", ())),  # those from before have none
        numbers=frozenset(said.get("numbers", ())),
    )


def _part(part: Part) -> list[Any]:
    return [part.own, part.version, sorted(list(read) for read in part.reads)]


def _read_part(said: list[Any]) -> Part:
    own, version, reads = said
    return Part(own=own, version=version, reads=frozenset((table, column) for table, column in reads))
