"""Unit tests of models are run over given rows, and the models that come with the package pass theirs."""

from pathlib import Path

import pytest
import yaml

from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.settings import DEFAULT_MODELS
from lakehouse_assets.lake.model_tests import run_test
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.models.files import files_in
from lakehouse_assets.models.project import load_project
from lakehouse_assets.models.unit_tests import UnitTest, UnitTestResult, unit_tests_in
from lakehouse_assets_tests.support.models import project
from lakehouse_assets_tests.support.writes import no_spark

DEFAULT = load_project(files_in(DEFAULT_MODELS), CATALOG)
TESTS = unit_tests_in(DEFAULT_MODELS)
LARGE = project(
    base="SELECT repo, path, size FROM files",
    large="SELECT repo, path, day FROM files WHERE size > 1",
    top="SELECT * FROM base",
)


def run(test: UnitTest) -> UnitTestResult:
    return run_test(Lake(Path("/nowhere")), LARGE, test, engine="local", spark=no_spark)


def test_every_model_that_comes_along_has_a_test_descriptions_and_an_audit():
    assert {test.model for test in TESTS} == set(DEFAULT.meanings)
    for meaning in DEFAULT.meanings.values():
        assert meaning.header.description
        assert set(meaning.header.columns) == set(meaning.columns)
        assert meaning.header.audits


@pytest.mark.parametrize("test", TESTS, ids=[f"{test.model}: {test.name}" for test in TESTS])
def test_the_models_that_come_along_pass_their_tests(test: UnitTest):
    result = run_test(Lake(Path("/nowhere")), DEFAULT, test, engine="local", spark=no_spark)
    assert (result.missing, result.surplus) == ((), ())


def test_rows_that_are_missing_or_too_many_are_told():
    given = [{"repo": "a", "path": "x", "size": 1}, {"repo": "a", "path": "y", "size": 2}]
    expect = [{"repo": "a", "path": "x"}]
    result = run(UnitTest(name="t", model="large", given={"files": given}, expect=expect))
    assert not result.passed
    assert result.missing == ({"repo": "a", "path": "x"},)
    assert result.surplus == ({"repo": "a", "path": "y"},)


def test_days_and_rows_of_other_models_can_be_given():
    given = yaml.safe_load("[{repo: a, path: x, size: 2, day: 2026-02-01}]")
    expect = yaml.safe_load("[{day: 2026-02-01}]")
    assert run(UnitTest(name="t", model="large", given={"files": given}, expect=expect)).passed
    assert run(UnitTest(name="t", model="top", given={"base": [{"path": "x", "size": 3}]}, expect=[{"size": 3}])).passed


def test_nothing_is_expected_where_nothing_is_given():
    assert run(UnitTest(name="t", model="large", given={}, expect=[])).passed
    given = {"files": [{"repo": "a", "path": "x", "size": 5}]}
    assert len(run(UnitTest(name="t", model="large", given=given, expect=[])).surplus) == 1


@pytest.mark.parametrize(
    ("model", "given", "seen"),
    [
        ("lrge", {}, "there is no such model"),
        ("top", {"files": []}, "the model reads base alone"),
        ("large", {"files": [{"sise": 1}]}, "it has no sise"),
    ],
)
def test_a_test_of_nothing_is_refused(model: str, given: dict[str, list[dict[str, int]]], seen: str):
    with pytest.raises(BadInputError, match=seen):
        run(UnitTest(name="t", model=model, given=given, expect=[]))


def test_a_wrong_file_of_tests_is_refused(tmp_path: Path):
    (tmp_path / "m.test.yaml").write_text("t: {gven: {}}")
    with pytest.raises(BadInputError, match=r"m\.test\.yaml"):
        unit_tests_in(tmp_path)
