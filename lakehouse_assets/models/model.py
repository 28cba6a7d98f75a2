"""A model as its file has it: header, query, and the tables that the query names."""

import re
from dataclasses import dataclass, field
from pathlib import Path

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, TokenError
from sqlglot.optimizer.scope import traverse_scope

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.models.header import Header, read_header
from lakehouse_assets.plan.canonical_sql import SqlDialect

DIALECT: SqlDialect = "spark"
"""The SQL that models are written in."""

_BRACES = re.compile(r"\{[A-Za-z_]\w*\}")


@dataclass(frozen=True, kw_only=True)
class Model:
    """`inputs` are the tables that the query reads, by name, each with the line that first names it."""

    header: Header
    path: Path
    text: str
    query: exp.Query = field(repr=False, compare=False)
    inputs: dict[str, int] = field(compare=False)

    @property
    def name(self) -> str:
        return self.header.name


def parse_model(path: Path, text: str) -> Model:
    """The model that a file's text tells of; what is no model is refused with its line."""
    header = read_header(path, text)
    query = _query(path, text)
    return Model(header=header, path=path, text=text, query=query, inputs=_inputs(path, query))


def place(path: Path, line: int) -> str:
    return f"{path}:{line}"


def _query(path: Path, text: str) -> exp.Query:
    try:
        statements = [each for each in sqlglot.parse(text, dialect=DIALECT) if each is not None]
    except ParseError as error:
        first = error.errors[0] if error.errors else {}
        raise _no_query(path, first.get("line", 1), first.get("description", str(error)).rstrip(".")) from error
    except TokenError as error:
        raise _no_query(path, 1, str(error).splitlines()[0].rstrip(".")) from error
    braces = _BRACES.search(text, text.index("*/"))
    if braces:
        line = text[: braces.start()].count("\n") + 1
        raise _no_query(path, line, f"{braces[0]} would be taken for the name of a relation")
    if len(statements) != 1 or not isinstance(statements[0], exp.Query):
        kinds = ", ".join(each.key.upper() for each in statements) or "nothing"
        raise _no_query(path, 1, f"it holds {kinds} instead of one query")
    return statements[0]


def _inputs(path: Path, query: exp.Query) -> dict[str, int]:
    inputs: dict[str, int] = {}
    for scope in traverse_scope(query):
        for source in scope.sources.values():
            if isinstance(source, exp.Table) and source.name:
                line = source.this.meta.get("line", 1)
                if source.db:
                    raise _no_query(path, line, f"{source.sql(DIALECT)} names a table by more than its own name")
                inputs[source.name.lower()] = min(line, inputs.get(source.name.lower(), line))
    return inputs


def _no_query(path: Path, line: int, seen: str) -> BadInputError:
    return BadInputError(
        subject=place(path, line),
        seen=seen,
        why="a model is one SELECT in Spark's SQL over tables of the lake",
        remedy="mend the query",
    )
