"""A few files, linked in this process, and questions about the result."""

import textwrap
from collections.abc import Mapping
from functools import cached_property

from lakehouse_assets.extract.symbols import external_symbol, symbol_id, symbol_of
from lakehouse_assets.link.callgraph import dotted
from lakehouse_assets.link.local import Sources, call_graph_of, link_sources
from lakehouse_assets.link.modules import ModuleIndex
from lakehouse_assets.link.repository import LinkResult
from lakehouse_assets.link.state import LinkState
from lakehouse_assets.link.world import Neighbours

Row = tuple[object, ...]


class Linked:
    """Texts by path, dedented, linked from scratch or from an earlier state."""

    def __init__(
        self,
        files: Mapping[str, str],
        previous: LinkState | None = None,
        neighbours: Neighbours | None = None,
        repo: str = "local",
    ) -> None:
        self.sources = Sources({path: textwrap.dedent(text) for path, text in files.items()})
        self.result: LinkResult = link_sources(self.sources, repo=repo, previous=previous, neighbours=neighbours)

    @cached_property
    def graph(self) -> dict[str, set[str]]:
        return {name: set(callees) for name, callees in call_graph_of(self.sources, self.result).items()}

    def calls(self, caller: str) -> set[str]:
        """Dotted names of what a function or module calls."""
        return self.graph[caller]

    def links(self, kind: str) -> set[tuple[str, str, str, str, str]]:
        """Source symbol, target symbol (or outside name), label, method and confidence of all links of a kind."""
        symbols = {}
        for path in self.sources.texts:
            for descriptor in self.sources.summary(path).get("descriptors", [""]):
                symbol = symbol_of(path, descriptor)
                symbols[symbol_id(symbol)] = symbol
        columns = self.result.links
        found = set()
        for i, there in enumerate(columns["kind"]):
            if there == kind:
                outside = columns["external"][i]
                target = columns["dst_def"][i]
                assert outside is None or target == symbol_id(external_symbol(outside))
                shown = outside or symbols.get(target, f"{columns['dst_repo'][i]}:{columns['dst_path'][i]}")
                how = (columns["label"][i], columns["method"][i], columns["confidence"][i])
                found.add((symbols[columns["src_def"][i]], shown, *how))
        return found

    def callers(self) -> set[tuple[str, str]]:
        """Dotted names of who runs a call and of what is called, for all calls inside the repository."""
        index = ModuleIndex(self.sources.blobs)
        names = {
            symbol_id(symbol_of(path, descriptor)): dotted(index.name_of(path), descriptor)
            for path in self.sources.texts
            for descriptor in self.sources.summary(path).get("descriptors", [""])
        }
        columns = (self.result.links[name] for name in ("kind", "caller_def", "dst_def"))
        return {(names[c], names[t]) for kind, c, t in zip(*columns, strict=True) if kind == "CALL" and t in names}

    def how(self, caller: str, callee: str) -> tuple[str, str]:
        """Method and confidence of the call from one symbol to another; fails unless there is one."""
        found = {(m, c) for source, target, _, m, c in self.links("CALL") if (source, target) == (caller, callee)}
        assert len(found) == 1, (caller, callee, found, self.links("CALL"))
        return found.pop()

    def imports(self, path: str) -> dict[str, tuple[str, str, str | None]]:
        """By imported name (or module): kind, module and the path where it lands."""
        columns = self.result.imports_resolved
        return {
            columns["name"][i] or columns["module"][i]: (
                columns["kind"][i],
                columns["module"][i],
                columns["target_path"][i],
            )
            for i, there in enumerate(columns["path"])
            if there == path
        }

    def exports(self, path: str) -> dict[str, tuple[str, str | None, str]]:
        """By name: kind, path where it lands, and how it got here; public names only."""
        columns = self.result.exported_defs
        return {
            columns["name"][i]: (columns["kind"][i], columns["target_path"][i], columns["via"][i])
            for i, there in enumerate(columns["path"])
            if there == path and columns["is_public"][i]
        }


def rows(result: LinkResult) -> dict[str, set[Row]]:
    """All rows of a result by table, as sets."""
    tables = {
        "links": result.links,
        "imports_resolved": result.imports_resolved,
        "exported_defs": result.exported_defs,
        "module_index": result.module_index,
    }
    return {name: set(zip(*columns.values(), strict=True)) for name, columns in tables.items()}


def state_of(result: LinkResult) -> LinkState:
    return LinkState(result.state.tables())


def kept(state: LinkState) -> dict[str, list[Row]]:
    """What the state holds, table by table, in a fixed order."""
    return {
        name: sorted(zip(*(list(columns[column]) for column in sorted(columns)), strict=True))
        for name, columns in state.tables.items()
    }
