import re
from pathlib import Path

import pytest

from lakehouse_assets.core import java
from lakehouse_assets.core.errors import EnvironmentNotReadyError
from lakehouse_assets.core.java import find_java, java_major


@pytest.fixture(autouse=True)
def no_standard_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "_STANDARD_PLACES", ())


def fake_java(home: Path, version: str, *, release: bool = True) -> Path:
    """A Java as far as set-up looks at it: an executable, and a release file or an answer to -version."""
    executable = home / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2021-09-14' >&2\n")
    executable.chmod(0o755)
    if release:
        (home / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return home


@pytest.mark.parametrize("release", [True, False], ids=["from the release file", "by asking it"])
@pytest.mark.parametrize(
    ("version", "major"), [("17.0.15", 17), ("21", 21), ("1.8.0_412", 8), ("11.0.2", 11), ("25.0.3", 25), ("x", None)]
)
def test_the_major_version_is_read(tmp_path: Path, version: str, major: int | None, release: bool):
    assert java_major(fake_java(tmp_path / "jdk", version, release=release)) == major


def test_a_folder_without_java_has_no_version(tmp_path: Path):
    assert java_major(tmp_path) is None


def test_no_java_at_all_is_refused_with_where_it_was_looked_for(tmp_path: Path):
    with pytest.raises(EnvironmentNotReadyError, match="looked at JAVA_HOME, PATH and the standard places") as refused:
        find_java({"PATH": str(tmp_path)})
    assert "make setup" in refused.value.remedy


def test_an_old_java_is_refused_with_its_version(tmp_path: Path):
    home = fake_java(tmp_path / "jdk8", "1.8.0_412")
    with pytest.raises(EnvironmentNotReadyError, match=re.escape(f"{home} (version 8)")):
        find_java({"PATH": str(home / "bin")})


def test_java_home_goes_before_path(tmp_path: Path):
    chosen, other = fake_java(tmp_path / "a", "17.0.1"), fake_java(tmp_path / "b", "21.0.1")
    found = find_java({"JAVA_HOME": str(chosen), "PATH": str(other / "bin")})
    assert (found.home, found.major) == (chosen, 17)
    assert found.executable == chosen / "bin" / "java"


def test_an_old_java_home_does_not_hide_a_fit_java_on_path(tmp_path: Path):
    old, fit = fake_java(tmp_path / "old", "11.0.2"), fake_java(tmp_path / "fit", "21.0.1")
    assert find_java({"JAVA_HOME": str(old), "PATH": str(fit / "bin")}).home == fit


def test_a_link_on_path_leads_to_the_folder_behind_it(tmp_path: Path):
    home = fake_java(tmp_path / "jdk", "17.0.15")
    links = tmp_path / "bin"
    links.mkdir()
    (links / "java").symlink_to(home / "bin" / "java")
    assert find_java({"PATH": str(links)}).home == home


def test_the_fit_one_is_found_among_several_in_a_standard_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name, version in {"jdk-11": "11.0.2", "jdk-17": "17.0.15", "jdk-25": "25.0.3"}.items():
        fake_java(tmp_path / name, version)
    monkeypatch.setattr(java, "_STANDARD_PLACES", (str(tmp_path),))
    assert find_java({"PATH": ""}).home == tmp_path / "jdk-17"
