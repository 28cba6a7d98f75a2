"""What a query reads: which columns of which relations make each of its own, checked against the columns they have.

A column comes from those that its value is computed from. Those that only decide which rows there are (joins, filters,
groups) are not among its sources; they are among what the query reads as a whole.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.plan.canonical_sql import SqlDialect, canonical_sql, canonical_tree

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.optimizer.scope import Scope


class Source(NamedTuple):
    """A column of a relation."""

    relation: str
    column: str


@dataclass(frozen=True, kw_only=True)
class Analysis:
    """A query, taken apart."""

    canonical: str
    tree: str
    """The canonical text parsed, as JSON."""
    fingerprint: str
    columns: tuple[str, ...]
    """Names of its own columns, in their order."""
    lineage: Mapping[str, tuple[Source, ...]]
    """By column what its value is computed from; nothing for one that is the same in all rows, or counts them."""
    reads: tuple[Source, ...]
    """Every column that decides anything in it."""

    @property
    def relations(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(source.relation for source in self.reads))


def analyze(
    sql: str,
    relations: Mapping[str, Iterable[str]],
    *,
    dialect: SqlDialect = "duckdb",
    subject: str = "query",
) -> Analysis:
    """Take a query apart, given the columns of the relations it may read; refused if it asks for what is not there."""
    form = canonical_sql(sql, dialect=dialect, subject=subject)
    known = {name.lower(): {column.lower(): column for column in columns} for name, columns in relations.items()}
    root = _scopes(canonical_tree(form.text, dialect=dialect, subject=subject), known, dialect, subject)
    columns = tuple(each.alias_or_name for each in _query(root).selects)
    sources = _Sources(known)
    return Analysis(
        canonical=form.text,
        tree=form.tree,
        fingerprint=form.fingerprint,
        columns=columns,
        lineage={name: sources.of(root, position) for position, name in enumerate(columns)},
        reads=sources.all_of(root),
    )


def relations_in(sql: str, *, dialect: SqlDialect = "duckdb", subject: str = "query") -> tuple[str, ...]:
    """The names of the relations that a query reads, its own named parts apart; in the order of the names."""
    return tuple(sorted({table.name for table in _tables(canonical_tree(sql, dialect=dialect, subject=subject))}))


def _tables(tree: "exp.Expr") -> "Iterator[exp.Table]":
    from sqlglot import exp

    own = {part.alias for part in tree.find_all(exp.CTE)}
    for table in tree.find_all(exp.Table):
        if isinstance(table.this, exp.Identifier) and table.name not in own:
            yield table


def _scopes(tree: "exp.Expr", known: Mapping[str, Mapping[str, str]], dialect: SqlDialect, subject: str) -> "Scope":
    from sqlglot import exp
    from sqlglot.errors import OptimizeError
    from sqlglot.optimizer.qualify import qualify
    from sqlglot.optimizer.scope import build_scope

    for table in _tables(tree):
        if table.name not in known:
            raise _unknown(subject, "relation", table.name, known, "relations")
    schema: dict[str, Any] = {name: dict.fromkeys(columns, "unknown") for name, columns in known.items()}
    try:
        full = qualify(tree.copy(), dialect=dialect, schema=schema, quote_identifiers=False)
    except OptimizeError as error:
        raise _unresolved(subject, tree, known, str(error)) from error
    hidden = next((each for each in full.find_all(exp.Columns)), None)
    if hidden is not None:
        raise BadInputError(
            subject=subject,
            seen=f"{hidden.sql(dialect=dialect)} does not say which columns it stands for",
            why="it cannot be told what the query reads, nor which columns it has",
            remedy="name the columns",
        )
    scope = build_scope(full)
    if scope is None:
        raise BadInputError(
            subject=subject,
            seen=f"it is a {type(tree).__name__.upper()} statement",
            why="it gives no rows that could be told from where they come",
            remedy="write a query",
        )
    return scope


def _unresolved(subject: str, tree: "exp.Expr", known: Mapping[str, Mapping[str, str]], told: str) -> BadInputError:
    """The first column that is nowhere to be found; what the library says if each of them is somewhere."""
    from sqlglot import exp

    tables = {table.alias_or_name: table.name for table in _tables(tree)}
    aliases = {each.alias for each in tree.find_all(exp.Alias, exp.TableAlias)}
    aliases |= {name for alias in tree.find_all(exp.TableAlias) for name in alias.alias_column_names}
    for column in tree.find_all(exp.Column):
        read = [tables[column.table]] if column.table in tables else list(tables.values())
        there = {name for each in read for name in known[each]}
        if column.name not in there and (column.table in tables or column.name not in aliases):
            of = f"column of {' or '.join(sorted(set(read)))}"
            return _unknown(subject, of, column.name, there, "columns")
    return BadInputError(
        subject=subject,
        seen=told.strip().splitlines()[0].rstrip("."),
        why="it cannot be told where its columns come from",
        remedy="name each column with its relation",
    )


def _unknown(subject: str, kind: str, name: str, there: Iterable[str], many: str) -> BadInputError:
    near = get_close_matches(name, there, n=1)
    return BadInputError(
        subject=subject,
        seen=f"{name!r} is no {kind}",
        why="the query would fail when it is run",
        remedy=f"did you mean {near[0]!r}?" if near else f"the {many} are {', '.join(sorted(there))}",
    )


class _Sources:
    """Walks from the columns of queries to those of relations; each query's column is looked at once."""

    def __init__(self, known: Mapping[str, Mapping[str, str]]) -> None:
        self._known = known
        self._found: dict[tuple[int, int], tuple[Source, ...]] = {}

    def of(self, scope: "Scope", position: int) -> tuple[Source, ...]:
        key = (id(scope.expression), position)
        if key not in self._found:
            self._found[key] = ()  # a recursive query adds nothing to what it starts from
            self._found[key] = tuple(sorted(set(self._followed(scope, position))))
        return self._found[key]

    def all_of(self, root: "Scope") -> tuple[Source, ...]:
        read = (
            source for scope in root.traverse() for column in scope.columns for source in self._column(scope, column)
        )
        return tuple(sorted(set(read)))

    def _followed(self, scope: "Scope", position: int) -> Iterator[Source]:
        from sqlglot import exp

        if scope.set_operation_scopes:
            # In EXCEPT and INTERSECT the right side decides which rows of the left stay.
            one = isinstance(scope.expression, exp.Except | exp.Intersect)
            for branch in scope.set_operation_scopes[: 1 if one else None]:
                yield from self.of(branch, position)
            return
        yield from self._expression(scope, _query(scope).selects[position])

    def _expression(self, scope: "Scope", expression: "exp.Expr") -> Iterator[Source]:
        from sqlglot import exp

        inner = {id(each.expression): each for each in scope.subquery_scopes}
        for node in expression.walk(prune=lambda each: id(each) in inner):
            if id(node) in inner:  # a query that stands for a value
                for position in range(len(_query(inner[id(node)]).selects)):
                    yield from self.of(inner[id(node)], position)
            elif isinstance(node, exp.Column):
                yield from self._column(scope, node)

    def _column(self, scope: "Scope", column: "exp.Column") -> Iterator[Source]:
        pivot = next((each for each in scope.pivots if each.alias == column.table), None)
        yield from self._source(scope, column) if pivot is None else self._pivoted(scope, column, pivot)

    def _source(self, scope: "Scope", column: "exp.Column") -> Iterator[Source]:
        from sqlglot import exp
        from sqlglot.optimizer.scope import Scope

        around: Scope | None = scope
        while around is not None and column.table not in around.sources:
            around = around.parent
        source = around.sources[column.table] if around is not None else None
        match source:
            case exp.Table():
                if column.name in self._known.get(source.name, {}):
                    yield Source(source.name, self._known[source.name][column.name])
            case Scope() if isinstance(source.expression, exp.Query):
                names = [each.alias_or_name for each in _query(source).selects]
                if column.name in names:
                    yield from self.of(source, names.index(column.name))
            case Scope():  # a function that gives rows: of all that it is given
                for inner in source.traverse():
                    for each in inner.columns:
                        yield from self._column(inner, each)
            case _:
                pass

    def _pivoted(self, scope: "Scope", column: "exp.Column", pivot: "exp.Pivot") -> Iterator[Source]:
        """A column that PIVOT leaves as it is; else one made of all that it names."""
        from sqlglot import exp

        rows = [name for name, (node, _) in scope.selected_sources.items() if node is pivot.parent]
        left = [source for name in rows for source in self._source(scope, exp.column(column.name, table=name))]
        named = [each for each in scope.columns if each.find_ancestor(exp.Pivot) is pivot]
        yield from left or (source for each in named for source in self._source(scope, each))


def _query(scope: "Scope") -> "exp.Query":
    from sqlglot import exp

    expression = scope.expression
    return expression if isinstance(expression, exp.Query) else exp.select()
