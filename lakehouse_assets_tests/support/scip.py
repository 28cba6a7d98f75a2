"""SCIP indexes for tests: written with our own encoder, and arbitrary ones for properties."""

from collections.abc import Iterable
from pathlib import Path

from hypothesis import strategies as st

from lakehouse_assets.extract.scip.encoding import encode_document, encode_external_symbol, encode_metadata
from lakehouse_assets.extract.scip.index import Index
from lakehouse_assets.extract.scip.model import Diagnostic, Document, Metadata, Occurrence, Relationship, Symbol

TOOL = Metadata(tool="tester", tool_version="1", project_root="file:///somewhere", text_encoding=1)


def written(
    path: Path, documents: Iterable[Document], *, externals: Iterable[Symbol] = (), metadata: Metadata = TOOL
) -> Path:
    """An index with these parts, at `path`."""
    parts = [encode_metadata(metadata), *map(encode_document, documents), *map(encode_external_symbol, externals)]
    path.write_bytes(b"".join(parts))
    return path


def read(path: Path) -> tuple[Metadata, list[Document], list[Symbol]]:
    """Metadata, documents as they stand, and external symbols."""
    with path.open("rb") as file:
        index = Index(file, str(path))
        documents = [index.document(entry, as_written=True) for entry in index.entries() if entry.documents]
        return index.metadata, documents, list(index.external_symbols())


def document(path: str, *names: str, **more) -> Document:
    """A document that defines the names, one a line, and refers to each once below."""
    symbols = [f"t . p . {name}." for name in names]
    occurrences = [Occurrence((i, 0, i, 3), symbol, 1) for i, symbol in enumerate(symbols)]
    occurrences += [Occurrence((len(names) + i, 0, len(names) + i, 3), symbol) for i, symbol in enumerate(symbols)]
    return Document(path=path, occurrences=occurrences, symbols=[Symbol(symbol) for symbol in symbols], **more)


_texts = st.text(max_size=8)
_numbers = st.integers(0, 2**31 - 1)
_places = st.tuples(_numbers, _numbers)
ranges = st.builds(lambda a, b: (*min(a, b), *max(a, b)), _places, _places)
diagnostics = st.builds(
    Diagnostic, st.integers(0, 4), _texts, _texts, _texts, st.lists(st.integers(0, 300), max_size=3).map(tuple)
)
occurrences = st.builds(
    Occurrence,
    ranges,
    _texts,
    st.integers(-(2**31), 2**31 - 1),
    st.integers(0, 40),
    st.lists(_texts, max_size=2).map(tuple),
    st.just(()) | ranges,
    st.lists(diagnostics, max_size=2).map(tuple),
)
relationships = st.builds(Relationship, _texts, st.booleans(), st.booleans(), st.booleans(), st.booleans())
symbols = st.builds(
    Symbol,
    _texts,
    st.integers(0, 90),
    _texts,
    st.lists(_texts, max_size=2).map(tuple),
    _texts,
    _texts,
    _texts,
    st.lists(relationships, max_size=2).map(tuple),
)
documents = st.builds(
    Document,
    path=st.text(min_size=1, max_size=8),
    language=_texts,
    text=_texts,
    position_encoding=st.integers(0, 3),
    occurrences=st.lists(occurrences, max_size=4),
    symbols=st.lists(symbols, max_size=3),
)
metadata = st.builds(
    Metadata,
    tool=_texts,
    tool_version=_texts,
    arguments=st.lists(_texts, max_size=2).map(tuple),
    project_root=_texts,
    text_encoding=st.integers(0, 2),
)
