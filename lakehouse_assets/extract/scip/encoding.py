"""The parts of an index to bytes. An index is its fields one after the other, so it can be written piece by piece."""

from lakehouse_assets.extract.scip.model import Diagnostic, Document, Metadata, Occurrence, Range, Relationship, Symbol
from lakehouse_assets.extract.scip.wire import bytes_field, number_field, packed_field, text_field, texts_field


def encode_metadata(metadata: Metadata) -> bytes:
    """The field that has to come first."""
    tool = text_field(1, metadata.tool) + text_field(2, metadata.tool_version) + texts_field(3, metadata.arguments)
    return bytes_field(
        1,
        bytes_field(2, tool) + text_field(3, metadata.project_root) + number_field(4, metadata.text_encoding),
    )


def encode_document(document: Document) -> bytes:
    parts = [text_field(1, document.path)]
    parts += [bytes_field(2, _occurrence(occurrence)) for occurrence in document.occurrences]
    parts += [bytes_field(3, _symbol(symbol)) for symbol in document.symbols]
    parts += [text_field(4, document.language), text_field(5, document.text)]
    parts.append(number_field(6, document.position_encoding))
    return bytes_field(2, b"".join(parts))


def encode_external_symbol(symbol: Symbol) -> bytes:
    return bytes_field(3, _symbol(symbol))


def _occurrence(occurrence: Occurrence) -> bytes:
    return b"".join(
        [
            packed_field(1, _short(occurrence.range)),
            text_field(2, occurrence.symbol),
            number_field(3, occurrence.roles),
            texts_field(4, occurrence.documentation),
            number_field(5, occurrence.syntax_kind),
            *[bytes_field(6, _diagnostic(diagnostic)) for diagnostic in occurrence.diagnostics],
            packed_field(7, _short(occurrence.enclosing_range)),
        ]
    )


def _short(whole: Range) -> Range:
    """Three numbers for a range on one line, as SCIP has it."""
    return (whole[0], whole[1], whole[3]) if whole and whole[0] == whole[2] else whole


def _diagnostic(diagnostic: Diagnostic) -> bytes:
    return b"".join(
        [
            number_field(1, diagnostic.severity),
            text_field(2, diagnostic.code),
            text_field(3, diagnostic.message),
            text_field(4, diagnostic.source),
            packed_field(5, diagnostic.tags),
        ]
    )


def _symbol(symbol: Symbol) -> bytes:
    parts = [text_field(1, symbol.symbol), texts_field(3, symbol.documentation)]
    parts += [bytes_field(4, _relationship(relationship)) for relationship in symbol.relationships]
    parts += [number_field(5, symbol.kind), text_field(6, symbol.display_name)]
    if symbol.signature or symbol.signature_language:
        parts.append(bytes_field(7, text_field(4, symbol.signature_language) + text_field(5, symbol.signature)))
    parts.append(text_field(8, symbol.enclosing_symbol))
    return b"".join(parts)


def _relationship(relationship: Relationship) -> bytes:
    symbol, *flags = relationship
    return text_field(1, symbol) + b"".join([number_field(i, int(flag)) for i, flag in enumerate(flags, start=2)])
