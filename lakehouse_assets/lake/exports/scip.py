"""The graph as a SCIP index, document by document.

Definitions and variables that other files refer to have global symbols, variables of a file alone local ones. Guesses
are left out: whoever jumps to a definition wants the right one.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.extract.scip.assembly import Bound, Defined, Referred, Related, document_of
from lakehouse_assets.extract.scip.encoding import encode_document, encode_external_symbol, encode_metadata
from lakehouse_assets.extract.scip.model import Document, Metadata, Symbol
from lakehouse_assets.extract.scip.places import bound_name
from lakehouse_assets.extract.scip.symbols import definition_descriptors, external_descriptors, name, symbol_prefix
from lakehouse_assets.lake.exports import scip_sql
from lakehouse_assets.lake.exports.atomic import atomic_file
from lakehouse_assets.lake.exports.graph import Graph, open_graph
from lakehouse_assets.lake.ledger import Ledger
from lakehouse_assets.lake.tables import Lake

_COMMIT_DIGITS = 12


@dataclass(frozen=True, kw_only=True)
class ScipExport:
    documents: int
    occurrences: int
    symbols: int
    external_symbols: int
    bytes: int


def export_scip(lake: Lake, repository: str, path: Path, *, tool_version: str) -> ScipExport:
    occurrences = symbols = documents = 0
    with open_graph(lake, repository) as graph, atomic_file(path) as out:
        _name_everything(graph, {**_versions(lake), repository: graph.commit[:_COMMIT_DIGITS]})
        metadata = Metadata(tool="lakehouse", tool_version=tool_version, project_root="file:///", text_encoding=1)
        out.write(encode_metadata(metadata))
        texts = _Texts(graph)
        own: set[str] = set()
        outside: set[str] = set()
        for paths in graph.groups():
            for document in _documents(graph, paths, texts):
                out.write(encode_document(document))
                documents += 1
                occurrences += len(document.occurrences)
                symbols += len(document.symbols)
                own.update(each.symbol for each in document.symbols)
                outside.update(_mentioned(document))
            report("export", repository, "written", documents=documents)
        outside -= own
        for symbol in sorted(outside):
            out.write(encode_external_symbol(Symbol(symbol)))
        size = out.tell()
    return ScipExport(
        documents=documents, occurrences=occurrences, symbols=symbols, external_symbols=len(outside), bytes=size
    )


def _mentioned(document: Document) -> Iterator[str]:
    """Global symbols that a document speaks of; locals are told of where they are."""
    for occurrence in document.occurrences:
        if not occurrence.symbol.startswith("local "):
            yield occurrence.symbol
    for symbol in document.symbols:
        for relationship in symbol.relationships:
            yield relationship.symbol


def _versions(lake: Lake) -> dict[str, str]:
    """The commit that each repository was last read at, in short."""
    latest = Ledger(lake).latest([COMMITS])
    return {
        partition: entry.cursor[:_COMMIT_DIGITS]
        for (asset, partition), entry in latest.items()
        if asset == COMMITS.name
    }


def _name_everything(graph: Graph, versions: dict[str, str]) -> None:
    """Make the tables `symbols`, `variables` and `externals`: the symbol of all that edges of the graph lead to."""
    prefixes: dict[tuple[str, str | None], str] = {}

    def prefix(repo: str, language: str | None) -> str:
        known = prefixes.get((repo, language))
        if known is None:
            manager = "-".join((language or "").lower().split())
            known = prefixes[repo, language] = symbol_prefix(manager, repo, versions.get(repo, ""))
        return known

    columns: dict[str, list[Any]] = {"repo": [], "def_id": [], "symbol": []}
    by_id: dict[tuple[str, int], str] = {}
    for repo, path, def_id, own, language in graph.rows(scip_sql.definitions(graph.repo)):
        symbol = prefix(repo, language) + definition_descriptors(path, own)
        by_id[repo, def_id] = symbol
        _append(columns, repo, def_id, symbol)
    _store(graph, "symbols", columns, [pa.string(), pa.int64(), pa.string()])
    taken = set(by_id.values())
    columns = {"repo": [], "def_id": [], "n": [], "symbol": []}
    for repo, def_id, n, kind, shown, crosses in graph.rows(scip_sql.variables(graph.repo)):
        around = by_id[repo, def_id]
        bound = bound_name(kind, shown)
        symbol = f"{around}{name(bound)}."
        if symbol in taken:
            # Comprehensions have variables of their own, and two languages' kinds of names may meet.
            if not crosses:
                continue
            symbol = f"{around}{name(f'{bound}({n})')}."
        taken.add(symbol)
        _append(columns, repo, def_id, n, symbol)
    _store(graph, "variables", columns, [pa.string(), pa.int64(), pa.int32(), pa.string()])
    columns = {"def_id": [], "symbol": []}
    for def_id, dotted in graph.rows(scip_sql.externals(graph.repo)):
        package, descriptors = external_descriptors(dotted)
        _append(columns, def_id, symbol_prefix("python", package, "") + descriptors)
    _store(graph, "externals", columns, [pa.int64(), pa.string()])


def _append(columns: dict[str, list[Any]], *values: object) -> None:
    for held, value in zip(columns.values(), values, strict=True):
        held.append(value)


def _store(graph: Graph, table: str, columns: dict[str, list[Any]], types: list[pa.DataType]) -> None:
    rows = pa.table({key: pa.array(held, kind) for (key, held), kind in zip(columns.items(), types, strict=True)})
    graph.sql.register("rows", rows)
    graph.sql.execute(f"CREATE OR REPLACE TABLE {table} AS SELECT * FROM rows")
    graph.sql.unregister("rows")


class _Texts:
    """Texts and languages of the repository's files, in the order of paths: one pass over `blobs`."""

    def __init__(self, graph: Graph) -> None:
        self._rows = graph.rows(scip_sql.texts(graph.repo))
        self._next = next(self._rows, None)

    def at(self, path: str) -> tuple[str | None, str]:
        while self._next is not None and self._next[0] < path:
            self._next = next(self._rows, None)
        if self._next is not None and self._next[0] == path:
            return self._next[1], self._next[2] or ""
        return None, ""


def _documents(graph: Graph, paths: Iterable[str], texts: _Texts) -> Iterator[Document]:
    for statement in scip_sql.PLACES:
        graph.sql.execute(statement)
    definitions: dict[str, list[Defined]] = {}
    for path, symbol, kind, shown, around, signature, docstring, *whole in graph.rows(scip_sql.GROUP_DEFINITIONS):
        definition = Defined(symbol, kind, shown, tuple(whole), around, signature, docstring)
        definitions.setdefault(path, []).append(definition)
    variables: dict[str, list[tuple[str, Bound]]] = {}
    for path, symbol, kind, shown, *whole in graph.rows(scip_sql.group_variables(graph.repo)):
        variables.setdefault(path, []).append((symbol, Bound(kind, shown, tuple(whole))))
    references: dict[str, list[Referred]] = {}
    for path, edge, kind, shown, *rest in graph.rows(scip_sql.group_references(graph.repo)):
        whole, symbol, is_import, bound_kind, bound_as, *bound = tuple(rest[:4]), *rest[4:]
        binding = Bound(bound_kind, bound_as, tuple(bound)) if symbol is None and bound_as else None
        made = Referred(edge, kind, shown, whole, symbol, binding, is_import)
        references.setdefault(path, []).append(made)
    relations: dict[str, list[Related]] = {}
    for path, *related in graph.rows(scip_sql.group_relations(graph.repo)):
        relations.setdefault(path, []).append(Related(*related))
    for path in paths:
        language, text = texts.at(path)
        yield document_of(
            path,
            language,
            text,
            definitions.get(path, []),
            variables.get(path, []),
            references.get(path, []),
            relations.get(path, []),
        )
