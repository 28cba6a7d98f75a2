"""Local facts under a path: every end of an edge is a node, and rows depend on path and facts alone."""

from collections.abc import Callable, Iterator

import pyarrow as pa

from lakehouse_assets.extract.extractor import extract
from lakehouse_assets.extract.packing import pack
from lakehouse_assets.extract.symbols import external_symbol, symbol_id, symbol_of
from lakehouse_assets.link.placing import place_definitions, place_edges, place_nodes, place_props

SHOP = '''"""A shop."""
import os


class Cart:
    def total(self, items: list):
        """The sum."""
        return sum(item.price for item in items)


def main():
    return Cart().total([])
'''

Place = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def work(*files: tuple[str, str], links: list[dict[str, object]] | None = None) -> pa.RecordBatch:
    """Files as (path, text), and rows of links."""
    rows: list[dict[str, object]] = [
        {
            "repo": "shop",
            "path": path,
            "module": path.removesuffix(".py").replace("/", "."),
            "payload": payload(text, "JavaScript" if path.endswith(".js") else "Python"),
        }
        for path, text in files
    ]
    schema = pa.schema(
        {
            **dict.fromkeys(("repo", "path", "module"), pa.string()),
            "payload": pa.binary(),
            **dict.fromkeys(("kind", "external", "dst_repo", "dst_path", "label", "method", "confidence"), pa.string()),
            **dict.fromkeys(("src_def", "dst_def", "caller_def"), pa.int64()),
            **dict.fromkeys(("src_n", "dst_n"), pa.int32()),
        }
    )
    return pa.RecordBatch.from_pylist([*rows, *(links or [])], schema=schema)


def payload(text: str, language: str) -> bytes:
    return pack(extract(text, language))


def placed(place: Place, batch: pa.RecordBatch) -> list[dict[str, object]]:
    return pa.Table.from_batches(place(iter([batch]))).to_pylist()


def test_definitions_have_symbols_and_dotted_names():
    rows = placed(place_definitions, work(("shop/cart.py", SHOP)))
    assert {row["symbol"]: row["qualified_name"] for row in rows} == {
        "`shop/cart.py`/": "shop.cart",
        "`shop/cart.py`/Cart#": "shop.cart.Cart",
        "`shop/cart.py`/Cart#total().": "shop.cart.Cart.total",
        "`shop/cart.py`/main().": "shop.cart.main",
    }
    by_id = {row["def_id"]: row for row in rows}
    total = next(row for row in rows if row["name"] == "total")
    assert by_id[total["parent_id"]]["name"] == "Cart"
    assert (total["line"], total["docstring"]) == (6, "The sum.")


def test_every_end_of_an_edge_is_a_node_of_its_file():
    batch = work(("a.py", SHOP), ("b.py", SHOP))
    nodes = {(row["path"], row["def_id"], row["n"]) for row in placed(place_nodes, batch)}
    edges = placed(place_edges, batch)
    assert edges
    for row in edges:
        assert (row["path"], row["src_def"], row["src_n"]) in nodes
        assert (row["dst_path"], row["dst_def"], row["dst_n"]) in nodes
    assert {row["path"] for row in edges} == {"a.py", "b.py"}


def test_properties_belong_to_nodes():
    batch = work(("a.py", SHOP))
    nodes = {(row["def_id"], row["n"]) for row in placed(place_nodes, batch)}
    props = placed(place_props, batch)
    assert {(row["def_id"], row["n"]) for row in props} <= nodes
    assert {(row["name"], row["value"]) for row in props} == {("annotation", "list")}


def test_a_file_under_another_path_has_the_same_rows_but_for_its_ids():
    def shape(path: str) -> list[tuple[object, ...]]:
        return [(r["n"], r["kind"], r["name"], r["line"]) for r in placed(place_nodes, work((path, SHOP)))]

    assert shape("a.py") == shape("b/c.py")


def test_what_is_outside_becomes_a_node_of_the_file_that_names_it():
    outside = symbol_id(external_symbol("os.path.join"))
    link = {"repo": "shop", "path": "a.py", "dst_def": outside, "external": "os.path.join"}
    rows = placed(place_nodes, work(("a.py", SHOP), links=[link]))
    assert [(r["path"], r["n"], r["name"]) for r in rows if r["kind"] == "EXTERNAL"] == [("a.py", 0, "os.path.join")]


def test_links_are_edges_as_they_are():
    link: dict[str, object] = {
        "repo": "shop",
        "path": "a.py",
        "kind": "CALL",
        "src_def": symbol_id(symbol_of("a.py", "main().")),
        "src_n": 3,
        "dst_repo": "shop",
        "dst_path": "a.py",
        "dst_def": symbol_id(symbol_of("a.py", "Cart#total().")),
        "dst_n": 0,
        "label": "",
        "method": "instance",
        "confidence": "likely",
        "caller_def": symbol_id(symbol_of("a.py", "main().")),
    }
    rows = placed(place_edges, work(("a.py", SHOP), links=[link]))
    assert [row for row in rows if row["kind"] == "CALL"] == [link]


def test_references_that_are_only_matched_by_name_say_so():
    batch = work(("a.py", SHOP), ("b.js", "function f(name) { return name }"))
    found = {(r["path"], r["method"], r["confidence"]) for r in placed(place_edges, batch) if r["kind"] == "REF"}
    assert found == {("a.py", "scope", "certain"), ("b.js", "name", "guess")}
