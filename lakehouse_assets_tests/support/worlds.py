"""A small graph, written down by names: who defines what, who uses whom, who imports what, what changed."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from lakehouse_assets.contracts.definitions import DEFINITIONS
from lakehouse_assets.contracts.diffs import DIFFS
from lakehouse_assets.contracts.file_changes import FILE_CHANGES
from lakehouse_assets.contracts.graph_versions import GRAPH_VERSIONS
from lakehouse_assets.contracts.imports_resolved import IMPORTS_RESOLVED
from lakehouse_assets.contracts.links import LINKS
from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.hashing import json_text
from lakehouse_assets.extract.symbols import symbol_id, symbol_of
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.cursors import Position
from lakehouse_assets_tests.support.writes import write

Row = dict[str, Any]


def symbol(name: str) -> str:
    """`a.py:f` as a symbol; `a.py` alone is the file."""
    path, _, rest = name.partition(":")
    return symbol_of(path, rest)


def ident(name: str) -> int:
    return symbol_id(symbol(name))


def rows(contract: TableContract, values: Sequence[Row]) -> pa.Table:
    """The rows; columns that they leave out are as empty as the contract allows."""
    values_of = {"string": "", "boolean": False, "timestamp": datetime(2026, 1, 1, tzinfo=UTC)}
    empty = {each.name: values_of.get(each.type, 0) for each in contract.columns if not each.nullable}
    empty |= {each.name: each.one_of[0] for each in contract.columns if each.one_of and not each.nullable}
    return pa.Table.from_pylist([{**empty, **row} for row in values], schema=arrow_schema(contract.columns))


class World:
    """A small graph, written down by names: definitions, who uses whom, who imports what."""

    def __init__(self) -> None:
        self.definitions: list[Row] = []
        self.links: list[Row] = []
        self.imports: list[Row] = []
        self.diffs: list[Row] = []

    def define(self, *names: str, kind: str = "function", inside: str | None = None, repo: str = "r") -> "World":
        for name in names:
            path = name.partition(":")[0]
            parent = None if ":" not in name else ident(inside or path)
            row = {"repo": repo, "path": path, "def_id": ident(name), "symbol": symbol(name), "parent_id": parent}
            dotted = name.replace(".py", "").replace(":", ".").removesuffix("().")
            self.definitions.append({**row, "kind": "module" if ":" not in name else kind, "qualified_name": dotted})
        return self

    def use(self, source: str, target: str, kind: str = "CALL", repo: str = "r", dst_n: int = 0) -> "World":
        row = {"repo": repo, "path": source.partition(":")[0], "kind": kind, "src_def": ident(source), "src_n": 1}
        row |= {"dst_repo": "r", "dst_path": target.partition(":")[0], "dst_def": ident(target), "dst_n": dst_n}
        self.links.append(row)
        return self

    def imports_from(self, source: str, target: str, name: str, repo: str = "r") -> "World":
        row = {"repo": repo, "path": source, "def_id": ident(source), "n": len(self.imports), "name": name}
        row |= {"module": target.partition(":")[0].removesuffix(".py"), "kind": "first_party", "target_repo": "r"}
        self.imports.append({**row, "target_path": target.partition(":")[0], "target_def": ident(target)})
        return self

    def change(self, name: str, change: str = "body_changed", old: str | None = None) -> "World":
        kind = "module" if ":" not in name else "function"
        row = {"repo": "r", "path": name.partition(":")[0], "symbol": symbol(name), "def_id": ident(name), "kind": kind}
        before = old or name
        row |= {"change": change, "old_symbol": symbol(before), "old_def_id": ident(before)}
        self.diffs.append({**row, "old_path": before.partition(":")[0]})
        return self

    def tables(self) -> dict[str, pa.Table]:
        files = [{"repo": "r", "path": path} for path in sorted({row["path"] for row in self.diffs})]
        return {
            "diffs": rows(DIFFS, self.diffs),
            "file_changes": rows(FILE_CHANGES, files),
            "links": rows(LINKS, self.links),
            "imports_resolved": rows(IMPORTS_RESOLVED, self.imports),
            "definitions": rows(DEFINITIONS, self.definitions),
        }


GRAPH = (DEFINITIONS, LINKS, IMPORTS_RESOLVED, DIFFS, FILE_CHANGES)


def publish(lake: Lake, world: World, commit: str, *, day: int = 1) -> None:
    """Bring the graph's tables to the world's state, and say that they tell of the commit."""
    tables = world.tables()
    for contract in GRAPH:
        position = Position(commit=commit).text
        write(lake, contract, tables[contract.name], partitions=("r",), run_id=commit, cursor=position)
    versions = json_text({contract.name: lake.open(contract).version() for contract in GRAPH})
    published_at = datetime(2026, 1, day, tzinfo=UTC)
    told = [{"repo": "r", "commit_sha": commit, "tables": versions, "published_at": published_at}]
    write(lake, GRAPH_VERSIONS, rows(GRAPH_VERSIONS, told), partitions=("r",), owners=(), run_id=commit)
