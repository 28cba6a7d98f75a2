"""An index file read document by document, in the order of paths: memory holds one document, not the index.

A first pass goes over the outer fields only. It finds where each document is, and its fingerprint: the sum of its
fields' hashes, so that an indexer that writes the same in another order changes nothing. Documents are decoded when
they are asked for. A path that comes twice is one document, as Sourcegraph's own readers have it.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from xxhash import xxh64_intdigest

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.hashing import fingerprint
from lakehouse_assets.extract.scip.decoding import DOCUMENT_PATH, decode_document, decode_metadata, decode_symbol
from lakehouse_assets.extract.scip.model import Document, Metadata, Occurrence, Symbol
from lakehouse_assets.extract.scip.wire import WireError, fields, read_varint, text, text_tag

_METADATA, _DOCUMENT, _EXTERNAL_SYMBOL = text_tag(1), text_tag(2), text_tag(3)
_LONGEST_HEAD = 20
_MASK = (1 << 64) - 1

Piece = tuple[int, int]
"""Offset and size of a message in the file."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """Where a document is in the file. `externals` are symbols that no document defines."""

    path: str
    fingerprint: str
    documents: tuple[Piece, ...] = ()
    externals: tuple[Piece, ...] = ()


class Index:
    """An open index. `name` is what errors call it."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file = file
        self._name = name
        self._size = os.fstat(file.fileno()).st_size
        self._documents: dict[str, list[Piece]] = {}
        self._externals: list[Piece] = []
        self._sums: dict[str, int] = {}
        external_sum = 0
        metadata: Metadata | None = None
        with self._explained():
            for began, tag, piece in self._outer_fields():
                if metadata is None:
                    if tag != _METADATA:
                        raise WireError(began, "an index begins with its metadata, and this is something else")
                    metadata = decode_metadata(self._read(piece), piece[0])
                elif tag == _DOCUMENT:
                    self._note_document(piece)
                elif tag == _EXTERNAL_SYMBOL:
                    self._externals.append(piece)
                    external_sum += xxh64_intdigest(self._read(piece))
                elif tag == _METADATA:
                    raise WireError(began, "the metadata comes a second time")
            if metadata is None:
                raise WireError(0, "the file is empty")
        self.metadata = metadata
        self._external_sum = external_sum

    @property
    def external_path(self) -> str:
        """What stands for the path of symbols that no document defines; each indexer has its own."""
        return f"<{self.metadata.tool}>"

    def entries(self) -> list[Entry]:
        """All documents, in the order of paths."""
        entries = [
            Entry(path=path, fingerprint=_hex(self._sums[path]), documents=tuple(pieces))
            for path, pieces in sorted(self._documents.items())
        ]
        if self._externals:
            externals = tuple(self._externals)
            entries.append(
                Entry(path=self.external_path, fingerprint=_hex(self._external_sum), externals=externals),
            )
        return sorted(entries, key=lambda entry: entry.path)

    @property
    def fingerprint(self) -> str:
        """Of all that the index says, whatever the order."""
        metadata = self.metadata
        parts = [text for entry in self.entries() for text in (entry.path, entry.fingerprint)]
        return fingerprint([metadata.tool, metadata.tool_version, *parts])

    def document(self, entry: Entry, *, as_written: bool = False) -> Document:
        """Decode one document; its occurrences and symbols are sorted, unless wanted as they stand in the file."""
        with self._explained():
            parts = [decode_document(self._read(piece), piece[0]) for piece in entry.documents]
            symbols = [decode_symbol(self._read(piece), 0, piece[1], piece[0]) for piece in entry.externals]
        occurrences: list[Occurrence] = []
        for part in parts:
            occurrences += part.occurrences
            symbols += part.symbols
        return Document(
            path=entry.path,
            language=next((part.language for part in parts if part.language), ""),
            text=next((part.text for part in parts if part.text), ""),
            position_encoding=max((part.position_encoding for part in parts), default=0),
            occurrences=occurrences if as_written else sorted(occurrences),
            symbols=symbols if as_written else sorted(symbols),
        )

    def external_symbols(self) -> Iterator[Symbol]:
        with self._explained():
            for piece in self._externals:
                yield decode_symbol(self._read(piece), 0, piece[1], piece[0])

    def _note_document(self, piece: Piece) -> None:
        base, size = piece
        data = self._read(piece)
        path = ""
        total = 0
        for tag, a, b in fields(data, 0, size, base):
            total += xxh64_intdigest(data[a:b], tag) if b else xxh64_intdigest(b"%d" % a, tag)
            if tag == DOCUMENT_PATH:
                path = text(data, a, b, base)
        if not path:
            raise WireError(base, "a document has no path")
        self._documents.setdefault(path, []).append(piece)
        self._sums[path] = self._sums.get(path, 0) + total

    def _outer_fields(self) -> Iterator[tuple[int, int, Piece]]:
        """Offset and tag of each field of the index, and where its content is."""
        at = 0
        while at < self._size:
            self._file.seek(at)
            head = self._file.read(_LONGEST_HEAD)
            tag, read = read_varint(head, 0, len(head), at)
            if tag & 7 != 2:
                raise WireError(at, f"a field of an index has wire type {tag & 7}, which none of its fields has")
            size, read = read_varint(head, read, len(head), at)
            left = self._size - at - read
            if size > left:
                raise WireError(at, f"a field of {size} bytes begins, but the file has only {left} more")
            yield at, tag, (at + read, size)
            at += read + size

    def _read(self, piece: Piece) -> bytes:
        offset, size = piece
        self._file.seek(offset)
        data = self._file.read(size)
        if len(data) != size:
            raise WireError(offset + len(data), "the file became shorter while it was read")
        return data

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except WireError as error:
            raise BadInputError(
                subject=self._name,
                seen=f"it stops being a SCIP index at byte {error.offset}: {error.what}",
                why="an index that cannot be read to its end is not taken for one, so nothing was written",
                remedy="write the index anew with its indexer; a copy may have been cut short",
            ) from error


@contextmanager
def open_index(path: Path) -> Iterator[BinaryIO]:
    try:
        file = path.open("rb")
    except OSError as error:
        raise BadInputError(
            subject=str(path),
            seen=f"it cannot be opened: {error.strerror}",
            why="it should be a SCIP index",
            remedy="give the file that the indexer wrote, such as index.scip",
        ) from error
    with file:
        yield file


def _hex(total: int) -> str:
    return f"{total & _MASK:016x}"
