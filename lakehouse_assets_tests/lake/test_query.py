"""`ask`: DuckDB over Delta, without a JVM."""

import pytest

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.repository import Repository
from lakehouse_assets.lake.query import ask
from lakehouse_assets.lake.registry import Registry
from lakehouse_assets.lake.tables import Lake


@pytest.fixture
def filled(lake: Lake) -> Lake:
    Registry(lake).add([Repository(name=n, location=f"/{n}", kind="directory") for n in ("a", "b")])
    return lake


def test_columns_of_one_name_are_all_kept(filled: Lake):
    with ask(filled, "SELECT x.repo, y.repo FROM repositories x JOIN repositories y USING (repo) ORDER BY 1") as answer:
        assert answer.columns == ("repo", "repo_2")
        assert list(answer.rows) == [{"repo": "a", "repo_2": "a"}, {"repo": "b", "repo_2": "b"}]


def test_a_wrong_query_is_answered_with_the_tables_there_are(filled: Lake):
    with pytest.raises(BadInputError) as refusal, ask(filled, "SELECT nonsense FROM repositories"):
        pass
    assert "nonsense" in refusal.value.seen
    assert "the tables are repositories" in refusal.value.remedy


def test_without_a_lake_the_remedy_is_to_make_one(lake: Lake):
    with pytest.raises(BadInputError) as refusal, ask(lake, "SELECT * FROM commits"):
        pass
    assert "lakehouse sync" in refusal.value.remedy
