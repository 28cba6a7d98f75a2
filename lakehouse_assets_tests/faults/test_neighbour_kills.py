"""A sync of repositories that read each other is killed between them; run again, all end as clean builds."""

import signal
from pathlib import Path

import pytest

from lakehouse_assets.core.effects import KILL_AT
from lakehouse_assets.core.settings import Settings
from lakehouse_assets_tests.faults.conftest import FaultNamed
from lakehouse_assets_tests.support.command import lakehouse, lakehouse_json, spawn
from lakehouse_assets_tests.support.repos import RepoBuilder

OFFERER = {"a.py": "class Top:\n    def run(self):\n        pass\n\n\ndef f():\n    pass\n"}
BETWEEN = {"b/__init__.py": "from a import *\nimport a\n\n\nclass Mid(a.Top):\n    pass\n"}
IMPORTER = {"main.py": "from b import Mid, f\n\n\nclass Leaf(Mid):\n    pass\n\n\nLeaf().run()\nf()\n"}
TOO_LATE = 49
"""More than a sync of the three writes: at this number it is not killed, and at all odd ones below it is."""


def kill_and_repeat(settings: Settings, folder: Path, number: int, fault: FaultNamed) -> None:
    tried = fault("kill -9 between repositories that read each other")
    builders = {name: RepoBuilder(folder / name) for name in ("a", "b", "c")}
    for (name, builder), files in zip(builders.items(), (OFFERER, BETWEEN, IMPORTER), strict=True):
        builder.commit({**files})
        lakehouse("repo", "add", name, str(builder.path))
    lakehouse("sync", "--all")
    builders["a"].commit({"a.py": "class Top:\n    pass\n", "src/kit/__init__.py": "", "src/kit/one.py": ""})
    builders["b"].commit(
        {"b/__init__.py": "class Mid:\n    def run(self):\n        pass\n", "b/more.py": "import kit\n"}
    )
    killed = spawn(settings, "sync", "--all", **{KILL_AT: f"write: after commit #{number}"})
    assert killed.returncode == (-signal.SIGKILL if number < TOO_LATE else 0), killed.stderr

    assert lakehouse("sync", "c").exit_code == 0  # what reads the others does not wait for their repair
    assert lakehouse("sync", "--all").exit_code == 0
    assert all(each["fresh"] for each in lakehouse_json("status")["repositories"])
    compared = lakehouse_json("verify", "--all")
    assert {each["repo"] for each in compared} == {*builders}
    tried.survived(lost=sum(each["lacking"] for each in compared), doubled=sum(each["surplus"] for each in compared))


@pytest.fixture(autouse=True)
def without_spark(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKEHOUSE_ENGINE", "local")


def test_repositories_end_as_clean_builds_after_a_kill_between_them(
    settings: Settings, tmp_path: Path, fault: FaultNamed
):
    kill_and_repeat(settings, tmp_path, 9, fault)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(1, TOO_LATE + 1, 2))
def test_repositories_end_as_clean_builds_after_a_kill_at_any_write(
    settings: Settings, tmp_path: Path, number: int, fault: FaultNamed
):
    kill_and_repeat(settings, tmp_path, number, fault)
