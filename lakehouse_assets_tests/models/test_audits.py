"""Audits by name: what breaks them, and how one that is incomplete is told."""

from pathlib import Path
from typing import get_args

import pytest

from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.settings import PROJECT_ROOT
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.models.audits import AuditName
from lakehouse_assets.models.header import Header, Materialization
from lakehouse_assets_tests.support.model_lake import ModelLake, file
from lakehouse_assets_tests.support.models import model_text, project


def test_each_finds_the_rows_that_break_it_and_no_others(lake: Lake, tmp_path: Path):
    audits = {
        "not_null: [language]": 1,
        "not_null: [repo, path]": 0,
        "unique: [repo]": 1,
        "accepted_values: {path: [x.py, y.py]}": 1,
        "at_least: {size: 2}": 1,
        "at_most: {size: 2}": 1,
        "relationships: {path: large.path}": 2,
        "relationships: {language: large.language}": 0,
        "not_empty": 0,
        "small: SELECT * FROM this WHERE size < (SELECT MIN(size) FROM large)": 2,
    }
    found = ModelLake(lake, tmp_path / "models")
    found.rows(SNAPSHOTS, [file("a", "x.py", 1), file("a", "y.py", 2), file("b", "z.py", 3, language=None)])
    listed = "".join(f"\n  - {audit}" for audit in audits)
    found.models(
        large="SELECT repo, path, 'Python' AS language, size FROM snapshots WHERE size > 2",
        mine=model_text(
            "SELECT s.repo, s.path, s.language, s.size FROM snapshots AS s LEFT JOIN large AS l ON l.path = s.path",
            audits=listed,
        ),
    )
    found.create("prod")
    said = found.apply("prod").failed["mine"]
    broken = [
        part.partition(" rows")[0] for part in said.removeprefix("audits found rows that must not be: ").split("; ")
    ]
    assert broken == [
        *("not_null_language: 1", "unique_repo: 1", "accepted_values_path: 1", "at_least_size: 1", "at_most_size: 1"),
        *("relationships_path: 2", "small: 2"),
    ]


@pytest.mark.parametrize(
    ("audit", "seen"),
    [
        ("at_least: [size]", "at_least is written as at_least: {a: 0}"),
        ("not_null", "not_null needs a column, as in not_null: [a, b]"),
        ("relationships: {path: other}", "names a table and its column"),
        ("nonnull: [size]", "not_null"),
        ("unique: [sise]", "no column 'sise'"),
    ],
)
def test_what_is_incomplete_is_told_with_its_line(audit: str, seen: str):
    with pytest.raises(BadInputError) as raised:
        project(
            m=model_text(
                "SELECT repo, path, size FROM files", audits=f"[{audit}]" if ":" not in audit else f"\n  - {audit}"
            )
        )
    assert raised.value.subject == "m.sql:3"
    assert seen in raised.value.seen


def test_the_page_on_models_names_every_field_every_way_of_storing_and_every_audit():
    page = (PROJECT_ROOT / "docs" / "models.md").read_text()
    names = {*Header.model_fields, *get_args(Materialization), *get_args(AuditName)} - {"sql"}
    assert [name for name in sorted(names) if f"`{name}" not in page] == []


def test_names_are_such_that_a_check_may_have_them_and_none_is_there_twice():
    audits = '\n  - "no bad rows!": SELECT * FROM this\n  - not_null: ["my size"]'
    sql = "SELECT repo, path, size AS `my size` FROM files"
    found = project(m=model_text(sql, audits=audits)).meanings["m"].header.audits
    assert [each.label for each in found] == ["no_bad_rows_", "not_null_my_size"]
    with pytest.raises(BadInputError, match="two audits are called not_null_my_size"):
        project(m=model_text(sql, audits=f'{audits}\n  - not_null: ["my size"]'))
