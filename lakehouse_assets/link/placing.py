"""Local facts get their place: the repository and path that make them rows of the graph.

Invariant: the rows of a file depend on its path, its facts and its links alone, so that they can be made anywhere,
in any order, and again. Work comes as record batches with a row per file (its `payload`) and, for nodes and edges,
a row per link of a file (no payload); rows of the graph leave as record batches of the contract's columns.

Cost: one numpy take per column and file; no Python object per node.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from lakehouse_assets.contracts.definitions import DEFINITIONS
from lakehouse_assets.contracts.edges import EDGES
from lakehouse_assets.contracts.nodes import NODES
from lakehouse_assets.contracts.props import PROPS
from lakehouse_assets.contracts.relationships import RELATIONSHIPS
from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.extract.packing import unpack
from lakehouse_assets.extract.symbols import def_ids, symbol_of

Batches = Iterator[pa.RecordBatch]
Place = Callable[[str, str, str | None, bytes], dict[str, Any]]

EXTERNAL = "EXTERNAL"
BY_NAME = "name"
BY_IMPORT = "import"


def place_definitions(batches: Batches) -> Batches:
    """Rows of `definitions` for files with their `module`."""
    yield from _placed(batches, DEFINITIONS, _definitions)


def place_props(batches: Batches) -> Batches:
    yield from _placed(batches, PROPS, _props)


def place_nodes(batches: Batches) -> Batches:
    """Rows of `nodes`: the files' syntax, and what their links name outside all repositories."""
    for batch in batches:
        outside = batch.filter(batch["external"].is_valid())
        yield from _by_file([*_placed(iter([batch]), NODES, _nodes), _external_nodes(outside)])


def place_edges(batches: Batches) -> Batches:
    """Rows of `edges`: what the files say by themselves, and their links."""
    schema = arrow_schema(EDGES.columns)
    for batch in batches:
        links = batch.filter(batch["kind"].is_valid())
        columns = {name: links[name].cast(schema.field(name).type) for name in schema.names}
        linked = pa.record_batch([*{**columns, "label": _labels(columns)}.values()], schema=schema)
        yield from _by_file([*_placed(iter([batch]), EDGES, _edges), linked])


def _labels(links: Mapping[str, pa.Array]) -> pa.Array:
    """The links' labels; a reference that an import leads back into its own file is told from the file's own one."""
    parts = (links[name].to_pylist() for name in ("label", "kind", "repo", "path", "dst_repo", "dst_path"))
    return pa.array(
        [
            BY_IMPORT if kind == "REF" and (repo, path) == (dst_repo, dst_path) else label
            for label, kind, repo, path, dst_repo, dst_path in zip(*parts, strict=True)
        ],
        pa.string(),
    )


def _by_file(parts: Sequence[pa.RecordBatch]) -> Batches:
    """The parts with the rows of each file together, which the writer of many rows relies on."""
    filled = [part for part in parts if part.num_rows]
    if len(filled) <= 1:
        yield from filled
        return
    whole = pa.Table.from_batches(filled)
    yield from whole.sort_by([("repo", "ascending"), ("path", "ascending")]).combine_chunks().to_batches()


def _placed(batches: Batches, contract: TableContract, place: Place) -> Batches:
    """The rows that `place` makes of each file, as one record batch for each batch of files."""
    schema = arrow_schema(contract.columns)
    for batch in batches:
        payloads = batch["payload"].to_pylist()
        modules = batch["module"].to_pylist() if "module" in batch.schema.names else [None] * batch.num_rows
        columns: dict[str, list[pa.Array]] = {name: [] for name in schema.names}
        for repo, path, module, payload in zip(
            batch["repo"].to_pylist(), batch["path"].to_pylist(), modules, payloads, strict=True
        ):
            if payload is None:
                continue
            for name, values in place(repo, path, module, payload).items():
                field = schema.field(name).type
                columns[name].append(values if isinstance(values, pa.Array) else pa.array(values, field))
        if columns["repo"]:
            arrays = [pa.concat_arrays([_plain(a, schema.field(n).type) for a in columns[n]]) for n in schema.names]
            yield pa.record_batch(arrays, schema=schema)


def _definitions(repo: str, path: str, module: str | None, payload: bytes) -> dict[str, Any]:
    defs = unpack(payload, ("defs",))["defs"]
    descriptors = defs["descriptor"].to_pylist()
    ids = def_ids(path, descriptors)
    parents = defs["parent"].to_pylist()
    names = [path, *defs["name"].to_pylist()[1:]]
    return {
        **_owner(repo, path, len(ids)),
        "def_id": ids,
        "symbol": [symbol_of(path, descriptor) for descriptor in descriptors],
        "parent_id": [None if parent < 0 else ids[parent] for parent in parents],
        "name": names,
        "qualified_name": _qualified(module or path, names, parents),
        **{
            name: defs[name].combine_chunks()
            for name in ("kind", "line", "col", "end_line", "end_col", "signature", "docstring")
        },
        "signature_hash": defs["signature_hash"].combine_chunks(),
        "body_hash": defs["body_hash"].combine_chunks(),
    }


def _qualified(module: str, names: Sequence[str], parents: Sequence[int]) -> list[str]:
    """Dotted names; a definition comes behind the one around it, so one pass suffices."""
    qualified = [module]
    for name, parent in zip(names[1:], parents[1:], strict=True):
        qualified.append(f"{qualified[parent]}.{name}")
    return qualified


def _nodes(repo: str, path: str, module: str | None, payload: bytes) -> dict[str, Any]:
    facts = unpack(payload, ("defs", "nodes"))
    nodes = facts["nodes"]
    return {
        **_owner(repo, path, nodes.num_rows),
        "def_id": _ids(path, facts["defs"])[nodes["d"].to_numpy()],
        **{name: nodes[name].combine_chunks() for name in NODES.column_names[3:]},
    }


def _edges(repo: str, path: str, module: str | None, payload: bytes) -> dict[str, Any]:
    facts = unpack(payload, ("defs", "edges"))
    edges = facts["edges"]
    ids = _ids(path, facts["defs"])
    kinds = edges["kind"].combine_chunks().dictionary_encode()
    specs = [RELATIONSHIPS[kind] for kind in kinds.dictionary.to_pylist()]
    labels = edges["label"].combine_chunks().dictionary_encode()
    # Extractors that follow no scopes say so in the label of a reference.
    matched = labels.indices.to_numpy() == labels.dictionary.index(BY_NAME).as_py()
    references = np.isin(kinds.indices.to_numpy(), [i for i, spec in enumerate(specs) if spec.kind == "REF"])
    rules = pa.array(np.where(matched & references, len(specs), kinds.indices.to_numpy()))
    owner = _owner(repo, path, edges.num_rows)
    return {
        **owner,
        "kind": edges["kind"].combine_chunks(),
        "src_def": ids[edges["src_d"].to_numpy()],
        "src_n": edges["src_n"].combine_chunks(),
        "dst_repo": owner["repo"],
        "dst_path": owner["path"],
        "dst_def": ids[edges["dst_d"].to_numpy()],
        "dst_n": edges["dst_n"].combine_chunks(),
        "label": edges["label"].combine_chunks(),
        "method": pa.array([*(spec.method for spec in specs), BY_NAME], pa.string()).take(rules),
        "confidence": pa.array([*(spec.confidence for spec in specs), "guess"], pa.string()).take(rules),
        "caller_def": pa.nulls(edges.num_rows, pa.int64()),
    }


def _props(repo: str, path: str, module: str | None, payload: bytes) -> dict[str, Any]:
    facts = unpack(payload, ("defs", "props"))
    props = facts["props"]
    return {
        **_owner(repo, path, props.num_rows),
        "def_id": _ids(path, facts["defs"])[props["d"].to_numpy()],
        **{name: props[name].combine_chunks() for name in ("n", "name", "value")},
    }


def _external_nodes(links: pa.RecordBatch) -> pa.RecordBatch:
    """One node for each thing outside that a file names; work has each of them once."""
    count = links.num_rows
    zeros = pa.array(np.zeros(count, np.int32))
    columns = {
        "repo": links["repo"],
        "path": links["path"],
        "def_id": links["dst_def"],
        "kind": pa.repeat(EXTERNAL, count),
        "name": links["external"],
    }
    schema = arrow_schema(NODES.columns)
    return pa.record_batch(
        [columns.get(name, zeros).cast(schema.field(name).type) for name in schema.names], schema=schema
    )


def _ids(path: str, defs: pa.Table) -> "np.ndarray[Any, Any]":
    return np.array(def_ids(path, defs["descriptor"].to_pylist()), np.int64)


def _owner(repo: str, path: str, rows: int) -> dict[str, pa.Array]:
    return {"repo": pa.repeat(repo, rows), "path": pa.repeat(path, rows)}


def _plain(values: pa.Array, kind: pa.DataType) -> pa.Array:
    return values if values.type == kind else values.cast(kind)
