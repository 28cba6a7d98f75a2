"""What differs between environments stands in one file, and what is misspelt there is refused with what was meant."""

from pathlib import Path

import pytest

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.overlays import laid_over, read_overlay
from lakehouse_assets.core.settings import Remote, load_settings

FILE = """
[base]
home = "${PLACE}/lake"
keep_days = 3
[base.variables]
DATA = "samples"
[dev]
[prod]
spark = "spark://cluster:7077"
keep_days = 30
[prod.variables]
DATA = "/data/${REGION}"
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "lakehouse.toml").write_text(FILE)
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    return tmp_path


def test_an_environment_says_what_differs_from_the_base(project: Path):
    dev = load_settings({"LAKEHOUSE_ENV": "dev", "PLACE": "here"})
    prod = load_settings({"LAKEHOUSE_ENV": "prod", "PLACE": "/there", "REGION": "north"})
    assert (dev.home, dev.keep_days, dev.variables) == (project / "here" / "lake", 3, {"DATA": "samples"})
    assert (prod.home, prod.keep_days, prod.variables) == (Path("/there/lake"), 30, {"DATA": "/data/north"})
    assert prod.spark == Remote(url="spark://cluster:7077")
    assert (dev.environment, load_settings({"PLACE": "x"}).environment) == ("dev", "")
    assert dev.ingest == project / "ingest"


def test_the_process_s_environment_wins_over_the_file(project: Path):
    given = {"LAKEHOUSE_ENV": "prod", "REGION": "x", "PLACE": "x", "LAKEHOUSE_KEEP_DAYS": "7", "DATA": "/mine"}
    settings = load_settings(given)
    assert (settings.keep_days, settings.variables) == (7, {"DATA": "/mine"})


@pytest.mark.parametrize(
    ("text", "given", "subject", "remedy"),
    [
        (FILE, {"LAKEHOUSE_ENV": "pord", "PLACE": "x"}, "LAKEHOUSE_ENV", "did you mean 'prod'"),
        (FILE, {}, "lakehouse.toml: home", "set it in the environment"),
        ("[base]\nkeep_day = 1", {}, "base.keep_day", "did you mean 'keep_days'"),
        ("home = 'x'", {}, "home", r"below \[base\]"),
        ("[base]\nprofile = 'fast'", {}, "lakehouse.toml: profile", "use update"),
        ("[base]\ncores = 1.5", {}, "lakehouse.toml: cores", "write one of these"),
        ("[base.variables]\nX = 1", {}, "base.variables", "quote"),
        ("[base", {}, "lakehouse.toml", "mend the file"),
    ],
)
def test_what_is_not_understood_is_refused_by_its_place(project: Path, text: str, given, subject: str, remedy: str):
    (project / "lakehouse.toml").write_text(text)
    with pytest.raises(BadInputError, match=remedy) as refused:
        load_settings(given)
    assert subject in refused.value.subject


def test_an_environment_without_a_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInputError, match=r"there is no lakehouse\.toml"):
        load_settings({"LAKEHOUSE_ENV": "dev"})
    with pytest.raises(BadInputError, match="there is no file"):
        load_settings({"LAKEHOUSE_SETTINGS": "gone.toml"})


def test_things_of_a_list_are_laid_over_those_of_the_same_name():
    base = {"files": [{"name": "a", "path": "1", "columns": [{"name": "x", "type": "int"}]}, {"name": "b"}]}
    over = {"files": [{"name": "a", "columns": [{"name": "x", "sensitive": True}]}, {"name": "c"}]}
    assert laid_over(base, over) == {
        "files": [
            {"name": "a", "path": "1", "columns": [{"name": "x", "type": "int", "sensitive": True}]},
            {"name": "b"},
            {"name": "c"},
        ]
    }
    assert laid_over({"key": ["a", "b"]}, {"key": ["c"]}) == {"key": ["c"]}


def test_a_lake_in_a_store_is_no_path_of_the_project(tmp_path: Path):
    (tmp_path / "lakehouse.toml").write_text('[base]\nlake = "gs://bucket/lake"\n[dev]\nlake = "here"\n')
    environ = {"LAKEHOUSE_SETTINGS": str(tmp_path / "lakehouse.toml")}
    assert read_overlay(environ).values == {"LAKEHOUSE_LAKE": "gs://bucket/lake"}
    assert read_overlay(environ | {"LAKEHOUSE_ENV": "dev"}).values == {"LAKEHOUSE_LAKE": str(tmp_path / "here")}
