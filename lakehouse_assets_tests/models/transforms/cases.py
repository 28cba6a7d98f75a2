"""One case or more for each transform: the step, the rows that reach it, the rows that it gives."""

from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Case:
    step: str
    schema: str
    given: list[tuple[Any, ...]]
    expected: list[tuple[Any, ...]]
    tables: dict[str, tuple[str, list[tuple[Any, ...]]]] = field(default_factory=dict)


def at(hour: int, minute: int = 0, *, day: int = 1) -> datetime:
    return datetime(2024, 1, day, hour, minute, tzinfo=UTC)


_ONE = [("a",)]

CASES = (
    Case(step="{do: select, columns: [b, a]}", schema="a int, b int, c int", given=[(1, 2, 3)], expected=[(2, 1)]),
    Case(step="{do: drop, columns: [b]}", schema="a int, b int", given=[(1, 2)], expected=[(1,)]),
    Case(
        step="{do: rename, columns: {a: b, b: a}}",
        schema="a int, b int",
        given=[(1, 2)],
        expected=[(1, 2)],
    ),
    Case(
        step="{do: cast, columns: {a: int}, on_error: 'null'}",
        schema="a string",
        given=[("1",), ("x",), (None,)],
        expected=[(1,), (None,), (None,)],
    ),
    Case(
        step="{do: derive, columns: {a: a + 1, total: a * b}}",
        schema="a int, b int",
        given=[(2, 3)],
        expected=[(3, 3, 6)],
    ),
    Case(
        step="{do: coalesce, columns: [a, b], into: c}",
        schema="a int, b int",
        given=[(None, 2), (1, 2), (None, None)],
        expected=[(None, 2, 2), (1, 2, 1), (None, None, None)],
    ),
    Case(
        step="{do: concat, columns: [a, b], into: c, separator: '-'}",
        schema="a string, b string",
        given=[("x", "y"), ("x", None)],
        expected=[("x", "y", "x-y"), ("x", None, "x")],
    ),
    Case(
        step='{do: replace, column: a, values: {A: active, "it\'s": quoted}}',
        schema="a string",
        given=[("A",), ("it's",), ("B",), (None,)],
        expected=[("active",), ("quoted",), ("B",), (None,)],
    ),
    Case(
        step="{do: replace, column: a, values: {A: active}, otherwise: 'null'}",
        schema="a string",
        given=[("A",), ("B",)],
        expected=[("active",), (None,)],
    ),
    Case(step="{do: fill, columns: {a: 0}}", schema="a int", given=[(None,), (2,)], expected=[(0,), (2,)]),
    Case(
        step="{do: fill_forward, columns: [v], by: [s], order: [n]}",
        schema="s string, n int, v int",
        given=[("a", 1, None), ("a", 2, 5), ("a", 3, None), ("b", 1, None)],
        expected=[("a", 1, None), ("a", 2, 5), ("a", 3, 5), ("b", 1, None)],
    ),
    Case(
        step="{do: bucket, column: a, edges: [0, 18, 65], into: low}",
        schema="a int",
        given=[(-1,), (0,), (17,), (18,), (99,)],
        expected=[(-1, None), (0, 0.0), (17, 0.0), (18, 18.0), (99, 65.0)],
    ),
    Case(step="{do: filter, where: a > 1}", schema="a int", given=[(1,), (2,), (None,)], expected=[(2,)]),
    Case(step="{do: distinct}", schema="a int", given=[(1,), (1,), (None,), (None,)], expected=[(1,), (None,)]),
    Case(
        step="{do: deduplicate, key: [k], order: [at desc]}",
        schema="k int, at int, v string",
        given=[(1, 1, "old"), (1, 2, "new"), (2, None, "none"), (2, 1, "one")],
        expected=[(1, 2, "new"), (2, 1, "one")],
    ),
    Case(
        step="{do: top, rows: 2, by: [k], order: [v desc]}",
        schema="k string, v int",
        given=[("a", 1), ("a", 2), ("a", 3), ("b", 1)],
        expected=[("a", 3), ("a", 2), ("b", 1)],
    ),
    Case(step="{do: sample, key: [k], percent: 100}", schema="k string", given=_ONE, expected=_ONE),
    Case(
        step="{do: explode, column: tags, into: tag}",
        schema="k int, tags array<string>",
        given=[(1, ["a", "b"]), (2, [])],
        expected=[(1, "a"), (1, "b")],
    ),
    Case(
        step="{do: explode, column: tags, into: tag, keep_empty: true}",
        schema="k int, tags array<string>",
        given=[(1, ["a"]), (2, None)],
        expected=[(1, "a"), (2, None)],
    ),
    Case(
        step="{do: flag, rules: {positive: a > 0, small: a < 10}}",
        schema="a int",
        given=[(1,), (-1,), (None,)],
        expected=[(1, []), (-1, ["positive"]), (None, ["positive", "small"])],
    ),
    Case(
        step="{do: validate, rules: {positive: a > 0}, on_failure: drop}",
        schema="a int",
        given=[(1,), (-1,), (None,)],
        expected=[(1,)],
    ),
    Case(step="{do: validate, rules: {positive: a > 0}}", schema="a int", given=[(1,)], expected=[(1,)]),
    Case(
        step="{do: normalize, columns: [a], ways: [space, lower, empty_to_null]}",
        schema="a string",
        given=[("  Ab\t\n C ",), ("  ",)],
        expected=[("ab c",), (None,)],
    ),
    Case(
        step=r"{do: extract, column: a, pattern: '(?P<level>[A-Z]+)\s+(?P<code>\d+)'}",
        schema="a string",
        given=[("WARN  42",), ("nothing",)],
        expected=[("WARN  42", "WARN", "42"), ("nothing", None, None)],
    ),
    Case(
        step="{do: split, column: a, separator: '.', into: [x, y]}",
        schema="a string",
        given=[("1.2",), ("1",)],
        expected=[("1.2", "1", "2"), ("1", "1", None)],
    ),
    Case(
        step="{do: split, column: a, separator: '|', into: [parts]}",
        schema="a string",
        given=[("1|2",)],
        expected=[("1|2", ["1", "2"])],
    ),
    Case(
        step="{do: parse_json, column: a, fields: {g: '$.s.h', l: '$.t[1]', w: '$.t'}, "
        "types: {g: int, w: 'array<string>'}}",
        schema="a string",
        given=[('{"s": {"h": 3}, "t": ["x", "y"]}',), ("{}",)],
        expected=[('{"s": {"h": 3}, "t": ["x", "y"]}', 3, "y", ["x", "y"]), ("{}", None, None, None)],
    ),
    Case(
        step="{do: parse_time, column: a, format: dd.MM.yyyy, into: day, type: date, on_error: 'null'}",
        schema="a string",
        given=[("31.12.2023",), ("x",)],
        expected=[("31.12.2023", date(2023, 12, 31)), ("x", None)],
    ),
    Case(
        step="{do: truncate_time, column: a, unit: hour, into: h}",
        schema="a timestamp",
        given=[(at(5, 30),)],
        expected=[(at(5, 30), at(5))],
    ),
    Case(
        step="{do: time_parts, column: a, parts: [year, weekday, hour]}",
        schema="a timestamp",
        given=[(at(5),)],
        expected=[(at(5), 2024, 1, 5)],
    ),
    Case(
        step="{do: resample, time: t, every: 15 minutes, by: [s], measures: {mean: avg(v), n: count(*)}}",
        schema="s string, t timestamp, v double",
        given=[("a", at(1, 1), 1.0), ("a", at(1, 14), 3.0), ("a", at(1, 15), 7.0)],
        expected=[("a", at(1), 2.0, 2), ("a", at(1, 15), 7.0, 1)],
    ),
    Case(
        step="{do: join, table: rates, match: {c: code}, how: left, columns: {rate: factor}}",
        schema="c string, v int",
        given=[("EUR", 1), ("XXX", 2), (None, 3)],
        expected=[("EUR", 1, 1.5), ("XXX", 2, None), (None, 3, None)],
        tables={"rates": ("code string, rate double", [("EUR", 1.5)])},
    ),
    Case(
        step="{do: join, table: rates, match: [c], columns: [rate]}",
        schema="c string",
        given=[("EUR",), ("XXX",)],
        expected=[("EUR", 1.5)],
        tables={"rates": ("c string, rate double", [("EUR", 1.5)])},
    ),
    Case(
        step="{do: exists, table: known, match: [k]}",
        schema="k int",
        given=[(1,), (2,), (None,)],
        expected=[(1,)],
        tables={"known": ("k int", [(1,), (1,)])},
    ),
    Case(
        step="{do: not_exists, table: known, match: [k]}",
        schema="k int",
        given=[(1,), (2,), (None,)],
        expected=[(2,), (None,)],
        tables={"known": ("k int", [(1,)])},
    ),
    Case(
        step="{do: union, tables: [more]}",
        schema="k int, v string",
        given=[(1, "a")],
        expected=[(1, "a"), (2, None)],
        tables={"more": ("other int, k int", [(9, 2)])},
    ),
    Case(
        step="{do: aggregate, by: [k], measures: {total: sum(v), n: count(*)}}",
        schema="k string, v int",
        given=[("a", 1), ("a", 2), (None, None)],
        expected=[("a", 3, 2), (None, None, 1)],
    ),
    Case(step="{do: aggregate, measures: {n: count(*)}}", schema="k int", given=[(1,), (2,)], expected=[(2,)]),
    Case(
        step="{do: pivot, by: [p], column: q, values: [q1, q2], measure: sum(v)}",
        schema="p string, q string, v int",
        given=[("a", "q1", 1), ("a", "q1", 2), ("a", "q2", 5), ("b", "q3", 7)],
        expected=[("a", 3, 5), ("b", None, None)],
    ),
    Case(
        step="{do: unpivot, columns: [q1, q2], name_into: q, value_into: v}",
        schema="p string, q1 int, q2 int",
        given=[("a", 1, 2), ("b", None, 3)],
        expected=[("a", "q1", 1), ("a", "q2", 2), ("b", "q2", 3)],
    ),
    Case(
        step="{do: window, by: [k], order: [n], columns: {start: first_value(v)}}",
        schema="k string, n int, v int",
        given=[("a", 2, 20), ("a", 1, 10)],
        expected=[("a", 2, 20, 10), ("a", 1, 10, 10)],
    ),
    Case(
        step="{do: rank, order: [v desc], into: place, method: rank}",
        schema="v int",
        given=[(5,), (5,), (3,)],
        expected=[(5, 1), (5, 1), (3, 3)],
    ),
    Case(
        step="{do: previous, column: v, by: [k], order: [n], into: before}",
        schema="k string, n int, v int",
        given=[("a", 1, 10), ("a", 2, 20), ("b", 1, 5)],
        expected=[("a", 1, 10, None), ("a", 2, 20, 10), ("b", 1, 5, None)],
    ),
    Case(
        step="{do: difference, column: v, order: [n], into: used}",
        schema="n int, v int",
        given=[(1, 10), (2, 25)],
        expected=[(1, 10, None), (2, 25, 15)],
    ),
    Case(
        step="{do: running, column: v, measure: sum, order: [n], into: two, rows: 2}",
        schema="n int, v int",
        given=[(1, 1), (2, 2), (3, 3)],
        expected=[(1, 1, 1), (2, 2, 3), (3, 3, 5)],
    ),
    Case(
        step="{do: share, column: v, by: [k], into: part}",
        schema="k string, v double",
        given=[("a", 1.0), ("a", 3.0), ("b", 0.0)],
        expected=[("a", 1.0, 0.25), ("a", 3.0, 0.75), ("b", 0.0, None)],
    ),
    Case(
        step="{do: hash, columns: [a]}",
        schema="a string",
        given=[("a",), (None,)],
        expected=[("ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb",), (None,)],
    ),
    Case(
        step="{do: redact, columns: [a], keep_last: 4}",
        schema="a string",
        given=[("1234567890",), ("12345678",), (None,)],
        expected=[("***7890",), ("***",), (None,)],
    ),
    Case(
        step="{do: surrogate_key, columns: [a, b], into: id}",
        schema="a string, b string",
        given=[("ab", "c")],
        expected=[("ab", "c", "d8e9b9afb20a5d7f6bd4c7c19fa0b1e51a2ea1ca4d3ff0e2b0b9c7e2e2a6e2f4")],
    ),
    Case(
        step="{do: history, key: [k], at: t}",
        schema="k int, v string, t int",
        given=[(1, "a", 1), (1, "a", 2), (1, "b", 3), (1, "a", 4), (2, None, 1), (2, None, 2)],
        expected=[(1, "a", 1, 3, False), (1, "b", 3, 4, False), (1, "a", 4, None, True), (2, None, 1, None, True)],
    ),
)
