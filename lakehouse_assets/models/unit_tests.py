"""Unit tests of models: given rows, expected rows, written in YAML beside the models."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.variables import filled_text

Row = Mapping[str, Any]
_SUFFIX = ".test.yaml"


class UnitTest(BaseModel):
    """One test: the rows of the model's inputs, and those that it is to give. An input that is not given is empty."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    model: str
    given: dict[str, list[dict[str, Any]]]
    expect: list[dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class UnitTestResult:
    """How a test ended; `missing` rows were expected and not given, `surplus` rows given and not expected."""

    test: UnitTest
    missing: tuple[Row, ...]
    surplus: tuple[Row, ...]

    @property
    def passed(self) -> bool:
        return not self.missing and not self.surplus


def unit_tests_in(folder: Path, variables: Mapping[str, str] | None = None) -> list[UnitTest]:
    """The tests of the folder's `NAME.test.yaml` files, each a mapping from names to tests of the model NAME."""
    found: list[UnitTest] = []
    for path in sorted(folder.rglob(f"*{_SUFFIX}")):
        try:
            said = yaml.safe_load(filled_text(path.read_text(), variables or {}, subject=str(path))) or {}
            entries = TypeAdapter(dict[str, dict[str, Any]]).validate_python(said)
            model = path.name.removesuffix(_SUFFIX)
            found += [UnitTest.model_validate({"name": name, "model": model, **test}) for name, test in entries.items()]
        except (yaml.YAMLError, ValidationError) as error:
            raise BadInputError(
                subject=str(path),
                seen=str(error).strip().replace("\n", " "),
                why="its tests cannot be run",
                remedy="write each test as `name: {given: {table: [rows]}, expect: [rows]}`",
            ) from error
    return found


def compared(test: UnitTest, rows: Sequence[Row]) -> UnitTestResult:
    """The rows against those expected, in the columns that the expected ones name, whatever their order."""
    columns = tuple(dict.fromkeys(name for row in test.expect for name in row)) or tuple(rows[0] if rows else ())
    expected = _counted(test.expect, columns)
    given = _counted(rows, columns)
    return UnitTestResult(
        test=test,
        missing=tuple(_rows(expected - given, columns)),
        surplus=tuple(_rows(given - expected, columns)),
    )


def _counted(rows: Iterable[Row], columns: Sequence[str]) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(_plain(row.get(name)) for name in columns) for row in rows)


def _rows(counted: Counter[tuple[Any, ...]], columns: Sequence[str]) -> list[Row]:
    return [dict(zip(columns, values, strict=True)) for values in counted.elements()]


def _plain(value: Any) -> Any:
    """A value as it can be compared and counted."""
    match value:
        case datetime() | date():
            return value.isoformat()
        case list():
            return tuple(_plain(each) for each in value)
        case _:
            return value
