"""Settings come from the environment, typed, and a wrong one is refused with the remedy."""

from pathlib import Path

import pytest

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.settings import PROJECT_ROOT, InProcess, Remote, Resident, load_settings


def test_without_settings_the_home_is_in_the_project_and_spark_is_the_resident_server_if_it_is_up():
    settings = load_settings({})
    assert settings.home == PROJECT_ROOT / ".lakehouse"
    assert settings.spark == Resident(required=False)
    assert settings.profile == "update"


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("in-process", InProcess()),
        ("resident", Resident()),
        ("sc://host:15002", Remote(url="sc://host:15002")),
        ("spark://host:7077", Remote(url="spark://host:7077")),
        ("yarn", Remote(url="yarn")),
    ],
)
def test_one_setting_chooses_the_spark(text, target):
    assert load_settings({"LAKEHOUSE_SPARK": text}).spark == target


def test_a_home_is_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    assert load_settings({"LAKEHOUSE_HOME": "some/where"}).home == tmp_path / "some" / "where"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LAKEHOUSE_SPARK", "sparkle"),
        ("LAKEHOUSE_PROFILE", "fast"),
        ("LAKEHOUSE_CORES", "0"),
        ("LAKEHOUSE_CORES", "many"),
        ("LAKEHOUSE_RESIDENT_PORT", "-1"),
    ],
)
def test_a_wrong_setting_is_refused_by_name(name, value):
    with pytest.raises(BadInputError) as refusal:
        load_settings({name: value})
    assert refusal.value.subject == name
    assert value in refusal.value.seen
