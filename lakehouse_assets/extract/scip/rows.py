"""Documents of an index as rows of the scip tables, column by column."""

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.scip_diagnostics import SCIP_DIAGNOSTICS
from lakehouse_assets.contracts.scip_documents import SCIP_DOCUMENTS
from lakehouse_assets.contracts.scip_occurrences import SCIP_OCCURRENCES
from lakehouse_assets.contracts.scip_symbols import SCIP_SYMBOLS
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.extract.scip.model import Document, Metadata, Range, Symbol
from lakehouse_assets.extract.scip.names import ENCODINGS, KINDS, SEVERITIES, TAGS, named

SCIP_TABLES: tuple[TableContract, ...] = (SCIP_OCCURRENCES, SCIP_SYMBOLS, SCIP_DIAGNOSTICS, SCIP_DOCUMENTS)
"""In the order in which they are written: a document's own row comes last."""

Columns = dict[str, list[Any]]


class ScipRows:
    """Rows of some documents, which `drain` hands over."""

    def __init__(self, repo: str, metadata: Metadata) -> None:
        self._repo = repo
        self._metadata = metadata
        self._columns = _no_rows()

    def __len__(self) -> int:
        """Rows so far, which is what memory goes by."""
        return sum(len(columns["path"]) for columns in self._columns.values())

    def add(self, document: Document, fingerprint: str) -> None:
        occurrences = self._add_occurrences(document)
        symbols = self._add_symbols(document)
        diagnostics = self._add_diagnostics(document)
        _extend(
            self._columns[SCIP_DOCUMENTS.name],
            1,
            repo=self._repo,
            path=document.path,
            indexer=self._metadata.tool,
            indexer_version=self._metadata.tool_version,
            language=document.language,
            position_encoding=named(ENCODINGS, document.position_encoding),
            fingerprint=fingerprint,
            occurrences=occurrences,
            symbols=symbols,
            diagnostics=diagnostics,
            text=document.text or None,
        )

    def drain(self) -> dict[str, pa.RecordBatch]:
        """The rows by table, and an empty start for the next."""
        columns, self._columns = self._columns, _no_rows()
        return {
            contract.name: pa.RecordBatch.from_pydict(columns[contract.name], schema=arrow_schema(contract.columns))
            for contract in SCIP_TABLES
        }

    def _add_occurrences(self, document: Document) -> int:
        held = document.occurrences
        if not held:
            return 0
        ranges, symbols, roles, kinds, documentation, enclosing, _ = zip(*held, strict=True)
        start_line, start_col, end_line, end_col = zip(*ranges, strict=True)
        _extend(
            self._columns[SCIP_OCCURRENCES.name],
            len(held),
            repo=self._repo,
            path=document.path,
            start_line=start_line,
            start_col=start_col,
            end_line=end_line,
            end_col=end_col,
            symbol=symbols,
            n=_numbered([(each.range, each.symbol) for each in held]),
            roles=roles,
            syntax_kind=kinds,
            documentation=documentation,
            enclosing_range=tuple(map(_range_text, enclosing)),
        )
        return len(held)

    def _add_symbols(self, document: Document) -> int:
        held = document.symbols
        if held:
            symbols, kinds, names, documentation, signatures, _, enclosing, _ = zip(*held, strict=True)
            _extend(
                self._columns[SCIP_SYMBOLS.name],
                len(held),
                repo=self._repo,
                path=document.path,
                symbol=symbols,
                n=_numbered(symbols),
                kind=tuple(named(KINDS, kind) for kind in kinds),
                display_name=names,
                documentation=documentation,
                signature=tuple(signature or None for signature in signatures),
                enclosing_symbol=enclosing,
                implements=_related(held, 2),
                referenced_with=_related(held, 1),
                type_definitions=_related(held, 3),
                defined_by=_related(held, 4),
            )
        return len(held)

    def _add_diagnostics(self, document: Document) -> int:
        held = sorted((each.range, diagnostic) for each in document.occurrences for diagnostic in each.diagnostics)
        if held:
            ranges = [place for place, _ in held]
            start_line, start_col, end_line, end_col = zip(*ranges, strict=True)
            severities, codes, messages, sources, tags = zip(*(diagnostic for _, diagnostic in held), strict=True)
            _extend(
                self._columns[SCIP_DIAGNOSTICS.name],
                len(held),
                repo=self._repo,
                path=document.path,
                start_line=start_line,
                start_col=start_col,
                end_line=end_line,
                end_col=end_col,
                n=_numbered(ranges),
                severity=tuple(named(SEVERITIES, severity) for severity in severities),
                code=codes,
                message=messages,
                source=sources,
                tags=tuple([named(TAGS, tag) for tag in each] for each in tags),
            )
        return len(held)


def _no_rows() -> dict[str, Columns]:
    return {contract.name: {name: [] for name in contract.column_names} for contract in SCIP_TABLES}


def _extend(columns: Columns, rows: int, **values: Any) -> None:
    """Add rows; what is no tuple is the same for all of them."""
    for name, held in columns.items():
        value = values[name]
        held.extend(value if isinstance(value, tuple) else [value] * rows)


def _numbered(keys: Sequence[Hashable]) -> tuple[int, ...]:
    """0 for each key, counted up for those that are the same as an earlier one."""
    if len(set(keys)) == len(keys):
        return (0,) * len(keys)
    return tuple(_counted(keys))


def _counted(keys: Sequence[Hashable]) -> Iterator[int]:
    seen: dict[Hashable, int] = {}
    for key in keys:
        seen[key] = seen.get(key, -1) + 1
        yield seen[key]


def _related(symbols: Sequence[Symbol], flag: int) -> tuple[list[str], ...]:
    """For each symbol those that it has a relationship to, in which the flag at this place is set."""
    return tuple([each.symbol for each in symbol.relationships if each[flag]] for symbol in symbols)


def _range_text(whole: Range) -> str | None:
    return "{}:{}-{}:{}".format(*whole) if whole else None
