"""Protobuf's wire format: what is written is read, and what is broken is told with its place."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakehouse_assets.extract.scip.wire import (
    WireError,
    bytes_field,
    fields,
    number_field,
    number_tag,
    packed,
    packed_field,
    read_varint,
    signed,
    text,
    text_tag,
    varint,
)


@given(st.integers(-(2**63), 2**63 - 1), st.binary(max_size=3))
def test_a_number_is_read_as_it_was_written(value: int, behind: bytes):
    data = varint(value)
    assert read_varint(data + behind, 0, len(data + behind), 0) == (value % 2**64, len(data))
    assert signed(value % 2**64) == value


@given(st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1))
def test_packed_numbers_are_read_as_they_were_written(values: list[int]):
    data = packed_field(9, values)
    ((tag, a, b),) = fields(data, 0, len(data), 0)
    assert tag == text_tag(9)
    assert packed(data, a, b, 0) == tuple(values)


def test_fields_of_all_wire_types_are_passed_in_their_order():
    fixed = varint(3 << 3 | 1) + bytes(8) + varint(4 << 3 | 5) + bytes(4)
    data = number_field(1, 300) + fixed + bytes_field(2, b"abc") + number_field(1000, 5)
    (first, second, third) = fields(data, 0, len(data), 0)
    assert first[:2] == (number_tag(1), 300)
    assert data[second[1] : second[2]] == b"abc"
    assert third[:2] == (number_tag(1000), 5)


@pytest.mark.parametrize(
    ("data", "offset", "what"),
    [
        (b"\x08\xff", 101, "ends within a number"),
        (b"\x08" + b"\xff" * 11, 101, "more than ten bytes"),
        (b"\x08\x01\x12\x05abc", 102, "5 bytes begins, but 3 are left"),
        (b"\x08\x01\x0b", 102, "wire type 3"),
        (b"\x02\x00", 100, "number 0"),
        (b"\x09\x00\x00", 100, "ends within a field"),
    ],
)
def test_what_is_broken_is_told_with_the_byte_where_it_is(data: bytes, offset: int, what: str):
    with pytest.raises(WireError, match=what) as caught:
        fields(data, 0, len(data), 100)
    assert caught.value.offset == offset


def test_text_that_is_not_utf_8_is_told_with_the_byte_that_is_not():
    with pytest.raises(WireError) as caught:
        text(b"ab\xffc", 0, 4, 50)
    assert caught.value.offset == 52


@given(st.binary(max_size=60))
def test_any_bytes_are_fields_or_an_error_that_points_into_them(data: bytes):
    places = [0]
    try:
        places = [place for _, a, b in fields(data, 0, len(data), 0) if b for place in (a, b)]
    except WireError as error:
        places = [error.offset]
    assert all(0 <= place <= len(data) for place in places)
