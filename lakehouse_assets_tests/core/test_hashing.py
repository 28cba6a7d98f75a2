"""Fingerprints tell apart what concatenation would confuse."""

from hypothesis import given
from hypothesis import strategies as st

from lakehouse_assets.core.hashing import fingerprint, json_fingerprint

parts = st.lists(st.one_of(st.none(), st.text(), st.binary()), max_size=4)


def as_bytes(values: list[str | bytes | None]) -> list[bytes | None]:
    return [value.encode() if isinstance(value, str) else value for value in values]


@given(parts, parts)
def test_two_lists_have_one_fingerprint_only_if_they_are_equal(left, right):
    assert (fingerprint(left) == fingerprint(right)) == (as_bytes(left) == as_bytes(right))


def test_nothing_and_the_empty_text_differ():
    assert fingerprint([None]) != fingerprint([""])


def test_the_order_of_keys_does_not_count_but_their_values_do():
    assert json_fingerprint({"a": 1, "b": 2}) == json_fingerprint({"b": 2, "a": 1})
    assert json_fingerprint({"a": 1}) != json_fingerprint({"a": "1"})
