"""Settings come from the environment, typed, and a wrong one is refused with the remedy."""

from pathlib import Path

import pytest

from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.settings import PROJECT_ROOT, InProcess, Remote, Resident, StorePlace, load_settings


def test_without_settings_the_home_is_in_the_project_and_spark_is_the_resident_server_if_it_is_up():
    settings = load_settings({})
    assert settings.home == PROJECT_ROOT / ".lakehouse"
    assert settings.spark == Resident(required=False)
    assert settings.profile == "bulk"


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


KEYS = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}


def test_the_tables_are_in_the_home_in_another_folder_or_in_a_bucket_and_locks_on_this_machine(tmp_path: Path):
    home = {"LAKEHOUSE_HOME": str(tmp_path / "home")}
    here = load_settings(home)
    assert (here.lake, here.locks) == (tmp_path / "home/lake", tmp_path / "home/lake")
    other = load_settings(home | {"LAKEHOUSE_LAKE": str(tmp_path / "other")})
    assert (other.lake, other.locks) == (tmp_path / "other", tmp_path / "other")
    away = load_settings(home | KEYS | {"LAKEHOUSE_LAKE": "s3://bucket/team/lake/"})
    assert away.lake == StorePlace(url="s3://bucket/team/lake", machine=tmp_path / "home/lake")
    assert away.locks == tmp_path / "home/lake"


@pytest.mark.parametrize(
    ("environ", "subject"),
    [
        ({"LAKEHOUSE_LAKE": "http://bucket/lake"}, "LAKEHOUSE_LAKE"),
        ({"LAKEHOUSE_LAKE": "s3://key:secret@bucket/lake"}, "LAKEHOUSE_LAKE"),
        ({"LAKEHOUSE_LAKE": "s3://bucket/lake", "AWS_ACCESS_KEY_ID": ""}, "AWS_ACCESS_KEY_ID"),
        ({"LAKEHOUSE_LAKE": "s3://bucket/lake", "AWS_SECRET_ACCESS_KEY": ""}, "AWS_SECRET_ACCESS_KEY"),
        ({"LAKEHOUSE_LAKE": "s3://bucket/lake", "AWS_ENDPOINT_URL": "http://store:9000"}, "AWS_ENDPOINT_URL"),
    ],
)
def test_a_place_of_tables_that_nobody_could_use_is_refused_early(environ: dict[str, str], subject: str):
    with pytest.raises(BadInputError) as refused:
        load_settings(KEYS | environ)
    assert refused.value.subject == subject
    assert refused.value.remedy
    assert "secret" not in refused.value.seen


def test_settings_hold_no_credential():
    settings = load_settings(KEYS | {"LAKEHOUSE_LAKE": "s3://bucket/lake"})
    assert "secret" not in settings.model_dump_json()
