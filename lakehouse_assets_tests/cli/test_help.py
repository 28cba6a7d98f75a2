"""Help: verbs by purpose, examples that are right, completion, colours only where they are wanted."""

import os
import shlex
import subprocess
from pathlib import Path

import click
import pytest

from lakehouse_assets.cli.completed import repository_names
from lakehouse_assets.cli.main import _VERBS, cli
from lakehouse_assets.cli.verb_groups import EXAMPLES, GROUPS
from lakehouse_assets.core.settings import Settings
from lakehouse_assets_tests.support.command import LAKEHOUSE, lakehouse
from lakehouse_assets_tests.support.repos import RepoBuilder


def command_of(words: list[str]) -> click.Command:
    found: click.Command = cli
    for word in words:
        assert isinstance(found, click.Group), words
        inner = found.get_command(click.Context(found), word)
        assert inner is not None, words
        found = inner
    return found


def test_help_lists_every_verb_once_under_a_purpose():
    shown = [
        line.split()[0] for line in lakehouse("--help").stdout.splitlines() if line.startswith("  ") and line.split()
    ]
    for verb in _VERBS:
        assert shown.count(verb) == 1, verb
    for title in GROUPS:
        assert f"{title}:" in lakehouse("--help").stdout


@pytest.mark.parametrize("verb", EXAMPLES)
def test_examples_are_shown_and_name_only_options_that_are_there(verb: str):
    command = command_of(verb.split())
    options = {option for parameter in command.params for option in parameter.opts}
    for example in EXAMPLES[verb]:
        words = shlex.split(example)
        assert words[: 1 + len(verb.split())] == ["lakehouse", *verb.split()]
        assert {word for word in words if word.startswith("-")} <= options
        assert example in lakehouse(*verb.split(), "--help").stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_printed(shell: str):
    assert "_LAKEHOUSE_COMPLETE" in lakehouse("completion", shell).stdout


_ASK_BASH = """
source <(lakehouse completion bash)
while IFS= read -r line; do
    IFS=' ' read -ra COMP_WORDS <<< "lakehouse ${line%|}"
    [[ $line == *' |' ]] && COMP_WORDS+=("")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    COMPREPLY=()
    _lakehouse_completion lakehouse
    echo "${COMPREPLY[*]}"
done
"""
_OFFERED = {
    "sy|": "sync",
    "sync --dry|": "--dry-run",
    "diff shop --kind I|": "IMPORT INHERITS",
    "callers run --repo |": "shop web",
    "delta-diff snap|": "snapshots",
}
"""What stands before the cursor, and what bash then offers."""


def test_bash_completes_verbs_options_values_and_the_names_of_this_lake(settings: Settings, tmp_path: Path):
    repository = RepoBuilder(tmp_path / "repo")
    repository.commit({"a.py": ""})
    for name in ("shop", "web"):
        lakehouse("repo", "add", name, str(repository.path))
    path = f"{LAKEHOUSE.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", _ASK_BASH],
        input="".join(f"{line}\n" for line in _OFFERED),
        env=os.environ | {"PATH": path, "LAKEHOUSE_HOME": str(settings.home)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert dict(zip(_OFFERED, done.stdout.splitlines(), strict=True)) == _OFFERED


def test_where_there_is_no_lake_nothing_is_offered(settings: Settings):
    context = click.Context(cli)
    assert repository_names(context, command_of(["sync"]).params[0], "") == []
