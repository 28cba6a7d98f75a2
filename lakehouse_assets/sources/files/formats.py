"""Files as Arrow tables, one reader a format. All but Parquet give text; types come with the columns that are named."""

import csv
import importlib
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq

from lakehouse_assets.contracts.column_names import name_problem
from lakehouse_assets.contracts.files import LANDED_KEY, FileColumn, FileIngest
from lakehouse_assets.contracts.schemas import arrow_type
from lakehouse_assets.contracts.table import Column
from lakehouse_assets.core.errors import BadInputError, SourceError
from lakehouse_assets.core.text import lines_of
from lakehouse_assets.lake.rows import type_name
from lakehouse_assets.sources.calendar import beyond_calendar
from lakehouse_assets.sources.files.nested import flat_table, records_at
from lakehouse_assets.sources.files.storable import storable
from lakehouse_assets.sources.sql.sqlite import fitted

_DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}


def read_file(files: FileIngest, path: Path) -> pa.Table:
    """The file's rows, in the types of the columns that are named."""
    try:
        table = _read(files, path)
    except (pa.ArrowException, ValueError) as error:  # what readers say of a file that is not of their format
        # Arrow's words repeat a row, and what it holds may be sensitive.
        words = "" if any(each.sensitive for each in files.columns) else f": {' '.join(str(error).split())[:200]}"
        failed = bad_file(path, f"it cannot be read as {files.format}{words}")
    else:
        return typed(table, files.columns, subject=str(path))
    raise failed from None


def _read(files: FileIngest, path: Path) -> pa.Table:
    match files.format:
        case "csv" | "tsv":
            return _delimited(files, path, files.delimiter or ("," if files.format == "csv" else "\t"))
        case "json":
            document = json.loads(path.read_text("utf-8"))
            return flat_table(records_at(document, files.records, keep=files.keep, subject=str(path)))
        case "jsonl":
            lines = [json.loads(line) for line in path.read_text("utf-8").split("\n") if line.strip()]
            return flat_table(records_at(lines, files.records, keep=files.keep, subject=str(path)))
        case "parquet":
            return pq.ParquetFile(path).read()
        case "log":
            return _log(files, path)
        case "text":
            return _text(files, path)
        case _:
            return plug_in(files.format)(path)


def _delimited(files: FileIngest, path: Path, delimiter: str) -> pa.Table:
    with path.open("rb") as file:
        header = file.readline().decode("utf-8-sig").rstrip("\r\n")
    quoting = csv.QUOTE_MINIMAL if files.quote else csv.QUOTE_NONE
    names = next(csv.reader([header], delimiter=delimiter, quotechar=files.quote or None, quoting=quoting), [])
    quote = re.escape(files.quote)
    bare = re.sub(f"{quote}[^{quote}]*{quote}", "", header) if quote else header
    most = max(_DELIMITERS, key=bare.count)
    if bare.count(most) > bare.count(delimiter) and (not files.delimiter or len(names) == 1):
        raise bad_file(
            path,
            f"its header has {bare.count(delimiter) or 'no'} {_DELIMITERS.get(delimiter, delimiter)} but "
            f"{bare.count(most)} {_DELIMITERS[most]}; give the files their delimiter, or put the names in quotes",
        )
    return arrow_csv.read_csv(
        path,
        parse_options=arrow_csv.ParseOptions(
            delimiter=delimiter, quote_char=files.quote or False, newlines_in_values=bool(files.quote)
        ),
        convert_options=arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()),
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            null_values=list(files.nulls),
        ),
    )


def _log(files: FileIngest, path: Path) -> pa.Table:
    pattern = re.compile(files.pattern)
    columns: dict[str, list[str | None]] = {name: [] for name in pattern.groupindex}
    for number, line in enumerate(lines_of(path.read_text("utf-8")), start=1):
        found = pattern.search(line)
        if found is None and line.strip() and files.unmatched == "raise":
            raise bad_file(path, f"line {number} does not match the pattern")
        for name, values in columns.items() if found else ():
            values.append(found[name] if found else None)
    return pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()})


def _text(files: FileIngest, path: Path) -> pa.Table:
    """The whole of it as one row, or a row for each match of the pattern."""
    text = path.read_text("utf-8")
    if not files.pattern:
        return pa.table({"text": pa.array([text], pa.string())})
    found = list(re.finditer(files.pattern, text))
    if not found and files.unmatched == "raise":
        raise bad_file(path, "the pattern is nowhere in it")
    names = re.compile(files.pattern).groupindex
    return pa.table({name: pa.array([each[name] for each in found], pa.string()) for name in names})


def plug_in(name: str) -> Any:
    """The user's own reader: `package.module:function`."""
    module, _, function = name.partition(":")
    try:
        return getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise BadInputError(
            subject=f"format {name}",
            seen=f"it cannot be loaded: {error}",
            why="files of this format cannot be read",
            remedy="install the package that has it, and name it as package.module:function",
        ) from error


def typed(table: pa.Table, columns: Sequence[FileColumn], *, subject: str) -> pa.Table:
    """The named columns in their types, the others in types that the lake has; a value that does not fit makes the file
    a bad one. A column of the file's own that is called as one of ours has an underscore behind its name."""
    table = table.rename_columns([f"{name}_" if name in LANDED_KEY else name for name in table.column_names])
    if problem := name_problem(table.column_names):
        raise bad_file(Path(subject), problem)
    named = {each.name: each for each in columns}
    for each in columns:
        if each.name not in table.column_names:
            table = table.append_column(each.name, pa.nulls(table.num_rows, arrow_type(each.type)))
    for place, name in enumerate(table.column_names):
        table = table.set_column(place, name, _fitting(table[name], name, named.get(name), subject))
    if (beyond := beyond_calendar(table)) is not None:
        raise bad_file(Path(subject), f"{beyond} has a moment or day that is no year from 1 to 9999")
    return table


def _fitting(values: pa.ChunkedArray, name: str, said: FileColumn | None, subject: str) -> pa.Array | pa.ChunkedArray:
    wanted = said.type if said else "bigint"  # of those that are not named, only whole numbers can fail to fit
    try:
        if said is None or type_name(values.type) == said.type:
            return storable(values)
        if said.separator:
            return _parts(values, said.separator)
        return _cast(values, Column(name=name, type=said.type, description="", nullable=True), subject)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        failed = bad_file(Path(subject), f"the column {name} has values that are no {wanted}")
    raise failed from None


def _parts(values: pa.ChunkedArray, separator: str) -> pa.Array:
    texts: list[str | None] = values.cast(pa.string()).to_pylist()
    parted = [None if text is None else [each.strip() for each in text.split(separator)] for text in texts]
    return pa.array(parted, pa.list_(pa.string()))


def _cast(values: pa.ChunkedArray, wanted: Column, subject: str) -> pa.Array | pa.ChunkedArray:
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        if wanted.type in ("bigint", "int", "double", "boolean"):
            return values.cast(arrow_type(wanted.type))
        return fitted(values.to_pylist(), wanted, subject)
    return storable(values).cast(arrow_type(wanted.type))


def bad_file(path: Path, seen: str) -> SourceError:
    return SourceError(
        subject=str(path),
        seen=seen,
        why="none of its rows is in the table; other files are not held up by it",
        remedy="mend the file: it is read again when it changed",
    )
