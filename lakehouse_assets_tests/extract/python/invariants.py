"""What holds of the facts of any source, whatever it says."""

from collections import Counter

from lakehouse_assets.extract.facts import DEF_COLUMNS, EDGE_COLUMNS, NODE_COLUMNS, PROP_COLUMNS, Columns, Facts


def check_facts(facts: Facts) -> None:
    """Columns of one length, nodes numbered without gaps, edges between nodes, and the syntax a tree over them."""
    tables = ((facts.defs, DEF_COLUMNS), (facts.nodes, NODE_COLUMNS), (facts.edges, EDGE_COLUMNS))
    for columns, names in (*tables, (facts.props, PROP_COLUMNS)):
        _check_columns(columns, names)
    nodes = list(zip(facts.nodes["d"], facts.nodes["n"], strict=True))
    assert nodes == sorted(set(nodes))
    sizes = Counter(facts.nodes["d"])
    assert sorted(sizes) == list(range(len(facts.defs["kind"])))
    assert all(n < sizes[d] for d, n in nodes)
    _check_definitions(facts.defs)
    _check_edges(facts, set(nodes))
    props = list(zip(facts.props["d"], facts.props["n"], facts.props["name"], strict=True))
    assert len(set(props)) == len(props)
    assert {(d, n) for d, n, _ in props} <= set(nodes)
    for text in (*facts.nodes["name"], *facts.props["value"], *facts.defs["docstring"], *facts.diagnostics):
        assert text is None or text.encode("utf-8").decode("utf-8") == text


def _check_columns(columns: Columns, names: tuple[str, ...]) -> None:
    assert tuple(columns) == names
    assert len({len(column) for column in columns.values()}) == 1


def _check_definitions(defs: Columns) -> None:
    assert defs["kind"][0] in ("module", "file")
    assert defs["descriptor"][0] == ""
    assert len(set(defs["descriptor"])) == len(defs["descriptor"])
    for d, parent in enumerate(defs["parent"]):
        assert parent < d if d else parent == -1


def _check_edges(facts: Facts, nodes: set[tuple[int, int]]) -> None:
    edges = list(zip(*facts.edges.values(), strict=True))
    assert len(set(edges)) == len(edges)
    parents: dict[tuple[int, int], tuple[int, int]] = {}
    for kind, src_d, src_n, dst_d, dst_n, _ in edges:
        assert (src_d, src_n) in nodes
        assert (dst_d, dst_n) in nodes
        if kind == "AST":
            assert (dst_d, dst_n) not in parents
            parents[dst_d, dst_n] = (src_d, src_n)
    assert set(parents) == nodes - {(0, 0)}
    for (d, n), (src_d, src_n) in parents.items():
        # Parents come first, so ways up are finite and end at the file.
        assert (src_d == d and src_n < n) or (n == 0 and src_d == facts.defs["parent"][d] < d)
