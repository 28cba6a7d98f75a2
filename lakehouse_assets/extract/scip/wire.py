"""Protobuf's wire format, as far as SCIP uses it: varints, and fields that tell their length.

A field comes as (tag, a, b): the tag holds number and wire type as the wire does; for a length-delimited field the
bytes are data[a:b], for a varint the value is a. Fields that nobody asks for are passed over, as protobuf has it, so
that indexes of newer indexers can be read.
"""

from collections.abc import Iterable

Field = tuple[int, int, int]

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_LONGEST_VARINT = 10
_SIGN = 1 << 63
_ALL_BITS = (1 << 64) - 1


class WireError(ValueError):
    """What is wrong, and the offset of the byte where it is."""

    def __init__(self, offset: int, what: str) -> None:
        self.offset = offset
        self.what = what
        super().__init__(f"byte {offset}: {what}")


def text_tag(number: int) -> int:
    """The tag of a field of text, bytes, a message or packed numbers."""
    return number << 3 | _BYTES


def number_tag(number: int) -> int:
    """The tag of a field with a single whole number."""
    return number << 3 | _VARINT


def read_varint(data: bytes, at: int, end: int, base: int) -> tuple[int, int]:
    """The unsigned number at `at` and where the next byte is; `base` is the offset of data[0] in its file."""
    value = shift = 0
    for position in range(at, min(end, at + _LONGEST_VARINT)):
        byte = data[position]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & _ALL_BITS, position + 1
        shift += 7
    what = "the data ends within a number" if end - at < _LONGEST_VARINT else "a number has more than ten bytes"
    raise WireError(base + at, what)


def fields(data: bytes, at: int, end: int, base: int) -> list[Field]:
    """The fields of the message data[at:end], in the order in which they stand."""
    found: list[Field] = []
    add = found.append
    while at < end:
        began = at
        tag = data[at]
        at += 1
        if tag > 0x7F:
            tag, at = read_varint(data, began, end, base)
        wire = tag & 7
        if tag < 8:
            raise WireError(base + began, "a field has the number 0")
        if wire == _BYTES:
            if at < end and data[at] < 0x80:
                size = data[at]
                at += 1
            else:
                size, at = read_varint(data, at, end, base)
            if size > end - at:
                raise WireError(base + began, f"a field of {size} bytes begins, but {end - at} are left for it")
            add((tag, at, at + size))
            at += size
        elif wire == _VARINT:
            if at < end and data[at] < 0x80:
                value = data[at]
                at += 1
            else:
                value, at = read_varint(data, at, end, base)
            add((tag, value, 0))
        elif wire in (_FIXED64, _FIXED32):
            at += 8 if wire == _FIXED64 else 4
            if at > end:
                raise WireError(base + began, "the data ends within a field")
        else:
            raise WireError(base + began, f"wire type {wire} is none that an index has")
    return found


def text(data: bytes, at: int, end: int, base: int) -> str:
    try:
        return data[at:end].decode()
    except UnicodeDecodeError as error:
        raise WireError(base + at + error.start, "a text is not UTF-8") from error


def signed(value: int) -> int:
    """A number of type int32 or int64 as it was meant: negative ones come with their top bit set."""
    return value - (1 << 64) if value & _SIGN else value


def packed(data: bytes, at: int, end: int, base: int) -> tuple[int, ...]:
    """Numbers packed into one field."""
    piece = data[at:end]
    if piece.isascii():  # every number below 128, which is what most columns and short files have
        return tuple(piece)
    values: list[int] = []
    while at < end:
        value, at = read_varint(data, at, end, base)
        values.append(signed(value))
    return tuple(values)


def varint(value: int) -> bytes:
    value &= _ALL_BITS
    if value < 0x80:
        return bytes((value,))
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number_field(number: int, value: int) -> bytes:
    """A single number; nothing for 0, which is what a reader takes a missing field for."""
    return varint(number_tag(number)) + varint(value) if value else b""


def bytes_field(number: int, value: bytes) -> bytes:
    """A message or bytes, also if empty: repeated fields count."""
    return varint(text_tag(number)) + varint(len(value)) + value


def text_field(number: int, value: str) -> bytes:
    """A single text; nothing for an empty one."""
    return bytes_field(number, value.encode()) if value else b""


def texts_field(number: int, values: Iterable[str]) -> bytes:
    return b"".join([bytes_field(number, value.encode()) for value in values])


def packed_field(number: int, values: Iterable[int]) -> bytes:
    piece = b"".join([varint(value) for value in values])
    return bytes_field(number, piece) if piece else b""
