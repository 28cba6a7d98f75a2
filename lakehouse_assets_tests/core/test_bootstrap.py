import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from dagster import DagsterInstance
from dotenv import dotenv_values

from lakehouse_assets.core.bootstrap.__main__ import main
from lakehouse_assets.core.bootstrap.machine import (
    STAMP,
    find_interpreters,
    gather_facts,
    home_directory,
    read_environment,
)
from lakehouse_assets.core.bootstrap.perform import Performer
from lakehouse_assets.core.bootstrap.plan import (
    BELOW,
    ENV_HEADER,
    INTERRUPTED,
    JAVA_PACKAGES,
    OLDEST,
    Environment,
    Facts,
    InstallPackages,
    InstallProject,
    Interpreter,
    MakeEnvironment,
    ResolveJars,
    Version,
    WriteEnvFile,
    choose_interpreter,
    dotted,
    env_file_text,
    plan_setup,
    rebuild_reason,
    setup_stamp,
)
from lakehouse_assets.core.errors import EnvironmentNotReadyError
from lakehouse_assets.core.settings import PROJECT_ROOT
from lakehouse_assets.core.settings import home_directory as home_of_settings

ROOT = Path("/srv/project")
REQUIREMENTS = (b"[project]", b"click==1")
FULL = setup_stamp(REQUIREMENTS, (3, 11, 2), ("dev",))
BARE = setup_stamp(REQUIREMENTS, (3, 11, 2), ())
NO_JAVA = EnvironmentNotReadyError(subject="Java", seen="none", why="Spark", remedy="install it")


def interpreter(
    version: Version = (3, 11, 2), *, executable: str = "/usr/bin/python3", can_make_venv: bool = True
) -> Interpreter:
    return Interpreter(executable=Path(executable), version=version, can_make_venv=can_make_venv)


def environment(
    *, version: Version = (3, 11, 2), complete: bool = True, moved: bool = False, stamp: str | None = FULL
) -> Environment:
    return Environment(version=version, complete=complete, moved=moved, stamp=stamp)


def facts(
    *,
    dev: bool = True,
    requirements: tuple[bytes, ...] = REQUIREMENTS,
    environment: Environment | None = None,
    interpreters: tuple[Interpreter, ...] = (),
    no_java: EnvironmentNotReadyError | None = None,
    lacks_browser: bool = False,
    can_install_packages: bool = False,
    env_file: str | None = None,
) -> Facts:
    return Facts(
        root=ROOT,
        home=ROOT / ".lakehouse",
        dev=dev,
        requirements=requirements,
        environment=environment,
        interpreters=interpreters,
        no_java=no_java,
        lacks_browser=lacks_browser,
        can_install_packages=can_install_packages,
        env_file=env_file_text(ROOT) if env_file is None else env_file,
    )


def fake_command(folder: Path, name: str, script: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    command = folder / name
    command.write_text(f"#!/bin/sh\n{script}\n")
    command.chmod(0o755)
    return command


def fake_venv(folder: Path, *, version: str = "3.11.2", made_for: Path | None = None) -> Path:
    fake_command(folder / "bin", "python", "exit 0")
    (folder / "pyvenv.cfg").write_text(
        f"home = /usr/bin\nversion = {version}\ncommand = /usr/bin/python3 -m venv --clear {made_for or folder}\n"
    )
    pip = folder / "lib" / "python3.11" / "site-packages" / "pip-23.0.1.dist-info"
    pip.mkdir(parents=True)
    (pip / "RECORD").write_text("")
    return folder


# What is left to do


def test_when_nothing_changed_only_the_jars_are_looked_at():
    assert plan_setup(facts(environment=environment())) == (ResolveJars(),)


def test_a_bare_machine_gets_packages_environment_project_and_jars_in_this_order():
    bare = interpreter(can_make_venv=False)
    given = facts(interpreters=(bare,), no_java=NO_JAVA, can_install_packages=True)
    assert plan_setup(given) == (
        InstallPackages(wanted=(("python3.11-venv",), JAVA_PACKAGES)),
        MakeEnvironment(interpreter=bare, reason="there is none"),
        InstallProject(extras=("dev",), stamp=FULL),
        ResolveJars(),
    )


@pytest.mark.parametrize(
    "changed",
    [(b"[project] ", b"click==1"), (b"[project]", b"click==2"), (b"[project]c", b"lick==1")],
    ids=["pyproject", "constraints", "a byte moved from one to the other"],
)
def test_changed_requirements_install_again_in_the_same_environment(changed: tuple[bytes, ...]):
    steps = plan_setup(facts(requirements=changed, environment=environment()))
    assert steps == (
        InstallProject(extras=("dev",), stamp=setup_stamp(changed, (3, 11, 2), ("dev",))),
        ResolveJars(),
    )


def test_an_environment_without_a_stamp_is_kept_and_installed_into():
    steps = plan_setup(facts(environment=environment(stamp=None)))
    assert steps == (InstallProject(extras=("dev",), stamp=FULL), ResolveJars())


def test_an_install_with_tools_serves_a_set_up_without_them():
    assert plan_setup(facts(dev=False, environment=environment(stamp=FULL))) == (ResolveJars(),)


def test_an_install_without_tools_does_not_serve_a_set_up_with_them():
    assert plan_setup(facts(dev=False, environment=environment(stamp=BARE))) == (ResolveJars(),)
    steps = plan_setup(facts(dev=True, environment=environment(stamp=BARE)))
    assert steps == (InstallProject(extras=("dev",), stamp=FULL), ResolveJars())


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (environment(complete=False), "it lacks its interpreter or pip"),
        (environment(stamp=INTERRUPTED), "an install in it was cut short"),
        (environment(version=(3, 10, 4)), "it has Python 3.10.4"),
        (environment(version=(3, 14, 0)), "it has Python 3.14.0"),
        (environment(moved=True), "it was made for another folder"),
    ],
)
def test_an_environment_that_cannot_be_kept_is_made_anew_and_filled(found: Environment, reason: str):
    steps = plan_setup(facts(environment=found, interpreters=(interpreter(),)))
    assert steps == (
        MakeEnvironment(interpreter=interpreter(), reason=reason),
        InstallProject(extras=("dev",), stamp=FULL),
        ResolveJars(),
    )


def test_without_java_and_without_root_it_stops_before_anything_is_done():
    with pytest.raises(EnvironmentNotReadyError) as refused:
        plan_setup(facts(environment=environment(), no_java=NO_JAVA))
    assert refused.value.subject == "Java"


# Which Python


def test_the_newest_supported_python_is_chosen():
    found = tuple(interpreter(version) for version in [(3, 11, 9), (3, 14, 1), (3, 13, 0), (3, 12, 4)])
    assert choose_interpreter(found, can_install_packages=False).version == (3, 13, 0)


def test_a_python_that_makes_environments_goes_before_a_newer_one_that_does_not():
    found = (interpreter((3, 13, 0), can_make_venv=False), interpreter((3, 11, 2)))
    assert choose_interpreter(found, can_install_packages=False).version == (3, 11, 2)


def test_packages_are_not_counted_on_for_a_python_that_the_system_did_not_bring():
    own = interpreter((3, 13, 0), executable="/opt/python/bin/python3.13", can_make_venv=False)
    with pytest.raises(EnvironmentNotReadyError, match=re.escape("python3.13-venv")):
        choose_interpreter((own,), can_install_packages=True)


def test_only_unfit_pythons_are_named_in_the_refusal():
    with pytest.raises(EnvironmentNotReadyError, match=re.escape("/usr/bin/python3 (3.9.2)")):
        choose_interpreter((interpreter((3, 9, 2)),), can_install_packages=True)


def test_the_supported_pythons_are_those_of_pyproject():
    project = tomllib.loads((PROJECT_ROOT / "pyproject.toml").read_text())["project"]
    assert project["requires-python"] == f">={dotted(OLDEST)},<{dotted(BELOW)}"


def test_a_shim_that_does_not_run_is_passed_over(tmp_path: Path):
    fake_command(tmp_path, "python3.13", "echo not installed >&2; exit 127")
    fake_command(tmp_path, "python3.12", """echo '["/opt/p/bin/python3.12", [3, 12, 4], true]'""")
    found = find_interpreters({"PATH": str(tmp_path)})
    assert [each.version for each in found if each.executable.parent == Path("/opt/p/bin")] == [(3, 12, 4)]
    assert not [each for each in found if each.executable.parent == tmp_path]


def test_a_python_inside_an_environment_answers_with_the_one_outside():
    found = find_interpreters({"PATH": str(Path(sys.prefix) / "bin")})
    assert found
    assert all(Path(sys.prefix) not in each.executable.parents for each in found)


# What is there


def test_no_environment_is_none(tmp_path: Path):
    assert read_environment(tmp_path / ".venv") is None


def test_a_whole_environment_can_be_kept(tmp_path: Path):
    found = read_environment(fake_venv(tmp_path / ".venv"))
    assert found == Environment(version=(3, 11, 2), complete=True, moved=False, stamp=None)


def test_an_environment_behind_a_link_can_be_kept(tmp_path: Path):
    fake_venv(tmp_path / "elsewhere")
    (tmp_path / ".venv").symlink_to(tmp_path / "elsewhere")
    assert rebuild_reason(read_environment(tmp_path / ".venv")) is None


def test_a_copied_checkout_notices_that_its_environment_belongs_to_the_original(tmp_path: Path):
    found = read_environment(fake_venv(tmp_path / "copy" / ".venv", made_for=tmp_path / "original" / ".venv"))
    assert rebuild_reason(found) == "it was made for another folder"


@pytest.mark.parametrize(
    "missing", ["bin/python", "pyvenv.cfg", "lib/python3.11/site-packages/pip-23.0.1.dist-info/RECORD"]
)
def test_an_environment_cut_short_cannot_be_kept(tmp_path: Path, missing: str):
    folder = fake_venv(tmp_path / ".venv")
    (folder / missing).unlink()
    assert rebuild_reason(read_environment(folder)) is not None


def test_a_link_to_nowhere_cannot_be_kept(tmp_path: Path):
    (tmp_path / ".venv").symlink_to(tmp_path / "gone")
    assert rebuild_reason(read_environment(tmp_path / ".venv")) == "it lacks its interpreter or pip"


def test_set_up_outside_a_checkout_is_refused(tmp_path: Path):
    with pytest.raises(EnvironmentNotReadyError, match=re.escape("pyproject.toml")):
        gather_facts(tmp_path, dev=True)


@pytest.mark.parametrize("given", [None, "", "/data/lake", "~/lake"])
def test_set_up_and_settings_agree_on_the_home(given: str | None):
    env = {} if given is None else {"LAKEHOUSE_HOME": given}
    assert home_directory(PROJECT_ROOT, env) == home_of_settings(env)


# The stamp


def performer_with_pip(tmp_path: Path, script: str) -> tuple[Performer, Path]:
    """A project whose environment's Python is a shell script."""
    fake_command(tmp_path / ".venv" / "bin", "python", script)
    return Performer(root=tmp_path, log=tmp_path / "setup.log"), tmp_path / ".venv" / STAMP


def test_the_stamp_is_written_when_the_install_is_done(tmp_path: Path):
    performer, stamp = performer_with_pip(tmp_path, f"cat {tmp_path}/.venv/{STAMP}")
    performer.perform(InstallProject(extras=("dev",), stamp=FULL))
    assert stamp.read_text() == FULL
    assert (tmp_path / "setup.log").read_text().rstrip().endswith(INTERRUPTED), "while pip runs, no stamp is valid"


def test_a_failed_install_is_repeated_from_an_empty_environment_and_shows_its_last_words(tmp_path: Path):
    performer, stamp = performer_with_pip(tmp_path, "echo no matching distribution; exit 3")
    with pytest.raises(EnvironmentNotReadyError, match="no matching distribution") as refused:
        performer.perform(InstallProject(extras=(), stamp=BARE))
    assert stamp.read_text() == INTERRUPTED
    assert rebuild_reason(environment(stamp=stamp.read_text())) == "an install in it was cut short"
    assert str(tmp_path / "setup.log") in refused.value.remedy


# .env


def test_the_env_file_gives_defaults_and_what_is_set_outside_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    root = tmp_path / "a folder with spaces, $HOME and #"
    root.mkdir()
    (root / ".env").write_text(env_file_text(root))
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    monkeypatch.delenv("LAKEHOUSE_HOME", raising=False)
    given = dotenv_values(root / ".env")
    assert (given["DAGSTER_HOME"], given["LAKEHOUSE_HOME"]) == (str(root), str(root / ".lakehouse"))
    monkeypatch.setenv("LAKEHOUSE_HOME", "/data/lake")
    given = dotenv_values(root / ".env")
    assert (given["DAGSTER_HOME"], given["LAKEHOUSE_HOME"]) == (str(root), "/data/lake")


def test_a_missing_or_outdated_env_file_is_written():
    without = facts(environment=environment(), env_file=f"{ENV_HEADER}\nDAGSTER_HOME=/elsewhere\n")
    assert plan_setup(without) == (WriteEnvFile(text=env_file_text(ROOT)), ResolveJars())


def test_an_env_file_of_the_users_own_is_left_alone():
    assert plan_setup(facts(environment=environment(), env_file="DAGSTER_HOME=/mine\n")) == (ResolveJars(),)


def test_a_folder_that_an_env_file_cannot_express_is_refused():
    with pytest.raises(EnvironmentNotReadyError, match="plainer name"):
        env_file_text(Path("/srv/a}b"))


# The command


def test_a_refusal_is_one_message_and_a_status(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    assert main(["--dry-run"]) == 1
    assert "What to do:" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_home_that_cannot_be_made_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LAKEHOUSE_HOME", str(tmp_path / "file" / "home"))
    assert main([]) == 1
    assert "LAKEHOUSE_HOME" in capsys.readouterr().err


def test_every_target_of_the_makefile_is_listed_by_make_help():
    makefile = (PROJECT_ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    assert phony
    targets = set(re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE))
    assert targets == set(phony.group(1).split())
    command = ["make", "--no-print-directory"]  # this test may itself run below `make test`
    shown = subprocess.run(command, cwd=PROJECT_ROOT, capture_output=True, text=True, check=True).stdout
    assert {line.split()[1] for line in shown.splitlines()} == targets
    assert all(len(line.split()) > 3 for line in shown.splitlines())


def test_the_dagster_instance_writes_to_the_home_and_not_to_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    project, home = tmp_path / "project", tmp_path / "home"
    project.mkdir()
    shutil.copy(PROJECT_ROOT / "dagster.yaml", project)
    monkeypatch.setenv("DAGSTER_HOME", str(project))
    monkeypatch.setenv("LAKEHOUSE_HOME", str(home))
    with DagsterInstance.get() as instance:
        assert instance.get_runs() == []
        assert not instance.telemetry_enabled
    assert (home / "history").is_dir()
    assert [each.name for each in project.iterdir()] == ["dagster.yaml"]


def test_the_constraints_repeat_the_projects_pins_and_name_no_address():
    project = tomllib.loads((PROJECT_ROOT / "pyproject.toml").read_text())["project"]
    asked = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    lines = [each for each in (PROJECT_ROOT / "constraints.txt").read_text().splitlines() if not each.startswith("#")]
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.]+", line) for line in lines)
    pinned = {_normal(line) for line in lines}
    assert {_normal(re.sub(r"\[.*\]", "", each)) for each in asked} - pinned == set()


def _normal(pin: str) -> str:
    name, _, version = pin.partition("==")
    return f"{re.sub(r'[-_.]+', '-', name).lower()}=={version}"


def test_a_browser_is_installed_where_that_is_possible_and_never_stops_a_set_up():
    there = environment(stamp=setup_stamp(REQUIREMENTS, (3, 11, 7), ("dev",)))
    able = plan_setup(facts(environment=there, lacks_browser=True, can_install_packages=True))
    assert able[0] == InstallPackages(wanted=(("chromium",),))
    unable = plan_setup(facts(environment=there, lacks_browser=True))
    assert not any(isinstance(step, InstallPackages) for step in unable)
