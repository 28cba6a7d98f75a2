"""A repository's name serves as partition key, folder and SQL literal."""

import pytest

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.repository import Repository, check_name


@pytest.mark.parametrize("name", ["flask", "a", "Django-5.2_x", "0day", "a" * 128])
def test_a_fit_name_is_taken_as_it_is(name):
    assert check_name(name) == name


@pytest.mark.parametrize(
    "name",
    ["", " ", "a b", "a/b", "../up", ".hidden", "-x", "it's", 'a"b', "a\nb", "a%b", "a=b", "a...b|c", "é", "a" * 129],
)
def test_an_unfit_name_is_refused_with_a_fit_one(name):
    with pytest.raises(BadInputError) as refusal:
        check_name(name)
    suggestion = refusal.value.remedy.split("'")[1]
    assert check_name(suggestion) == suggestion


def test_settings_that_change_rows_change_the_hash_and_the_name_does_not():
    base = Repository(name="a", location="/x", kind="local_git")
    assert base.settings_hash == Repository(name="b", location="/x", kind="local_git").settings_hash
    for other in (
        Repository(name="a", location="/y", kind="local_git"),
        Repository(name="a", location="/x", kind="local_git", ref="main"),
        Repository(name="a", location="/x", kind="local_git", include=("*.py",)),
        Repository(name="a", location="/x", kind="local_git", exclude=("*.py",)),
        Repository(name="a", location="/x", kind="local_git", languages=("Python",)),
    ):
        assert other.settings_hash != base.settings_hash
