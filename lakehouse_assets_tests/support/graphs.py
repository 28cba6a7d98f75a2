"""Small graphs in a lake: real facts of real sources, and links between them as a test names them."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from lakehouse_assets.contracts.blobs import BLOBS
from lakehouse_assets.contracts.definitions import DEFINITIONS
from lakehouse_assets.contracts.edges import EDGES
from lakehouse_assets.contracts.graph_versions import GRAPH_VERSIONS, PUBLISHED
from lakehouse_assets.contracts.links import LINKS
from lakehouse_assets.contracts.nodes import NODES
from lakehouse_assets.contracts.schemas import arrow_schema, arrow_type
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.hashing import json_text
from lakehouse_assets.extract.extractor import extract
from lakehouse_assets.extract.packing import pack
from lakehouse_assets.extract.symbols import external_symbol, symbol_id, symbol_of
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.link.placing import place_definitions, place_edges, place_nodes
from lakehouse_assets_tests.support.writes import table_of, write

End = tuple[str, str, int]
"""Path, descriptor and number of a node."""


@dataclass(kw_only=True)
class SmallGraph:
    """The rows of one repository's graph before they are written."""

    repo: str
    files: Mapping[str, str]
    language: str = "Python"
    definitions: list[dict[str, Any]] = field(init=False)
    nodes: list[dict[str, Any]] = field(init=False)
    edges: list[dict[str, Any]] = field(init=False)

    def __post_init__(self) -> None:
        paths = list(self.files)
        batch = pa.RecordBatch.from_pydict(
            {
                "repo": [self.repo] * len(paths),
                "path": paths,
                "module": [path.removesuffix(".py").replace("/", ".") for path in paths],
                "payload": [pack(extract(text, self.language)) for text in self.files.values()],
                **{each.name: pa.nulls(len(paths), arrow_type(each.type)) for each in LINKS.columns[2:]},
            }
        )
        self.definitions, self.nodes, self.edges = (
            [row for made in place(iter([batch])) for row in made.to_pylist()]
            for place in (place_definitions, place_nodes, place_edges)
        )

    def node(self, path: str, kind: str, name: str | None = None, nth: int = 0) -> End:
        """The nth node of this kind and name in a file."""
        symbols = {row["def_id"]: row["symbol"] for row in self.definitions}
        found = [
            row
            for row in self.nodes
            if (row["path"], row["kind"]) == (path, kind) and (name is None or row["name"] == name)
        ]
        row = sorted(found, key=lambda row: (symbols[row["def_id"]], row["n"]))[nth]
        return path, symbols[row["def_id"]].removeprefix(symbol_of(path, "")), row["n"]

    def link(self, kind: str, source: End, target: End | str, *, repo: str | None = None, **more: Any) -> None:
        """An edge to a node, in another repository if `repo` names one, or to a dotted name outside."""
        path, descriptor, n = source
        if isinstance(target, str):
            target_id, target_path, target_n = symbol_id(external_symbol(target)), path, 0
            self._external(path, target_id, target)
        else:
            target_path, target_descriptor, target_n = target
            target_id = symbol_id(symbol_of(target_path, target_descriptor))
        self.edges.append(
            {
                "repo": self.repo,
                "path": path,
                "kind": kind,
                "src_def": symbol_id(symbol_of(path, descriptor)),
                "src_n": n,
                "dst_repo": repo or self.repo,
                "dst_path": target_path,
                "dst_def": target_id,
                "dst_n": target_n,
                "label": "",
                "method": "import",
                "confidence": "certain",
                "caller_def": symbol_id(symbol_of(path, descriptor)) if kind == "CALL" else None,
                **more,
            }
        )

    def _external(self, path: str, def_id: int, name: str) -> None:
        row = dict.fromkeys(NODES.column_names, 0) | {
            "repo": self.repo,
            "path": path,
            "def_id": def_id,
            "kind": "EXTERNAL",
            "name": name,
        }
        if row not in self.nodes:
            self.nodes.append(row)

    def save(self, lake: Lake) -> None:
        shas = {path: hashlib.sha1(text.encode()).hexdigest() for path, text in self.files.items()}
        snapshots = [
            {
                "repo": self.repo,
                "path": path,
                "blob_sha": shas[path],
                "mode": "100644",
                "kind": "file",
                "size": len(text),
                "language": self.language,
                "is_generated": False,
                "is_vendored": False,
                "is_test": False,
            }
            for path, text in self.files.items()
        ]
        blobs = [
            {"blob_sha": shas[path], "size": len(text), "encoding": "utf-8", "text": text, "reason": None}
            for path, text in self.files.items()
        ]
        partitions = [self.repo]
        run = f"graph-{self.repo}"
        tables: Sequence[tuple[TableContract, list[dict[str, Any]]]] = [
            (SNAPSHOTS, snapshots),
            (DEFINITIONS, self.definitions),
            (NODES, self.nodes),
            (EDGES, self.edges),
        ]
        for contract, rows in tables:
            write(lake, contract, table_of(contract, rows), partitions=partitions, run_id=run, executor="delta-rs")
        schema = arrow_schema(BLOBS.columns)
        unique = {row["blob_sha"]: row for row in blobs}
        rows = pa.Table.from_pylist(list(unique.values()), schema=schema)
        write(lake, BLOBS, rows, partitions={self.repo: ()}, run_id=run, executor="delta-rs")
        publish(lake, self.repo, commit="")


def publish(lake: Lake, repo: str, *, commit: str) -> None:
    """Say that the tables, as they are, tell of a commit of the repository."""
    versions = {each.name: lake.open(each).version() for each in PUBLISHED if lake.exists(each)}
    row = {"repo": repo, "commit_sha": commit, "tables": json_text(versions), "published_at": datetime.now(UTC)}
    told = table_of(GRAPH_VERSIONS, [row])
    write(lake, GRAPH_VERSIONS, told, partitions=[repo], owners=(), run_id=f"{repo} {commit}", executor="delta-rs")
