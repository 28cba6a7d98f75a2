"""Which columns make which, and what a query may not ask for."""

import pytest

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.plan.sql_lineage import Analysis, Source, analyze, relations_in

RELATIONS = {
    "edges": ("repo", "path", "kind", "dst_path"),
    "nodes": ("repo", "path", "name", "line"),
    "lists": ("repo", "items"),
}


def told(found: Analysis) -> dict[str, set[str]]:
    return {name: {".".join(source) for source in sources} for name, sources in found.lineage.items()}


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT path AS file, 1 AS one FROM {edges}", {"file": {"edges.path"}, "one": set()}),
        ("SELECT path || kind AS both FROM edges WHERE repo = 'a'", {"both": {"edges.path", "edges.kind"}}),
        (
            "SELECT e.kind, n.* FROM edges e JOIN nodes n ON n.path = e.dst_path",
            {
                "kind": {"edges.kind"},
                "repo": {"nodes.repo"},
                "path": {"nodes.path"},
                "name": {"nodes.name"},
                "line": {"nodes.line"},
            },
        ),
        ("WITH a AS (SELECT repo AS r FROM edges) SELECT r AS s FROM a", {"s": {"edges.repo"}}),
        (
            "SELECT path FROM edges UNION ALL SELECT name FROM nodes",
            {"path": {"edges.path", "nodes.name"}},
        ),
        ("SELECT path FROM edges EXCEPT SELECT name FROM nodes", {"path": {"edges.path"}}),
        (
            "SELECT kind, (SELECT max(line) FROM nodes n WHERE n.repo = e.repo) AS last FROM edges e",
            {"kind": {"edges.kind"}, "last": {"nodes.line"}},
        ),
        (
            "SELECT row_number() OVER (PARTITION BY repo ORDER BY path) AS place FROM edges",
            {"place": {"edges.repo", "edges.path"}},
        ),
        ("SELECT repo FROM edges SEMI JOIN nodes USING (repo, path)", {"repo": {"edges.repo"}}),
        ("SELECT unnest(items) AS item FROM lists", {"item": {"lists.items"}}),
        (
            "WITH RECURSIVE r AS (SELECT repo, path FROM edges UNION ALL "
            "SELECT r.repo, n.name FROM r JOIN nodes n ON n.path = r.path) SELECT * FROM r",
            {"repo": {"edges.repo"}, "path": {"edges.path", "nodes.name"}},
        ),
    ],
)
def test_a_column_comes_from_what_its_value_is_computed_from(sql: str, expected: dict[str, set[str]]):
    found = analyze(sql, RELATIONS)
    assert told(found) == expected
    assert found.columns == tuple(expected)


def test_what_only_decides_about_rows_is_read_as_well():
    found = analyze("SELECT e.kind FROM edges e JOIN nodes n ON n.path = e.path WHERE n.line > 1", RELATIONS)
    assert found.reads == (
        Source("edges", "kind"),
        Source("edges", "path"),
        Source("nodes", "line"),
        Source("nodes", "path"),
    )
    assert found.relations == ("edges", "nodes")


def test_names_are_those_of_the_relations_whatever_the_query_s_case():
    found = analyze("SELECT PATH FROM Edges", {"Edges": ("Path",)})
    assert found.lineage == {"path": (Source("edges", "Path"),)}


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT 1 FROM edgs", "'edgs' is no relation.*did you mean 'edges'"),
        ("SELECT pth FROM edges", "'pth' is no column of edges.*did you mean 'path'"),
        ("SELECT n.nme FROM edges e JOIN nodes n USING (repo)", "'nme' is no column of nodes.*did you mean 'name'"),
        ("SELECT 1 FROM edges e WHERE EXISTS (SELECT 1 FROM nodes n WHERE n.nme = e.kind)", "'nme' is no column"),
        ("SELECT qqqqqq FROM edges", "the columns are dst_path, kind, path, repo"),
        ("SELECT path FROM edges JOIN nodes ON edges.repo = nodes.repo", "could not be resolved"),
        ("SELECT COLUMNS(*) FROM edges", "does not say which columns"),
        ("DELETE FROM edges", "DELETE statement"),
    ],
)
def test_what_is_not_there_is_refused_with_the_nearest_name(sql: str, message: str):
    with pytest.raises(BadInputError, match=message):
        analyze(sql, RELATIONS)


def test_relations_are_found_without_knowing_their_columns():
    sql = "WITH a AS (SELECT * FROM edges) SELECT * FROM a JOIN (SELECT * FROM {nodes}) USING (repo)"
    assert relations_in(sql) == ("edges", "nodes")
