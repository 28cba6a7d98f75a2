"""Models in YAML: what they read, what they mean, what is refused."""

from pathlib import Path

import pytest

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.models.files import files_in, look_at
from lakehouse_assets.models.project import Project, load_project
from lakehouse_assets_tests.support.models import TABLES, model_text

LARGE = """
description: Large files.
key: [repo, path]
from: files
steps:
  - {do: filter, where: size > 100}
  - {do: select, columns: [repo, path, size]}
"""


def project(**texts: str) -> Project:
    return load_project({Path(f"{name}.model.yaml"): text for name, text in texts.items()}, TABLES)


def test_a_model_of_steps_is_a_model_like_any_other():
    meaning = project(large=LARGE).meanings["large"]
    assert (meaning.name, meaning.inputs, meaning.header.description) == ("large", ("files",), "Large files.")
    assert list(meaning.columns) == ["repo", "path", "size"]


def test_it_is_the_model_that_its_sql_would_be():
    written = model_text(
        """
        WITH step_1 AS (SELECT repo, path, size, lines, day, words FROM files WHERE size > 100),
        step_2 AS (SELECT repo, path, size FROM step_1)
        SELECT repo, path, size FROM step_2
        """
    )
    by_hand = load_project({Path("large.sql"): written}, TABLES).meanings["large"]
    assert project(large=LARGE).meanings["large"].data == by_hand.data


def test_a_comment_or_another_layout_changes_nothing_and_another_condition_does():
    same = LARGE.replace("size > 100", "size>100  /* big */") + "# the end\n"
    assert project(large=same).meanings["large"].data == project(large=LARGE).meanings["large"].data
    other = LARGE.replace("> 100", "> 101")
    assert project(large=other).meanings["large"].data != project(large=LARGE).meanings["large"].data


def test_steps_may_read_other_models_in_either_language():
    files = {
        Path("small.sql"): model_text("SELECT repo, path FROM files WHERE size < 10"),
        Path("both.model.yaml"): "key: [repo, path]\nfrom: large\nsteps: [{do: union, tables: [small]}]\n",
        Path("large.model.yaml"): LARGE,
    }
    found = load_project(files, TABLES)
    assert found.parents["both"] == ("large", "small")


def test_models_of_both_kinds_are_found_in_a_folder(tmp_path: Path):
    (tmp_path / "a.sql").write_text("")
    (tmp_path / "b.model.yaml").write_text("")
    (tmp_path / "other.yaml").write_text("")
    assert [path.name for path in files_in(tmp_path)] == ["a.sql", "b.model.yaml"]


def test_what_a_picture_needs_is_known_without_reading_sql(tmp_path: Path):
    (tmp_path / "large.model.yaml").write_text(LARGE)
    (seen,) = look_at(tmp_path)
    assert (seen.header.name, seen.inputs) == ("large", ("files",))
    (tmp_path / "large.model.yaml").write_text(LARGE.replace("> 100", "> 101"))
    assert look_at(tmp_path)[0].sql_version != seen.sql_version


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("key: [a]\nsteps: []", "does not say both `from`"),
        ("key: [a\nfrom: x", "it is no YAML"),
        (LARGE.replace("files\n", "filez\n"), "no table 'filez'.*did you mean 'files'"),
        (LARGE.replace("[repo, path, size]}", "[repo, pat]}"), r"step 2 \(select\): there is no column 'pat'"),
        (LARGE.replace("do: filter", "do: filtre"), "step 1"),
        (LARGE.replace("description", "describtion"), "its header is wrong: describtion"),
        (LARGE.replace("key: [repo, path]", "key: [name]"), "name"),
    ],
)
def test_what_is_wrong_is_told_with_the_file_and_the_step(text: str, told: str):
    with pytest.raises(BadInputError, match=told) as refused:
        project(large=text)
    assert refused.value.subject.startswith("large.model.yaml")
