"""Whether a query may be asked for several partitions at once.

A partition of a model is made from the same partition of its inputs. Asked for several of them together, a query gives
the same rows only if it never lets rows of two partitions meet: where it joins, groups, numbers or compares rows, it
does so within equal values of the partition column. That is looked for here, step by step through the query. What is
not found is not said to be wrong: such a query is asked for each partition by itself.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.optimizer.scope import Scope, build_scope, find_all_in_scope

from lakehouse_assets.models.model import DIALECT

Place = tuple[str, str]
"""A column by the name that its relation has in a query, and its own."""


def why_apart(sql: str, column: str, partitioned: Collection[str]) -> str | None:
    """What may bring rows of two partitions together in a qualified query; None where nothing does.

    `partitioned` are the tables of which only the partition's rows are read, each by `column`.
    """
    scope = build_scope(sqlglot.parse_one(sql, dialect=DIALECT))
    assert scope is not None
    try:
        shape = _Look(column=column, partitioned=frozenset(partitioned)).shape(scope)
    except _MeetingError as meeting:
        return str(meeting)
    return None if column in shape.carriers else f"its column {column} is not that of its inputs"


class _MeetingError(Exception):
    """Rows of two partitions may meet in what it names."""


@dataclass(frozen=True, kw_only=True)
class _Shape:
    """What a relation is made of: of partitions, by the columns that tell which, or of none."""

    is_partitioned: bool = False
    carriers: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class _Look:
    column: str
    partitioned: frozenset[str]

    def shape(self, scope: Scope) -> _Shape:
        query = scope.expression
        if not self._reads(query):
            return _Shape()
        if isinstance(query, exp.SetOperation):
            return self._union(scope, query)
        if not isinstance(query, exp.Select):
            raise _MeetingError(query.key.upper())
        carriers = self._within(scope, query, frozenset())
        _check_groups(query, carriers)
        names = {each.alias_or_name: each.unalias() for each in query.selects}
        told = frozenset(name for name, each in names.items() if _place(each) in carriers)
        if query.args.get("distinct") and not told:
            raise _MeetingError("DISTINCT")
        return _Shape(is_partitioned=True, carriers=told)

    def _reads(self, query: exp.Expr) -> bool:
        """Whether a query reads a partition; one that stands in a WITH around it may, wherever it is named."""
        with_parts = {each.alias: each.this for each in query.root().find_all(exp.CTE)}
        seen: set[str] = set()
        waiting = [query]
        while waiting:
            for table in waiting.pop().find_all(exp.Table):
                if table.name in self.partitioned:
                    return True
                if table.name in with_parts and table.name not in seen:
                    seen.add(table.name)
                    waiting.append(with_parts[table.name])
        return False

    def _union(self, scope: Scope, query: exp.SetOperation) -> _Shape:
        if query.args.get("limit") or query.args.get("offset") or query.args.get("by_name"):
            raise _MeetingError("a part of its UNION")
        left, right = scope.set_operation_scopes
        first, second = self.shape(left), self.shape(right)
        pairs = zip(query.left.named_selects, query.right.named_selects, strict=True)
        told = frozenset(one for one, other in pairs if one in first.carriers and other in second.carriers)
        whole = isinstance(query, exp.Union) and not query.args.get("distinct")
        if not (first.is_partitioned and second.is_partitioned) or not (whole or told):
            raise _MeetingError(type(query).__name__.upper())
        return _Shape(is_partitioned=True, carriers=told)

    def _within(self, scope: Scope, query: exp.Select, outer: frozenset[Place]) -> frozenset[Place]:
        """The columns behind FROM and JOIN that tell the partition of each row; `outer` are those of a query around."""
        if scope.pivots or any(each.args.get("recursive") for each in query.root().find_all(exp.With)):
            raise _MeetingError("PIVOT" if scope.pivots else "WITH RECURSIVE")
        where = query.args.get("where")
        equal = list(_equalities(where.this if where else None))
        first, *joined = _sources(query)
        has, carriers = self._source(scope, first)
        for node in joined:
            join = node.parent
            assert isinstance(join, exp.Join)
            said = list(_equalities(join.args.get("on")))
            its_has, its = self._source(scope, node)
            kind = join.kind if join.kind in ("SEMI", "ANTI") else join.side or "INNER"
            known = [*said, *equal] if kind == "INNER" else said
            _check_join(kind, join, has=has, its_has=its_has, linked=_linked(known, carriers, its))
            match kind:
                case "INNER":
                    carriers = _closed(carriers | its, said)
                case "RIGHT":
                    carriers = its
                case "FULL":
                    carriers = frozenset()
                case _:
                    pass
            has = has or its_has
        carriers = _closed(carriers, equal)
        for each in scope.subquery_scopes:
            self._subquery(each, carriers | outer)
        if not has:  # only subqueries read a partition
            raise _MeetingError("a subquery")
        if outer and not _linked(equal, carriers, outer):
            raise _MeetingError("a subquery")
        # Where there is one relation, its columns may go without its name.
        return carriers if joined else carriers | {("", name) for _, name in carriers}

    def _source(self, scope: Scope, node: exp.Expr) -> tuple[bool, frozenset[Place]]:
        name = node.alias_or_name
        source = scope.sources.get(name)
        match source:
            case exp.Table() if source.name in self.partitioned:
                return True, frozenset({(name, self.column)})
            case exp.Table():
                return False, frozenset()
            case Scope() if isinstance(source.expression, exp.Query):
                if isinstance(node, exp.Lateral) and self._reads(source.expression):
                    raise _MeetingError("LATERAL")
                shape = self.shape(source)
                return shape.is_partitioned, frozenset((name, column) for column in shape.carriers)
            case _ if self._reads(node):
                raise _MeetingError("a join in parentheses")
            case _:
                return False, frozenset()  # a function of the row, or values

    def _subquery(self, scope: Scope, outer: frozenset[Place]) -> None:
        """One that is asked for each row has to stay in that row's partition; within it, anything goes."""
        if self._reads(scope.expression):
            if not isinstance(scope.expression, exp.Select):
                raise _MeetingError("a subquery")
            self._within(scope, scope.expression, outer)


def _sources(query: exp.Select) -> list[exp.Expr]:
    begin = query.args.get("from_")
    joins: list[exp.Join] = query.args.get("joins") or []
    if begin is None:
        raise _MeetingError("a query without FROM")
    return [begin.this, *(join.this for join in joins)]


def _check_join(kind: str, join: exp.Join, *, has: bool, its_has: bool, linked: bool) -> None:
    """Rows that are kept without a partner must be of a partition, and partners of the same."""
    kept = {"LEFT": has, "SEMI": has, "ANTI": has, "RIGHT": its_has, "FULL": has and its_has}
    if (has or its_has) and not kept.get(kind, True):
        raise _MeetingError(join.sql(DIALECT))
    if has and its_has and not linked:
        raise _MeetingError(join.sql(DIALECT))


def _check_groups(query: exp.Select, carriers: frozenset[Place]) -> None:
    for part in ("limit", "offset", "sample"):
        if query.args.get(part):
            raise _MeetingError(part.upper())
    for window in find_all_in_scope(query, exp.Window):
        if not any(_place(each) in carriers for each in window.args.get("partition_by") or ()):
            raise _MeetingError(window.sql(DIALECT))
    group = query.args.get("group")
    if group is not None:
        plain = not any(group.args.get(each) for each in ("all", "cube", "rollup", "grouping_sets", "totals"))
        by = [query.selects[int(each.this) - 1].unalias() if each.is_int else each for each in group.expressions]
        if not plain or not any(_place(each) in carriers for each in by):
            raise _MeetingError(group.sql(DIALECT).strip())
        return
    for node in find_all_in_scope(query, exp.AggFunc, exp.Anonymous):  # one that is not known may aggregate
        if node.find_ancestor(exp.Window, exp.Select) is query:
            raise _MeetingError(node.sql(DIALECT))


def _equalities(condition: exp.Expr | None) -> Iterator[tuple[Place, Place]]:
    """Columns that are equal in every row for which the condition holds."""
    waiting = [condition] if condition is not None else []
    while waiting:
        each = waiting.pop().unnest()
        if isinstance(each, exp.And):
            waiting += [each.this, each.expression]
        elif isinstance(each, exp.EQ):
            one, other = _place(each.this), _place(each.expression)
            if one and other:
                yield one, other


def _place(node: exp.Expr) -> Place | None:
    return (node.table, node.name) if isinstance(node, exp.Column) else None


def _linked(equal: Iterable[tuple[Place, Place]], ours: frozenset[Place], theirs: frozenset[Place]) -> bool:
    return any((a in ours and b in theirs) or (b in ours and a in theirs) for a, b in equal)


def _closed(carriers: frozenset[Place], equal: Iterable[tuple[Place, Place]]) -> frozenset[Place]:
    found, pairs = set(carriers), list(equal)
    while more := {place for pair in pairs for place in pair if found & set(pair)} - found:
        found |= more
    return frozenset(found)
