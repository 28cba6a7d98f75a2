"""Errors are for people, and survive the way home from a Spark worker."""

import pickle

import pytest

from lakehouse_assets.core.errors import BadInputError, LakehouseError, SourceError, from_wire


def an_error() -> SourceError:
    return SourceError(subject="repo 'a'", seen='no "head"\nat all', why="nothing to read", remedy="commit something")


def test_the_message_names_subject_what_was_seen_why_and_what_to_do():
    text = str(an_error())
    for part in ("repo 'a'", 'no "head"', "Nothing to read", "commit something"):
        assert part in text


def test_an_error_is_found_again_inside_another_runtime_s_traceback():
    error = an_error()
    found = from_wire(f"Traceback:\n  File x\nRuntimeError: {error.to_wire()}\n\tat org.apache.spark.Foo")
    assert type(found) is SourceError
    assert vars(found) == vars(error)


def test_an_error_can_be_pickled():
    assert vars(pickle.loads(pickle.dumps(an_error()))) == vars(an_error())


def test_a_text_without_an_error_of_ours_gives_none():
    assert from_wire("ValueError: something else") is None


def test_every_kind_of_error_can_be_caught_as_one():
    with pytest.raises(LakehouseError):
        raise BadInputError(subject="s", seen="x", why="w", remedy="r")
