"""`ask`: DuckDB over Delta, without a JVM."""

from pathlib import Path

import duckdb
import pytest

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.repository import Repository
from lakehouse_assets.lake.local_sql import user_sql
from lakehouse_assets.lake.model_engine import Question
from lakehouse_assets.lake.model_engine import answer as model_answer
from lakehouse_assets.lake.query import ask
from lakehouse_assets.lake.registry import Registry
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.writes import no_spark


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


def _elsewhere(folder: Path) -> Path:
    outside = folder / "outside.csv"
    outside.write_text("secret\n42\n")
    return outside


OUTSIDE = (
    "SELECT * FROM read_csv('{file}')",
    "SELECT * FROM '{file}'",
    "SELECT * FROM read_text('{file}')",
    "SELECT * FROM glob('{folder}/*')",
    "SELECT * FROM read_text('{lake}/../../outside.csv')",
    "SELECT * FROM sniff_csv('{file}')",
    "COPY (SELECT 1) TO '{folder}/made.csv'",
    "COPY (SELECT 1) TO '{lake}/made.csv'",
    "EXPLAIN ANALYZE COPY (SELECT 1) TO '{lake}/made.csv'",
    "COPY (PIVOT repositories ON kind USING count(*)) TO '{lake}/made.csv'",
    "ATTACH '{folder}/made.db'",
    "ATTACH '{lake}/made.db'",
    "EXPORT DATABASE '{lake}/made'",
    "SET enable_external_access = true",
    "SELECT 1; SET lock_configuration = false",
    "LOAD httpfs",
)


@pytest.mark.parametrize("query", OUTSIDE)
def test_a_query_reads_the_lake_alone_and_writes_nothing(filled: Lake, tmp_path: Path, query: str):
    outside = _elsewhere(tmp_path)
    before = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    text = query.format(file=outside, folder=tmp_path, lake=filled.root)
    with pytest.raises(BadInputError), ask(filled, text) as answer:
        list(answer.rows)
    assert sorted(path for path in tmp_path.rglob("*") if path.is_file()) == before


def test_a_link_in_the_lake_does_not_lead_out_of_it(filled: Lake, tmp_path: Path):
    (Path(str(filled.root)) / "link.csv").symlink_to(_elsewhere(tmp_path))
    with pytest.raises(BadInputError), ask(filled, f"SELECT * FROM read_csv('{filled.root}/link.csv')") as answer:
        list(answer.rows)


def test_a_query_may_describe_and_sum_up_tables(filled: Lake):
    for query in ("DESCRIBE repositories", "SUMMARIZE repositories", "SHOW TABLES -- repositories"):
        with ask(filled, query) as answer:
            assert list(answer.rows)


def test_a_lake_that_is_named_from_the_working_folder_is_read(
    filled: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(Path(str(filled.root)).parent)
    with ask(Lake(Path(Path(str(filled.root)).name)), "SELECT repo FROM repositories") as answer:
        assert len(list(answer.rows)) == 2


def test_what_a_query_may_open_cannot_be_set_by_it(filled: Lake):
    with user_sql(filled.root) as connection, pytest.raises(duckdb.Error, match="locked"):
        connection.execute("SET allowed_directories = ['/']")


def test_the_query_of_a_model_reads_the_lake_alone(filled: Lake, tmp_path: Path):
    sql = f"SELECT * FROM READ_CSV('{_elsewhere(tmp_path)}')"
    question = Question(subject="m", sql=sql, relations={})
    with pytest.raises(BadInputError), model_answer(filled, question, "duckdb", no_spark):
        pass
