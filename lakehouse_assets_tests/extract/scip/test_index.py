"""Indexes are read document by document, whatever they hold; what is no index is refused with its place."""

import io
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.extract.scip.encoding import encode_document, encode_metadata
from lakehouse_assets.extract.scip.index import Index, open_index
from lakehouse_assets.extract.scip.model import Document, Metadata, Occurrence, Symbol
from lakehouse_assets.extract.scip.wire import bytes_field, number_field, text_field
from lakehouse_assets_tests.support import scip

one_file = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def fingerprints(path: Path) -> dict[str, str]:
    with path.open("rb") as file:
        return {entry.path: entry.fingerprint for entry in Index(file, "it").entries()}


@one_file
@given(
    metadata=scip.metadata,
    documents=st.lists(scip.documents, max_size=3, unique_by=lambda document: document.path),
    externals=st.lists(scip.symbols, max_size=2),
)
def test_what_was_written_is_read(tmp_path: Path, metadata, documents, externals):
    path = scip.written(tmp_path / "index.scip", documents, externals=externals, metadata=metadata)
    read = scip.read(path)
    assert read == (metadata, sorted(documents, key=lambda document: document.path), externals)


@one_file
@given(document=scip.documents, seed=st.integers())
def test_the_fingerprint_of_a_document_does_not_depend_on_the_order_of_its_parts(tmp_path: Path, document, seed):
    mixed = Document(
        path=document.path,
        language=document.language,
        text=document.text,
        position_encoding=document.position_encoding,
        occurrences=random.Random(seed).sample(document.occurrences, len(document.occurrences)),
        symbols=random.Random(seed).sample(document.symbols, len(document.symbols)),
    )
    first = fingerprints(scip.written(tmp_path / "a", [document]))
    assert fingerprints(scip.written(tmp_path / "b", [mixed])) == first


def test_the_fingerprint_follows_every_part_of_a_document(tmp_path: Path):
    base = scip.document("a", "x", language="python", text="t", position_encoding=1)
    others = [
        scip.document("a", "y", language="python", text="t", position_encoding=1),
        scip.document("a", "x", language="go", text="t", position_encoding=1),
        scip.document("a", "x", language="python", text="u", position_encoding=1),
        scip.document("a", "x", language="python", text="t", position_encoding=2),
        Document(path="a", language="python", text="t", position_encoding=1, occurrences=base.occurrences * 2),
    ]
    seen = {fingerprints(scip.written(tmp_path / "i", [each]))["a"] for each in [base, *others]}
    assert len(seen) == 6


def test_a_path_that_comes_twice_is_one_document(tmp_path: Path):
    path = scip.written(tmp_path / "i", [scip.document("a", "x"), scip.document("b"), scip.document("a", "y")])
    _, documents, _ = scip.read(path)
    assert [(each.path, len(each.symbols)) for each in documents] == [("a", 2), ("b", 0)]


def test_fields_of_a_newer_format_are_passed_over(tmp_path: Path):
    document = Document(path="a", occurrences=[Occurrence((0, 0, 0, 1), "s")])
    inner = (
        text_field(1, "a")
        + number_field(77, 5)
        + bytes_field(2, b"\x0a\x03\x00\x00\x01\x12\x01s" + text_field(99, "new"))
    )
    path = tmp_path / "i"
    path.write_bytes(encode_metadata(scip.TOOL) + bytes_field(9, b"new") + bytes_field(2, inner))
    assert scip.read(path)[1] == [document]


def test_a_range_may_come_number_by_number(tmp_path: Path):
    numbers = b"\x08\x05\x08\x02\x08\x09" + text_field(2, "s")
    path = tmp_path / "i"
    path.write_bytes(encode_metadata(scip.TOOL) + bytes_field(2, text_field(1, "a") + bytes_field(2, numbers)))
    assert scip.read(path)[1][0].occurrences == [Occurrence((5, 2, 5, 9), "s")]


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (b"", "byte 0: the file is empty"),
        (b"hello, world", "byte 0"),
        (encode_document(scip.document("a")), "byte 0: an index begins with its metadata"),
        (encode_metadata(scip.TOOL) * 2, f"byte {len(encode_metadata(scip.TOOL))}: the metadata comes a second time"),
        (encode_metadata(Metadata()) + bytes_field(2, b""), "byte 6: a document has no path"),
        (encode_metadata(Metadata()) + b"\x12\x7f", "byte 4: a field of 127 bytes begins, but the file has only 0"),
    ],
)
def test_what_is_no_index_is_refused_with_the_byte_where_it_stops_being_one(tmp_path: Path, data: bytes, place: str):
    (tmp_path / "i").write_bytes(data)
    with pytest.raises(BadInputError, match=place):
        scip.read(tmp_path / "i")


@pytest.mark.parametrize(
    "occurrence", [b"", b"\x0a\x02\x00\x00", b"\x0a\x05\x00\x00\x00\x00\x00", b"\x0a\x03\x00\x05\x02"]
)
def test_an_occurrence_without_a_proper_range_is_refused(tmp_path: Path, occurrence: bytes):
    head = encode_metadata(scip.TOOL)
    (tmp_path / "i").write_bytes(head + bytes_field(2, text_field(1, "a") + bytes_field(2, occurrence)))
    with pytest.raises(BadInputError, match=f"byte {len(head) + 7}: an occurrence has"):
        scip.read(tmp_path / "i")


@one_file
@given(data=st.data())
def test_a_damaged_index_is_read_or_refused_with_a_place_in_it(tmp_path: Path, data):
    whole = scip.written(
        tmp_path / "i", [scip.document("a", "x", "y"), scip.document("b", "z")], externals=[Symbol("e")]
    )
    content = bytearray(whole.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(content)))
    (tmp_path / "j").write_bytes(content[:cut])
    place = 0
    try:
        scip.read(tmp_path / "j")
    except BadInputError as error:
        place = int(error.seen.split("at byte ")[1].split(":")[0])
    assert 0 <= place <= cut


def test_a_file_that_cannot_be_opened_is_told(tmp_path: Path):
    with pytest.raises(BadInputError, match="No such file"), open_index(tmp_path / "none"):
        pass


def test_reading_holds_one_document_at_a_time(tmp_path: Path):
    """The reader asks the file for no more than a document at once."""

    class Watched(io.FileIO):
        most = 0

        def read(self, size: int | None = -1) -> bytes:
            data = super().read(size)
            Watched.most = max(Watched.most, len(data))
            return data

    path = scip.written(tmp_path / "i", [scip.document(f"{i:04}", "x", "y", "z") for i in range(300)])
    with Watched(path) as file:
        index = Index(file, "it")  # pyright: ignore[reportArgumentType]  # unbuffered, so that every read is seen
        assert sum(len(index.document(entry).symbols) for entry in index.entries()) == 900
    assert Watched.most < path.stat().st_size / 200
