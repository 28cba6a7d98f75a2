"""The registry: a name stands for one repository, and many are added all or none."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from lakehouse_assets.contracts.repositories import REPOSITORIES
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.repository import Repository
from lakehouse_assets.lake.registry import Registry
from lakehouse_assets.lake.tables import Lake

A = Repository(name="a", location="/a", kind="local_git", include=("*.py",), languages=("Python",))
B = Repository(name="b", location="/b", kind="directory", ref="main", exclude=("x/",))


def test_what_was_added_is_read_back_as_it_was(lake: Lake):
    registry = Registry(lake)
    registry.add([B, A])
    assert registry.all() == {"a": A, "b": B}
    assert registry.get(["b", "a", "b"]) == [B, A]


def test_adding_the_same_again_changes_nothing(lake: Lake):
    registry = Registry(lake)
    registry.add([A])
    version = lake.open(REPOSITORIES).version()
    assert registry.add([A]) == []
    assert lake.open(REPOSITORIES).version() == version


def test_a_taken_name_is_refused_and_nothing_of_the_list_is_added(lake: Lake):
    registry = Registry(lake)
    registry.add([A])
    with pytest.raises(BadInputError, match="the name is taken by one with location '/a' against '/elsewhere'"):
        registry.add([B, replace(A, location="/elsewhere")])
    assert registry.all() == {"a": A}


def test_one_list_with_one_name_twice_is_refused(lake: Lake):
    with pytest.raises(BadInputError, match="the name is taken"):
        Registry(lake).add([A, replace(A, location="/elsewhere")], update=True)
    assert Registry(lake).all() == {}


def test_a_name_takes_new_settings_when_told_to(lake: Lake):
    registry = Registry(lake)
    registry.add([A, B])
    moved = replace(A, location="/elsewhere")
    assert registry.add([moved, B], update=True) == [moved]
    assert registry.all() == {"a": moved, "b": B}


def test_an_unknown_name_is_refused_with_the_nearest_one(lake: Lake):
    registry = Registry(lake)
    registry.add([replace(A, name="requests")])
    with pytest.raises(BadInputError, match="did you mean 'requests'"):
        registry.get(["request"])


def test_removing_one_leaves_the_others(lake: Lake):
    registry = Registry(lake)
    registry.add([A, B])
    assert registry.remove(["a"]) == [A]
    assert registry.all() == {"b": B}


def test_of_many_who_claim_a_name_at_once_one_gets_it(lake: Lake):
    def claim(number: int) -> bool:
        try:
            Registry(lake).add([replace(A, location=f"/{number}")])
        except BadInputError:
            return False
        return True

    with ThreadPoolExecutor(max_workers=4) as pool:
        won = list(pool.map(claim, range(8)))
    assert won.count(True) == 1
    assert len(Registry(lake).all()) == 1
