"""Names in a query that nothing answers to: told with file, line and the nearest name that is known."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

import sqlglot
from sqlglot import exp
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import Scope, traverse_scope

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.text import lines_of
from lakehouse_assets.models.audits import THIS
from lakehouse_assets.models.model import DIALECT, Model, place
from lakehouse_assets.models.number_texts import Numbers, number_texts

_CHANGING: tuple[type[exp.Expr], ...] = (
    *(exp.Rand, exp.Randn, exp.Randstr, exp.Uniform, exp.Normal, exp.Zipf, exp.Uuid, exp.Shuffle, exp.TableSample),
    *(exp.CurrentTimestamp, exp.CurrentDate, exp.CurrentTime, exp.Localtime, exp.Localtimestamp, exp.CurrentTimezone),
    *(exp.CurrentUser, exp.SessionUser, exp.CurrentCatalog, exp.CurrentDatabase, exp.CurrentSchema),
)
_CHANGING_NAMES = {
    *("now", "getdate", "unix_timestamp", "random", "uuid", "uniform", "try_uniform", "randstr"),
    *("monotonically_increasing_id", "spark_partition_id", "shuffle", "user", "version"),
    *("input_file_name", "input_file_block_start", "input_file_block_length", "reflect", "java_method", "try_reflect"),
}


def check_tables(model: Model, known: Iterable[str]) -> None:
    """Refuse a table that is neither in the lake nor a model, and what would not be the same when asked again."""
    names = sorted(known)
    for table, line in model.inputs.items():
        if table not in names:
            raise _unknown(model, line, "table", table, names)
    for node in model.query.find_all(*_CHANGING, exp.Anonymous):
        if not isinstance(node, exp.Anonymous) or node.name.lower() in _CHANGING_NAMES:
            raise BadInputError(
                subject=place(model.path, _line(node)),
                seen=f"{node.sql(DIALECT)} gives another value each time it is asked",
                why="rows that don't follow from the inputs could not be shared, compared or built again",
                remedy="take the value from a table",
            )


def check_names(model: Model, query: exp.Query, columns: Mapping[str, tuple[str, ...]]) -> None:
    """Refuse a column that none of the query's tables has; `query` is qualified as far as that could be done."""
    for scope in traverse_scope(query):
        for column in scope.columns:
            source = scope.sources.get(column.table)
            if column.table in {each.alias for each in scope.pivots}:
                continue  # what a PIVOT gives, its engine knows
            if source is None:
                if not column.table or not _is_outside(scope, column.table):
                    raise _unknown(model, _line_of(model, column), "column", column.name, _reachable(scope, columns))
                continue
            its = _columns(source, columns)
            if its and column.name not in its:
                seen = f"{column.table}.{column.name}" if column.table != column.name else column.name
                raise _unknown(model, _line_of(model, column), "column", seen, its)
    names = query.named_selects
    twice = next((name for name in names if names.count(name) > 1), None)
    unnamed = next((name for name in names if not name or name.startswith("_col_")), None)
    if twice or unnamed:
        raise BadInputError(
            subject=place(model.path, 1),
            seen=f"two columns of the query are called {twice!r}" if twice else "a column of the query has no name",
            why="columns are known by their names",
            remedy="give each column a name of its own with AS",
        )


def check_roles(model: Model, columns: tuple[str, ...]) -> None:
    """Refuse a header that speaks of columns which the query does not give."""
    header = model.header
    roles = {
        "key": header.key,
        "partition_by": header.partition_by,
        "cluster_by": header.cluster_by,
        "time_column": (header.time_column,) if header.time_column else (),
        "columns": tuple(header.columns),
        "audits": tuple(name for audit in header.audits for name in audit.columns),
    }
    for role, names in roles.items():
        for name in names:
            if name not in columns:
                raise _unknown(model, _line_in_header(model, role), "column", name, columns)


def check_time(model: Model, types: Mapping[str, str]) -> None:
    """Refuse days that are no dates, as far as the query tells: the table is partitioned by them."""
    column = model.header.time_column
    if column is not None and types[column] not in ("date", "unknown"):
        raise BadInputError(
            subject=place(model.path, _line_in_header(model, "time_column")),
            seen=f"its time_column {column} is {types[column]}, not date",
            why="each day is a partition of its table",
            remedy=f"add a column such as CAST({column} AS DATE) AS day, and name that one",
        )


def check_numbers(model: Model, query: exp.Query, numbers: Numbers) -> frozenset[str]:
    """Refuse a query that compares numbers as text; the columns that it passes on as such."""
    found = number_texts(query, numbers)
    if found.misuse is not None:
        name, use = found.misuse
        line = _line(use) if _has_line(use) else _line_of(model, exp.column(name))
        raise as_numbers(place(model.path, line), name, use)
    said = {name for name, column in model.header.columns.items() if column.type not in (None, "string")}
    return found.columns - said


def check_audited_numbers(model: Model, types: Mapping[str, str], numbers: frozenset[str]) -> None:
    """Refuse an audit that would compare numbers as text."""
    for audit in model.header.audits if numbers else ():
        tree = sqlglot.parse_one(audit.query, dialect=DIALECT)
        schema: dict[str, object] = {THIS: dict(types)}
        full = qualify(
            tree, schema=schema, dialect=DIALECT, validate_qualify_columns=False, allow_partial_qualification=True
        )
        found = number_texts(full, {THIS: numbers})
        if found.misuse is not None:
            subject = f"{place(model.path, _line_in_header(model, 'audits'))}, audit {audit.label}"
            raise as_numbers(subject, *found.misuse)


def as_numbers(subject: str, name: str, use: exp.Expr) -> BadInputError:
    """What to tell of a number that is kept as text and used as one."""
    return BadInputError(
        subject=subject,
        seen=f"{use.sql(DIALECT)} takes {name} as text, and it holds numbers of its source",
        why="as text '99' is more than '123', and '1.0' is not '1.00'",
        remedy=f"say what is meant: CAST({name} AS DOUBLE), or exactly CAST({name} AS DECIMAL(38, 9))",
    )


def _has_line(node: exp.Expr) -> bool:
    return any("line" in each.meta for each in node.walk())


def _line_in_header(model: Model, field: str) -> int:
    lines = lines_of(model.text)
    return next((i for i, text in enumerate(lines, 1) if text.strip().startswith(f"{field}:")), 1)


def _reachable(scope: Scope, columns: Mapping[str, tuple[str, ...]]) -> list[str]:
    found: list[str] = []
    for source in scope.sources.values():
        found += _columns(source, columns)
    return found


def _columns(source: exp.Table | Scope, columns: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The columns of what stands behind FROM; none where that cannot be told, as for a table-valued function."""
    if isinstance(source, exp.Table):
        return columns[source.name]
    return tuple(source.expression.named_selects) if isinstance(source.expression, exp.Query) else ()


def _is_outside(scope: Scope, table: str) -> bool:
    """Whether a query around this one has the table: a correlated subquery may speak of it."""
    around = scope.parent
    while around is not None:
        if table in around.sources:
            return True
        around = around.parent
    return False


def _line_of(model: Model, column: exp.Column) -> int:
    """The line of the first column of that name in the text; qualifying may have lost the column's own."""
    named = [each for each in model.query.find_all(exp.Column) if each.name.lower() == column.name]
    return min((_line(each) for each in named), default=1)


def _line(node: exp.Expr) -> int:
    return next((each.meta["line"] for each in node.walk() if "line" in each.meta), 1)


def _unknown(model: Model, line: int, what: str, name: str, known: Iterable[str]) -> BadInputError:
    names = list(known)
    near = get_close_matches(name.rpartition(".")[2], names, n=1, cutoff=0.5)
    return BadInputError(
        subject=place(model.path, line),
        seen=f"there is no {what} {name!r}",
        why="the model could not be built",
        remedy=f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(names[:12]) or 'none'}",
    )
