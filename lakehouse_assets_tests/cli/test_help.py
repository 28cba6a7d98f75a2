"""Help: verbs by purpose, examples that are right, completion, colours only where they are wanted."""

import shlex
import subprocess

import click
import pytest

from lakehouse_assets.cli.main import _VERBS, cli
from lakehouse_assets.cli.verb_groups import EXAMPLES, GROUPS
from lakehouse_assets_tests.support.command import lakehouse


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


def test_the_bash_script_is_one_that_bash_can_read():
    script = lakehouse("completion", "bash").stdout
    assert subprocess.run(["bash", "-n"], input=script, text=True, check=False).returncode == 0
