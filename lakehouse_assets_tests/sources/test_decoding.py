"""Text comes out of any bytes, by rules that depend on the bytes alone."""

import codecs
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lakehouse_assets.sources import decoding
from lakehouse_assets.sources.decoding import Decoded, decode_field, decode_source, text_codec


@pytest.mark.parametrize(
    ("data", "encoding", "text"),
    [
        (b"", "utf-8", ""),
        (b"plain\r\n", "utf-8", "plain\r\n"),
        ("naïve ☃".encode(), "utf-8", "naïve ☃"),
        (codecs.BOM_UTF8 + b"x", "utf-8-sig", "x"),
        ("x☃".encode("utf-16"), "utf-16", "x☃"),
        (codecs.BOM_UTF16_BE + "x☃".encode("utf-16-be"), "utf-16", "x☃"),
        ("x☃".encode("utf-32"), "utf-32", "x☃"),
        (b"caf\xe9", "latin-1", "café"),
        (b"# -*- coding: latin-1 -*-\ncaf\xe9", "latin-1", "# -*- coding: latin-1 -*-\ncafé"),
        (b"#!/usr/bin/python\n# coding=cp1252\n\x80", "cp1252", "#!/usr/bin/python\n# coding=cp1252\n€"),
        (b"# vim: set fileencoding=koi8-r :\n\xc1", "koi8-r", "# vim: set fileencoding=koi8-r :\nа"),
        (b"/* -*- coding: iso-8859-2-unix -*- */\n\xae", "iso8859-2", "/* -*- coding: iso-8859-2-unix -*- */\nŽ"),
        (b"// vim: fenc=shift_jis\n\x82\xa0", "shift_jis", "// vim: fenc=shift_jis\nあ"),
        (b"x = 1\n# coding: cp1252\n\x80", "latin-1", "x = 1\n# coding: cp1252\n\x80"),
        (b"\n\n# coding: cp1252\n\x80", "latin-1", "\n\n# coding: cp1252\n\x80"),
        (b"# coding: ascii\ncaf\xc3\xa9", "utf-8", "# coding: ascii\ncafé"),
        (b"# coding: nonsense\ncaf\xe9", "latin-1", "# coding: nonsense\ncafé"),
        (codecs.BOM_UTF8 + b"# coding: cp1252\n\xc3\xa9", "utf-8-sig", "# coding: cp1252\né"),
    ],
)
def test_the_mark_then_the_declaration_then_utf8_then_byte_by_byte(data: bytes, encoding: str, text: str) -> None:
    assert decode_source(data) == Decoded(text=text, encoding=encoding)


@pytest.mark.parametrize("data", [b"\x00", b"PNG\x00", b"a" * 7999 + b"\x00", b"x\x00y\x00"])
def test_a_nul_near_the_beginning_means_binary(data: bytes) -> None:
    assert decode_source(data) == "binary"


def test_a_nul_further_on_does_not() -> None:
    assert decode_source(b"a" * 8000 + b"\x00") == Decoded(text="a" * 8000 + "\x00", encoding="utf-8")


@pytest.mark.parametrize(
    "data",
    [codecs.BOM_UTF16_LE + b"\x00\xd8", codecs.BOM_UTF32_LE + b"\xff\xff\xff\xff", codecs.BOM_UTF16_LE + b"\x00"],
)
def test_a_mark_that_lies_does_not_count(data: bytes) -> None:
    assert decode_source(data) in ("binary", Decoded(text=data.decode("latin-1"), encoding="latin-1"))


@pytest.mark.parametrize(
    "name",
    [
        "rot13", "rot_13", "zlib", "bz2", "hex", "base64", "uu", "quopri", "idna", "punycode", "unicode_escape",
        "undefined",
        "raw_unicode_escape", "mbcs", "oem", "utf-7", "utf-16", "utf-32", "cp037", "aliases", "charmap", "os", "../x",
        "", "\udce9",
    ],
)  # fmt: skip
def test_codecs_that_are_not_encodings_of_source_are_not_used(name: str) -> None:
    assert text_codec(name.encode("utf-8", "surrogateescape")) is None


def test_every_codec_that_is_used_gives_text() -> None:
    accepted = {codec for name in decoding._KNOWN if (codec := text_codec(name.encode()))}
    assert {"utf-8", "latin-1", "cp1252", "koi8-r", "koi8-u", "gbk", "big5", "euc_jp", "iso2022_jp"} <= accepted
    for codec in accepted:
        assert codecs.lookup(codec).decode(b"x = 1")[0] == "x = 1", codec


COOKIES = st.sampled_from(sorted(decoding._KNOWN | decoding._NOT_TEXT))


@given(st.binary(max_size=300), COOKIES, st.sampled_from([b"", *(mark for mark, _ in decoding._MARKS)]))
@example(b"+2AA-", "utf_7", b"")
def test_any_bytes_under_any_declaration_are_binary_or_text_that_can_be_stored(
    data: bytes, name: str, mark: bytes
) -> None:
    for source in (mark + data, mark + b"# coding: " + name.encode() + b"\n" + data):
        decoded = decode_source(source)
        if decoded != "binary":
            decoded.text.encode("utf-8")
            assert re.fullmatch(r"[a-z0-9_-]+", decoded.encoding)
    decode_field(data, name.encode()).encode("utf-8")
    decode_field(data, data).encode("utf-8")
