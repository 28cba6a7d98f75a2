"""Models are read from their files: header, query, order; what is wrong is told with file, line and a way out."""

from pathlib import Path

import pytest

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.models.files import files_in
from lakehouse_assets.models.graph import select
from lakehouse_assets.models.project import load_project
from lakehouse_assets_tests.support.models import TABLES, model_text, project

BASE = "SELECT repo, path, size FROM files"


def test_a_model_says_what_it_is_in_its_header():
    text = """/* model
description: Large files.
owner: data
tags: [size, files]
materialization: by_partition
key: [repo, path]
partition_by: [repo]
cluster_by: [path]
columns:
  repo: Its repository.
  size: {description: Bytes., type: bigint, sensitive: true}
audits:
  - not_empty
  - unique: [repo, path]
  - at_least: {size: 0}
  - no_dots: SELECT * FROM this WHERE path LIKE '.%'
*/
SELECT repo, path, size FROM files"""
    header = project(large=text).meanings["large"].header
    assert (header.name, header.owner, header.tags) == ("large", "data", ("size", "files"))
    assert header.columns["size"].sensitive
    assert header.columns["repo"].description == "Its repository."
    assert [audit.label for audit in header.audits] == ["not_empty", "unique_repo_path", "at_least_size", "no_dots"]


def test_models_come_after_what_they_read_whatever_their_names():
    found = project(a="SELECT repo, path FROM b", b="SELECT c.repo, c.path FROM c", c=BASE)
    assert list(found.meanings) == ["c", "b", "a"]
    assert found.parents == {"c": (), "b": ("c",), "a": ("b",)}


def test_a_name_of_a_with_clause_is_no_input():
    found = project(a="WITH b AS (SELECT repo, path FROM files) SELECT b.repo, b.path FROM b")
    assert found.meanings["a"].inputs == ("files",)


def test_a_cycle_is_refused_and_spelled_out():
    with pytest.raises(BadInputError, match="a → b → c → a") as raised:
        project(a="SELECT repo, path FROM c", b="SELECT repo, path FROM a", c="SELECT repo, path\nFROM b")
    assert raised.value.subject == "b.sql:4"


@pytest.mark.parametrize(
    ("sql", "place", "seen", "remedy"),
    [
        ("SELECT repo,\n path\nFROM filez", "m.sql:6", "no table 'filez'", "did you mean 'files'?"),
        ("SELECT repo, path,\n sise FROM files", "m.sql:5", "no column 'sise'", "did you mean 'size'?"),
        ("SELECT f.repo, f.pat AS path FROM files f", "m.sql:4", "no column 'f.pat'", "did you mean 'path'?"),
        (
            "WITH c AS (SELECT repo, path FROM files)\nSELECT c.repo, c.path, c.size FROM c",
            "m.sql:5",
            "no column 'c.size'",
            "there are: repo, path",
        ),
        (
            "SELECT repo, path FROM files WHERE EXISTS\n(SELECT 1 FROM files g WHERE g.rep = files.repo)",
            "m.sql:5",
            "no column 'g.rep'",
            "did you mean 'repo'?",
        ),
        ("SELECT repo, path, FROM WHERE", "m.sql:4", "", "mend the query"),
        ("DELETE FROM files", "m.sql:1", "DELETE instead of one query", "mend the query"),
        ("SELECT repo, path FROM files; SELECT 1", "m.sql:1", "SELECT, SELECT", "mend the query"),
        ("SELECT repo, path FROM other.files", "m.sql:4", "by more than its own name", "mend the query"),
        ("SELECT repo, path, rand() AS r FROM files", "m.sql:4", "RAND() gives another value", "from a table"),
        ("SELECT repo, path, localtimestamp() AS t FROM files", "m.sql:4", "gives another value", "from a table"),
        ("SELECT repo, path FROM files TABLESAMPLE (5 PERCENT)", "m.sql:4", "gives another value", "from a table"),
        ("SELECT repo, path, spark_partition_id() AS p FROM files", "m.sql:4", "gives another value", "from a table"),
        ("SELECT repo, path, path FROM files", "m.sql:1", "two columns of the query are called 'path'", "AS"),
        ("SELECT repo, path, size + 1 FROM files", "m.sql:1", "a column of the query has no name", "AS"),
        ("SELECT repo FROM files", "m.sql:2", "no column 'path'", "there are: repo"),
    ],
)
def test_what_a_query_gets_wrong_is_told_with_its_line_and_the_nearest_name(sql, place, seen, remedy):
    with pytest.raises(BadInputError) as raised:
        project(m=model_text(sql))
    assert raised.value.subject == place
    assert seen in raised.value.seen
    assert remedy in raised.value.remedy


@pytest.mark.parametrize(
    ("text", "place", "seen"),
    [
        ("SELECT 1 AS a", "m.sql:1", "/* model"),
        ("/* model\nkey: [a\n*/ SELECT 1 AS a", "m.sql:3", "no YAML"),
        ("/* model\nkye: [a]\n*/ SELECT 1 AS a", "m.sql:2", "kye"),
        ("/* model\nkey: [a]\nmaterialization: fully\n*/ SELECT 1 AS a", "m.sql:3", "materialization"),
        ("/* model\nmaterialization: full\n*/ SELECT 1 AS a", "m.sql:2", "needs a key"),
        ("/* model\nmaterialization: by_time\nkey: [a]\n*/ SELECT 1 AS a", "m.sql:2", "time_column"),
        ("/* model\nname: Large\n*/ SELECT 1 AS a", "m.sql:2", "lower-case"),
        ("/* model\nkey: [a]\ntags: [fine, not fine]\n*/ SELECT 1 AS a", "m.sql:3", "'not fine' is no tag"),
    ],
)
def test_a_wrong_header_is_told_with_its_line(text: str, place: str, seen: str):
    with pytest.raises(BadInputError) as raised:
        load_project({Path("m.sql"): text}, TABLES)
    assert raised.value.subject == place
    assert seen in raised.value.seen


def test_days_that_are_no_dates_are_refused():
    said = {"materialization": "by_time", "start": "2026-01-01", "time_column": "size"}
    with pytest.raises(BadInputError, match=r"m\.sql:5: its time_column size is bigint, not date"):
        project(m=model_text("SELECT repo, path, size FROM files", **said))
    assert project(m=model_text("SELECT repo, path, CAST(size AS DATE) AS size FROM files", **said)).meanings


def test_a_name_stands_for_one_thing():
    with pytest.raises(BadInputError, match="a table of the lake"):
        project(files=BASE)
    with pytest.raises(BadInputError, match=r"the model a\.sql"):
        project(a=BASE, b=model_text(BASE, name="a"))


def test_models_are_the_sql_files_of_a_folder_and_of_those_in_it(tmp_path: Path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.sql").write_text(model_text(BASE))
    (tmp_path / "notes.txt").write_text("no model")
    assert list(load_project(files_in(tmp_path), TABLES).meanings) == ["a"]
    with pytest.raises(BadInputError, match="no such folder"):
        files_in(tmp_path / "gone")


PARENTS = {"a": (), "b": ("a",), "c": ("b",), "d": ()}
TAGS = {"a": ("x",), "b": (), "c": ("x",), "d": ("y",)}


@pytest.mark.parametrize(
    ("words", "chosen"),
    [
        ([], "abcd"),
        (["b"], "b"),
        (["b+"], "bc"),
        (["+b"], "ab"),
        (["+b+"], "abc"),
        (["tag:x"], "ac"),
        (["tag:x+"], "abc"),
        (["d", "+b"], "abd"),
    ],
)
def test_a_selection_takes_what_is_before_or_after_a_model_or_has_a_tag(words: list[str], chosen: str):
    assert select(PARENTS, TAGS, words) == set(chosen)


def test_a_selection_of_nothing_is_refused():
    with pytest.raises(BadInputError, match="no model of that name"):
        select(PARENTS, TAGS, ["e+"])
    with pytest.raises(BadInputError, match="no tag of that name"):
        select(PARENTS, TAGS, ["tag:z"])
    with pytest.raises(BadInputError, match="did you mean 'tag:y'"):
        select(PARENTS, TAGS, ["y"])
