"""What holds whatever a query looks like: what is skipped is equal, and what is asked together is as if asked apart."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakehouse_assets.models.locality import why_apart
from lakehouse_assets_tests.support.models import model_text, project
from lakehouse_assets_tests.support.queries import READ, filled, queries, rows_of

VIEW = {"materialization": "view", "key": None}


def skipped_are_equal(base: str, child: str, place: int) -> bool:
    """A model whose version a change of its parent leaves as it is gives the rows that it gave; whether one does."""
    reader = model_text(filled(child), **VIEW)
    before, after = (project(READ, base=model_text(filled(base, each), **VIEW), child=reader) for each in (None, place))
    same = [name for name in ("base", "child") if before.meanings[name].data == after.meanings[name].data]
    for name in same:
        assert rows_of(before.meanings, name) == rows_of(after.meanings, name)
    return bool(same)


def together_is_apart(query: str) -> bool:
    """A query that may be asked for several partitions gives what it gives for each of them; whether it may."""
    meanings = project(READ, model=model_text(filled(query), **VIEW)).meanings
    if why_apart(meanings["model"].sql, "repo", ["files"]) is not None:
        return False
    each = (rows_of(meanings, "model", [repo]) for repo in ("x", "y", "z"))
    assert rows_of(meanings, "model") == sum(each, Counter())
    return True


PROPERTIES = {
    "skipped": lambda base, child, place: skipped_are_equal(base, child, place),
    "together": lambda base, _child, _place: together_is_apart(base),
}


@pytest.mark.parametrize("holds", PROPERTIES.values(), ids=PROPERTIES)
@settings(max_examples=40, deadline=None)
@given(base=queries(), child=queries("base"), place=st.integers(0, 9))
def test_of_a_few_queries(holds, base: str, child: str, place: int):
    holds(base, child, place)


@pytest.mark.slow
@pytest.mark.parametrize("holds", PROPERTIES.values(), ids=PROPERTIES)
@settings(max_examples=1500, deadline=None)
@given(base=queries(), child=queries("base"), place=st.integers(0, 9))
def test_of_many_queries(holds, base: str, child: str, place: int):
    holds(base, child, place)
