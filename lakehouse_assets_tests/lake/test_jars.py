import importlib.metadata
import json
import os
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from lakehouse_assets.core.errors import EnvironmentNotReadyError
from lakehouse_assets.core.places import Provider
from lakehouse_assets.lake import jars
from lakehouse_assets.lake.jar_sets import HADOOP_VERSION, STORES, JarSet, delta_set
from lakehouse_assets.lake.jars import cache_directory, delta_jars, jar_directory, kept_jars, resolve_jars

DELTA = delta_set()


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"LAKEHOUSE_CACHE": str(tmp_path / "cache"), "PATH": os.environ["PATH"]}


def write_jars(folder: Path, *, leave_out: str = "", broken: str = "") -> Path:
    """What Ivy leaves in its folder: Delta's JARs and one that nobody needs."""
    folder.mkdir(parents=True)
    for name in (*DELTA.names, "org.example_other-1.0.jar"):
        if name == leave_out:
            continue
        if name == broken:
            (folder / name).write_text("<html>502 Bad Gateway</html>")
            continue
        with zipfile.ZipFile(folder / name, "w") as archive:
            archive.writestr("META-INF/MANIFEST.MF", name)
    return folder


def ivy_that(**faults: str) -> Callable[[Path, dict[str, str], JarSet], Path]:
    return lambda partial, env, jars: write_jars(partial / "ivy" / "jars", **faults)


@pytest.fixture
def resolved(env: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(jars, "_ask_ivy", ivy_that())
    return resolve_jars(env)[0].parent


def fake_java_home(folder: Path) -> str:
    executable = folder / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.write_text("#!/bin/sh\n")
    executable.chmod(0o755)
    (folder / "release").write_text('JAVA_VERSION="17.0.15"\n')
    return str(folder)


def test_the_coordinates_go_with_the_installed_delta_and_spark():
    spark = ".".join(importlib.metadata.version("pyspark").split(".")[:2])
    assert f"io.delta:delta-spark_{spark}_2.13:{importlib.metadata.version('delta-spark')}" == DELTA.coordinates


def test_the_cache_is_where_the_environment_says():
    assert cache_directory({"LAKEHOUSE_CACHE": "/c", "XDG_CACHE_HOME": "/x"}) == Path("/c")
    assert cache_directory({"LAKEHOUSE_CACHE": "", "XDG_CACHE_HOME": "/x"}) == Path("/x/lakehouse_assets")
    assert cache_directory({}) == Path.home() / ".cache" / "lakehouse_assets"


def test_an_empty_cache_is_refused_with_the_remedy(env: dict[str, str]):
    with pytest.raises(EnvironmentNotReadyError, match="not resolved yet") as refused:
        delta_jars(env)
    assert refused.value.remedy == "run `make setup`"


def test_resolving_keeps_deltas_own_jars_and_nothing_else(env: dict[str, str], resolved: Path):
    assert resolved == jar_directory(env)
    assert {each.name for each in resolved.iterdir()} == {*DELTA.names, "manifest.json"}
    assert [each.name for each in resolved.parent.iterdir()] == [resolved.name]
    assert delta_jars(env) == [resolved / name for name in DELTA.names]


def test_a_second_resolve_does_not_ask_ivy(env: dict[str, str], resolved: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(jars, "_ask_ivy", None)
    assert resolve_jars(env) == delta_jars(env)


def test_a_missing_jar_is_refused_by_name(env: dict[str, str], resolved: Path):
    (resolved / DELTA.names[2]).unlink()
    with pytest.raises(EnvironmentNotReadyError, match=re.escape(f"{DELTA.names[2]} is missing")):
        delta_jars(env)


def test_a_jar_cut_short_is_refused_and_mended_by_the_next_resolve(env: dict[str, str], resolved: Path):
    (resolved / DELTA.names[0]).write_bytes(b"PK")
    with pytest.raises(EnvironmentNotReadyError, match="2 bytes instead of"):
        delta_jars(env)
    assert resolve_jars(env) == delta_jars(env)
    assert [each.name for each in resolved.parent.iterdir()] == [resolved.name]


@pytest.mark.parametrize("text", ["", "{", "not json"])
def test_an_unreadable_manifest_is_refused(env: dict[str, str], resolved: Path, text: str):
    (resolved / "manifest.json").write_text(text)
    with pytest.raises(EnvironmentNotReadyError, match="manifest"):
        delta_jars(env)


def test_a_manifest_of_other_jars_is_refused(env: dict[str, str], resolved: Path):
    (resolved / "manifest.json").write_text(json.dumps({"other.jar": 1}))
    with pytest.raises(EnvironmentNotReadyError, match="is missing"):
        delta_jars(env)


@pytest.mark.parametrize(("fault", "seen"), [("leave_out", "without"), ("broken", "is not a JAR")])
def test_what_ivy_left_unfinished_is_not_kept(
    env: dict[str, str], monkeypatch: pytest.MonkeyPatch, fault: str, seen: str
):
    monkeypatch.setattr(jars, "_ask_ivy", ivy_that(**{fault: DELTA.names[1]}))
    with pytest.raises(EnvironmentNotReadyError, match=seen):
        resolve_jars(env)
    assert list(jar_directory(env).parent.iterdir()) == []


def test_of_two_at_once_the_first_folder_stays(env: dict[str, str], monkeypatch: pytest.MonkeyPatch):
    def overtaken(partial: Path, _: dict[str, str], __: JarSet) -> Path:
        monkeypatch.setattr(jars, "_ask_ivy", ivy_that())
        first.extend(resolve_jars(env))
        first[0].with_name("mark").write_text("first")
        return write_jars(partial / "ivy" / "jars")

    first: list[Path] = []
    monkeypatch.setattr(jars, "_ask_ivy", overtaken)
    assert resolve_jars(env) == first
    assert first[0].with_name("mark").read_text() == "first"


def test_what_a_killed_resolve_left_is_removed_once_it_is_old(env: dict[str, str], monkeypatch: pytest.MonkeyPatch):
    old, young = (jar_directory(env).parent / f".resolving-{name}" for name in ("old", "young"))
    old.mkdir(parents=True)
    young.mkdir()
    os.utime(old, (0, 0))
    monkeypatch.setattr(jars, "_ask_ivy", ivy_that())
    resolve_jars(env)
    assert young.exists()
    assert not old.exists()


def test_a_cache_that_cannot_be_written_is_refused(tmp_path: Path, env: dict[str, str]):
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(EnvironmentNotReadyError, match="LAKEHOUSE_CACHE"):
        resolve_jars(env)


def test_an_unreachable_repository_is_told_with_ivys_last_words(
    tmp_path: Path, env: dict[str, str], monkeypatch: pytest.MonkeyPatch
):
    submit = tmp_path / "spark" / "bin" / "spark-submit"
    submit.parent.mkdir(parents=True)
    submit.write_text("#!/bin/sh\necho \"arguments: $*\"\necho 'unresolved dependency: not found' >&2\nexit 1\n")
    submit.chmod(0o755)
    monkeypatch.setattr(jars, "_spark_home", lambda: tmp_path / "spark")
    with pytest.raises(EnvironmentNotReadyError, match="unresolved dependency: not found") as refused:
        resolve_jars(env | {"JAVA_HOME": fake_java_home(tmp_path / "jdk")})
    assert f"--packages {DELTA.coordinates} --exclude-packages" in refused.value.seen
    assert list(jar_directory(env).parent.iterdir()) == []


@pytest.mark.parametrize("jars", STORES.values(), ids=STORES)
def test_the_jars_of_a_store_are_of_the_hadoop_that_spark_ships(jars: JarSet) -> None:
    shipped = Path(str(importlib.metadata.distribution("pyspark").locate_file("pyspark/jars")))
    assert (shipped / f"hadoop-client-api-{HADOOP_VERSION}.jar").is_file()
    assert jars.coordinates.endswith(f":{HADOOP_VERSION}")
    assert jars.names[0].endswith(f"-{HADOOP_VERSION}.jar")


@pytest.mark.parametrize("jars", STORES.values(), ids=STORES)
def test_sets_of_jars_are_kept_apart(env: dict[str, str], jars: JarSet) -> None:
    assert jar_directory(env, jars) != jar_directory(env)
    with pytest.raises(EnvironmentNotReadyError, match="tables in an object store"):
        kept_jars(env, jars)


@pytest.mark.slow
@pytest.mark.parametrize("provider", ["azure", "gcs"])
def test_ivy_gives_what_a_store_needs_and_no_more(env: dict[str, str], provider: Provider) -> None:
    jars = STORES[provider]
    assert [path.name for path in resolve_jars(env, jars)] == list(jars.names)
