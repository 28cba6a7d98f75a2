"""Bytes of SCIP's messages to the parts of an index. Where a field that should come once comes again, the last counts.

Signatures are `at` and `end` in `data`, whose first byte is at offset `base` of its file.
"""

from lakehouse_assets.extract.scip.model import Diagnostic, Document, Metadata, Occurrence, Range, Relationship, Symbol
from lakehouse_assets.extract.scip.wire import WireError, fields, number_tag, packed, signed, text, text_tag

_TEXT_1, _TEXT_2, _TEXT_3, _TEXT_4 = text_tag(1), text_tag(2), text_tag(3), text_tag(4)
_TEXT_5, _TEXT_6, _TEXT_7, _TEXT_8 = text_tag(5), text_tag(6), text_tag(7), text_tag(8)
_NUMBER_1, _NUMBER_2, _NUMBER_3, _NUMBER_4 = number_tag(1), number_tag(2), number_tag(3), number_tag(4)
_NUMBER_5, _NUMBER_6, _NUMBER_7 = number_tag(5), number_tag(6), number_tag(7)

DOCUMENT_PATH, DOCUMENT_OCCURRENCE, DOCUMENT_SYMBOL = _TEXT_1, _TEXT_2, _TEXT_3


def decode_metadata(data: bytes, base: int) -> Metadata:
    tool = version = root = ""
    arguments: list[str] = []
    encoding = 0
    for tag, a, b in fields(data, 0, len(data), base):
        if tag == _TEXT_2:
            for inner, c, d in fields(data, a, b, base):
                if inner == _TEXT_1:
                    tool = text(data, c, d, base)
                elif inner == _TEXT_2:
                    version = text(data, c, d, base)
                elif inner == _TEXT_3:
                    arguments.append(text(data, c, d, base))
        elif tag == _TEXT_3:
            root = text(data, a, b, base)
        elif tag == _NUMBER_4:
            encoding = a
    return Metadata(
        tool=tool, tool_version=version, arguments=tuple(arguments), project_root=root, text_encoding=encoding
    )


def decode_document(data: bytes, base: int) -> Document:
    path = language = content = ""
    encoding = 0
    occurrences: list[Occurrence] = []
    symbols: list[Symbol] = []
    for tag, a, b in fields(data, 0, len(data), base):
        if tag == DOCUMENT_OCCURRENCE:
            occurrences.append(_occurrence(data, a, b, base))
        elif tag == DOCUMENT_SYMBOL:
            symbols.append(decode_symbol(data, a, b, base))
        elif tag == DOCUMENT_PATH:
            path = text(data, a, b, base)
        elif tag == _TEXT_4:
            language = text(data, a, b, base)
        elif tag == _TEXT_5:
            content = text(data, a, b, base)
        elif tag == _NUMBER_6:
            encoding = a
    return Document(
        path=path,
        language=language,
        text=content,
        position_encoding=encoding,
        occurrences=occurrences,
        symbols=symbols,
    )


def decode_symbol(data: bytes, at: int, end: int, base: int) -> Symbol:
    symbol = display_name = enclosing = signature = signature_language = ""
    kind = 0
    documentation: list[str] = []
    relationships: list[Relationship] = []
    for tag, a, b in fields(data, at, end, base):
        if tag == _TEXT_1:
            symbol = text(data, a, b, base)
        elif tag == _TEXT_3:
            documentation.append(text(data, a, b, base))
        elif tag == _TEXT_4:
            relationships.append(_relationship(data, a, b, base))
        elif tag == _NUMBER_5:
            kind = signed(a)
        elif tag == _TEXT_6:
            display_name = text(data, a, b, base)
        elif tag == _TEXT_7:
            for inner, c, d in fields(data, a, b, base):
                if inner == _TEXT_5:
                    signature = text(data, c, d, base)
                elif inner == _TEXT_4:
                    signature_language = text(data, c, d, base)
        elif tag == _TEXT_8:
            enclosing = text(data, a, b, base)
    return Symbol(
        symbol,
        kind,
        display_name,
        tuple(documentation),
        signature,
        signature_language,
        enclosing,
        tuple(relationships),
    )


def _occurrence(data: bytes, at: int, end: int, base: int) -> Occurrence:
    numbers: tuple[int, ...] = ()
    enclosing: tuple[int, ...] = ()
    symbol = ""
    roles = syntax_kind = 0
    documentation: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    for tag, a, b in fields(data, at, end, base):
        if tag == _TEXT_1:
            numbers += packed(data, a, b, base)
        elif tag == _TEXT_2:
            symbol = text(data, a, b, base)
        elif tag == _NUMBER_3:
            roles = signed(a)
        elif tag == _NUMBER_5:
            syntax_kind = signed(a)
        elif tag == _TEXT_7:
            enclosing += packed(data, a, b, base)
        elif tag == _TEXT_4:
            documentation += (text(data, a, b, base),)
        elif tag == _TEXT_6:
            diagnostics += (_diagnostic(data, a, b, base),)
        elif tag == _NUMBER_1:  # numbers may also come one by one
            numbers += (signed(a),)
        elif tag == _NUMBER_7:
            enclosing += (signed(a),)
    return Occurrence(
        _range(numbers, base + at),
        symbol,
        roles,
        syntax_kind,
        documentation,
        _range(enclosing, base + at) if enclosing else (),
        diagnostics,
    )


def _range(numbers: tuple[int, ...], offset: int) -> Range:
    count = len(numbers)
    if count == 3:
        line, start, end = numbers
        whole = (line, start, line, end)
    elif count == 4:
        whole = numbers
    else:
        raise WireError(offset, f"an occurrence has a range of {count} numbers; three or four make one")
    if whole[0] < 0 or whole[1] < 0 or whole[:2] > whole[2:] or max(whole) > 0x7FFFFFFF:
        raise WireError(offset, f"an occurrence has the range {numbers}, which ends before it begins or is none")
    return whole


def _diagnostic(data: bytes, at: int, end: int, base: int) -> Diagnostic:
    severity = 0
    code = message = source = ""
    tags: tuple[int, ...] = ()
    for tag, a, b in fields(data, at, end, base):
        if tag == _NUMBER_1:
            severity = signed(a)
        elif tag == _TEXT_2:
            code = text(data, a, b, base)
        elif tag == _TEXT_3:
            message = text(data, a, b, base)
        elif tag == _TEXT_4:
            source = text(data, a, b, base)
        elif tag == _TEXT_5:
            tags += packed(data, a, b, base)
        elif tag == _NUMBER_5:
            tags += (signed(a),)
    return Diagnostic(severity, code, message, source, tags)


def _relationship(data: bytes, at: int, end: int, base: int) -> Relationship:
    symbol = ""
    flags = {_NUMBER_2: False, _NUMBER_3: False, _NUMBER_4: False, _NUMBER_5: False}
    for tag, a, b in fields(data, at, end, base):
        if tag == _TEXT_1:
            symbol = text(data, a, b, base)
        elif tag in flags:
            flags[tag] = a != 0
    return Relationship(symbol, flags[_NUMBER_2], flags[_NUMBER_3], flags[_NUMBER_4], flags[_NUMBER_5])
