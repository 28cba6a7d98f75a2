"""A model's query with nothing left to guess: every name with its relation, every star spelled out."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import count

from sqlglot import exp
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.scope import Scope, traverse_scope

from lakehouse_assets.models.model import DIALECT, Model
from lakehouse_assets.plan.canonical_sql import canonical_tree


def qualified(model: Model, schema: Mapping[str, Mapping[str, str]]) -> exp.Query:
    """The canonical query, qualified, with stars spelled out, and without an order that decides nothing."""
    plain = canonical_tree(model.text, dialect=DIALECT, subject=str(model.path))
    assert isinstance(plain, exp.Query)
    if plain.args.get("order") and not plain.args.get("limit") and not plain.args.get("offset"):
        plain.set("order", None)
    for table in [each for each in plain.find_all(exp.Table) if each.args.get("pivots")]:
        # PIVOT groups by every column that it does not name: as a query, the table names them.
        pivots = [each.pop() for each in table.args["pivots"]]
        rows = exp.select("*").from_(table.copy()).subquery(table.alias_or_name)
        rows.set("pivots", pivots)
        table.replace(rows)
    known: dict[str, object] = {name: dict(columns) for name, columns in schema.items()}
    # What cannot be qualified is left as it is, to be told with its line.
    full = qualify(
        plain, schema=known, dialect=DIALECT, validate_qualify_columns=False, allow_partial_qualification=True
    )
    _tell_apart(full, schema)
    return full


def _tell_apart(query: exp.Query, tables: Iterable[str]) -> None:
    """Give a part of WITH another name where its own is that of a table or of another part.

    Writing the query in an engine's dialect brings all parts to its beginning, where such a name would mean another
    thing than it did in its place.
    """
    taken = set(tables)
    names: dict[int, str] = {}
    for part in query.find_all(exp.CTE):
        name = next(each for each in _numbered(part.alias) if each not in taken)
        taken.add(name)
        if name != part.alias:
            names[id(part.this)] = name
    if not names:
        return
    uses: list[tuple[exp.Table, str]] = []
    for scope in traverse_scope(query):
        for node, source in scope.selected_sources.values():
            if isinstance(node, exp.Table) and isinstance(source, Scope) and id(source.expression) in names:
                uses.append((node, names[id(source.expression)]))
    for part in query.find_all(exp.CTE):
        if id(part.this) in names:
            part.args["alias"].set("this", exp.to_identifier(names[id(part.this)], quoted=True))
    for node, name in uses:
        node.set("this", exp.to_identifier(name, quoted=True))


def _numbered(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name}_{number}" for number in count(2))
