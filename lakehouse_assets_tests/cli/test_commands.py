"""The command's verbs: what they print, as text and as JSON, and how they refuse."""

import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import click
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakehouse_assets.cli.demo import name_of
from lakehouse_assets.cli.main import cli, print_error
from lakehouse_assets.cli.output import print_json
from lakehouse_assets.cli.progress import Progress
from lakehouse_assets.core.errors import BadInputError, SourceError
from lakehouse_assets.core.settings import PROJECT_ROOT, Settings
from lakehouse_assets.core.text import visible, visible_lines
from lakehouse_assets_tests.support.command import lakehouse, lakehouse_json, spawn
from lakehouse_assets_tests.support.places import local
from lakehouse_assets_tests.support.repos import RepoBuilder


def verbs(command: click.Command, prefix: str = "lakehouse") -> list[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        context = click.Context(command)
        found: list[tuple[str, click.Command]] = []
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            found += verbs(child, f"{prefix} {name}")
        return found
    return [(prefix, command)]


VERBS = verbs(cli)
WITHOUT_RESULT = {f"lakehouse {verb}" for verb in ("explore", "mcp", "up", "completion", "demo")}
"""Servers, a script, and a tour."""
README = (PROJECT_ROOT / "README.md").read_text()


@pytest.mark.parametrize(("name", "command"), VERBS, ids=[name for name, _ in VERBS])
def test_every_verb_and_each_of_its_options_is_in_the_readme(name: str, command: click.Command):
    assert name in README
    for parameter in command.params:
        for option in parameter.opts if isinstance(parameter, click.Option) else []:
            if option.startswith("--"):
                assert option in README, f"{name} {option} is not in the README"


@pytest.mark.parametrize(("name", "command"), VERBS, ids=[name for name, _ in VERBS])
def test_every_verb_explains_itself_and_its_options(name: str, command: click.Command):
    assert command.help
    told = lakehouse(*name.split()[1:], "--help").stdout
    assert re.search(rf"Examples?[^\n]*:\n(.|\n)*{name.split()[1]}", told), f"{name} shows no example"
    assert ("--json" in told) == (name not in WITHOUT_RESULT)
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{name} {parameter.opts}"


@pytest.mark.usefixtures("settings")
class TestRepo:
    def test_added_repositories_are_listed(self, tmp_path: Path):
        RepoBuilder(tmp_path / "a").commit({"a.py": "1"})
        lakehouse("repo", "add", "a", str(tmp_path / "a"), "--exclude", "docs/", "--language", "python")
        (row,) = lakehouse_json("repo", "list")
        assert row["name"] == "a"
        assert (row["kind"], row["exclude"], row["languages"]) == ("local_git", ["docs/"], ["Python"])
        assert "local_git" in lakehouse("repo", "list").stdout

    def test_names_become_dagster_s_partitions(self, tmp_path: Path, settings: Settings):
        from lakehouse_assets.cli.instance import open_instance

        RepoBuilder(tmp_path / "a").commit({"a.py": "1"})
        for name in ("one", "two"):
            lakehouse("repo", "add", name, str(tmp_path / "a"))
        lakehouse("repo", "remove", "one")
        with open_instance(settings) as instance:
            assert list(instance.get_dynamic_partitions("repositories")) == ["two"]

    @pytest.mark.parametrize(
        ("arguments", "complaint"),
        [
            (("bad name", "."), "repository name 'bad name'"),
            (("gone", "/no/such/path"), "/no/such/path"),
            (("a", "{path}", "--ref", "mian"), "main"),
            (("a", "{path}", "--language", "Pyton"), "Python"),
        ],
    )
    def test_what_cannot_be_registered_is_refused_and_not_registered(self, tmp_path: Path, arguments, complaint):
        RepoBuilder(tmp_path / "a").commit({"a.py": "1"})
        words = [word.format(path=tmp_path / "a") for word in arguments]
        with pytest.raises((BadInputError, SourceError), match=complaint):
            lakehouse("repo", "add", *words)
        assert lakehouse_json("repo", "list") == []

    def test_an_empty_repository_is_refused(self, tmp_path: Path):
        RepoBuilder(tmp_path / "empty")
        with pytest.raises(SourceError, match="Without a commit"):
            lakehouse("repo", "add", "empty", str(tmp_path / "empty"))

    def test_a_wrong_line_in_a_list_registers_nothing_of_it(self, tmp_path: Path):
        RepoBuilder(tmp_path / "a").commit({"a.py": "1"})
        listing = tmp_path / "list.tsv"
        listing.write_text(f"a\t{tmp_path / 'a'}\nno tab here\n")
        with pytest.raises(BadInputError, match="line 2"):
            lakehouse("repo", "add", "--from", str(listing))
        assert lakehouse_json("repo", "list") == []


def test_an_error_is_told_without_a_traceback_and_as_json_when_asked(settings: Settings):
    plain = spawn(settings, "sync", "nobody")
    assert plain.returncode == 1
    assert "no repository of that name is registered" in plain.stderr
    assert "what to do:" in plain.stderr
    assert "Traceback" not in plain.stderr
    as_json = spawn(settings, "sync", "nobody", "--json")
    assert json.loads(as_json.stderr)["error"]["subject"] == "repository 'nobody'"


def test_a_wrong_command_line_exits_with_two(settings: Settings):
    assert spawn(settings, "sync").returncode == 2
    assert spawn(settings, "sync", "a", "b", "--to", "x").returncode == 2
    assert spawn(settings, "nonsense").returncode == 2


def test_answers_come_as_table_json_and_csv(settings: Settings, tmp_path: Path):
    RepoBuilder(tmp_path / "a").commit({"a.py": "1"})
    lakehouse("repo", "add", "a", str(tmp_path / "a"))
    query = "SELECT repo, kind, 'x' || chr(10) || 'y' AS two_lines FROM repositories"
    assert "x\\ny" in lakehouse("sql", query).stdout
    assert lakehouse_json("sql", query) == [{"repo": "a", "kind": "local_git", "two_lines": "x\ny"}]
    assert lakehouse("sql", query, "--format", "csv").stdout == 'repo,kind,two_lines\na,local_git,"x\ny"\n'


def test_tables_are_listed_with_rows_and_bytes(settings: Settings, tmp_path: Path):
    RepoBuilder(tmp_path / "a").commit({"a.py": "1"})
    lakehouse("repo", "add", "a", str(tmp_path / "a"))
    rows = {row["table"]: row for row in lakehouse_json("tables")}
    assert sorted(rows) == ["materializations", "repositories", "writes"]
    assert (rows["repositories"]["rows"], rows["repositories"]["files"]) == (1, 1)


def test_a_write_can_be_planned_without_being_done(settings: Settings, tmp_path: Path):
    rows = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"blob_sha": ["a"], "size": [1], "encoding": ["utf-8"], "text": ["x"]}), rows)
    plan = lakehouse_json("plan-write", "blobs", str(rows))
    assert (plan["strategy"], plan["action"], plan["executor"]) == ("append_new", "append", "delta-rs")
    assert "write to blobs: append_new as append" in lakehouse("plan-write", "blobs", str(rows)).stdout
    with pytest.raises(BadInputError, match="says nothing of repo"):
        lakehouse("plan-write", "snapshots", str(rows))
    assert not (local(settings.lake) / "blobs").exists()


def test_the_doctor_finds_a_well_machine_well(settings: Settings):
    findings = lakehouse_json("doctor")
    assert {f["check"] for f in findings} >= {"python", "java", "jars", "disk", "server", "lake"}
    assert [f for f in findings if f["status"] == "error"] == []


def test_the_doctor_names_what_is_missing_and_the_remedy(settings: Settings, tmp_path: Path):
    result = spawn(settings, "doctor", "--json", LAKEHOUSE_CACHE=str(tmp_path / "nothing"))
    assert result.returncode == 1
    wrong = {f["check"]: f for f in json.loads(result.stdout) if f["status"] == "error"}
    assert set(wrong) == {"jars"}
    assert "make setup" in wrong["jars"]["remedy"]


def test_control_characters_are_shown_and_not_obeyed():
    assert visible("a\x1b[31m\nb\u202e") == "a\\x1b[31m\\nb\\u202e"
    assert visible_lines("a\x1b\nb\u202e") == "a\\x1b\nb\\u202e"


def test_an_error_that_names_a_hostile_file_cannot_steer_the_terminal(capfd: pytest.CaptureFixture[str]):
    harm = "\x1b]0;owned\x07\x9b2J\u202e"
    print_error(SourceError(subject=harm, seen=harm, why=harm, remedy=harm), as_json=False)
    progress = Progress()
    progress.say(harm)
    told = capfd.readouterr().err
    assert told.count("\\x1b]0;owned\\x07\\x9b2J\\u202e") == 5
    assert not set(told) & set(harm) - set("]0;owned2J")


def test_json_escapes_what_steers_a_terminal_and_means_the_same(capsys: pytest.CaptureFixture[str]):
    value = {"name": "größe\x9b2J\u202e\U000e0001 日本"}
    print_json(value)
    told = capsys.readouterr().out
    assert "größe\\u009b2J\\u202e\\udb40\\udc01 日本" in told
    assert json.loads(told) == value


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("https://example.org/pallets/flask.git", "flask"),
        ("git@example.org:psf/requests", "requests"),
        ("/srv/git/My Project/", "My-Project"),
    ],
)
def test_a_demo_is_named_after_the_last_part_of_its_source(source: str, name: str):
    assert name_of(source) == name


@pytest.mark.parametrize("words", [["--help"], ["repo", "list"], ["sync", "a", "--dry-run"]])
def test_verbs_that_need_neither_dagster_nor_spark_do_not_load_them(settings: Settings, tmp_path: Path, words):
    RepoBuilder(tmp_path / "a").commit({"a.py": "1"})
    lakehouse("repo", "add", "a", str(tmp_path / "a"))
    code = f"""
        import sys
        from lakehouse_assets.cli.main import main
        sys.argv = ["lakehouse", *{words!r}]
        try:
            main()
        finally:
            print(*sys.modules)
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert "lakehouse_assets.cli.main" in printed
    assert not {"dagster", "pyspark", "pandas", "duckdb"} & set(printed)
