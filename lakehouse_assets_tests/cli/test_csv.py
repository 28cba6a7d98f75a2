"""`lakehouse sql --format csv`: exact to programs, harmless to terminals."""

import csv
import io
import os
import pty
import subprocess

from lakehouse_assets.core.settings import Settings
from lakehouse_assets_tests.support.command import LAKEHOUSE, lakehouse

STEERING = "\x1b[31mred\x1b[0m \u202e\x07"
QUERY = (
    "SELECT chr(27) || '[31mred' || chr(27) || '[0m ' || chr(8238) || chr(7) AS steering, "
    "'a' || chr(10) || 'b' AS lines, 'a' || chr(13) || 'b' AS returned, 'x\"y,z' AS quoted, 'é' AS accent"
)
VALUES = [STEERING, "a\nb", "a\rb", 'x"y,z', "é"]


def test_a_program_gets_every_character_of_the_data(settings: Settings):
    written = lakehouse("sql", QUERY, "--format", "csv").stdout_bytes.decode()
    assert list(csv.reader(io.StringIO(written, newline="")))[1] == VALUES


def test_an_empty_text_is_told_from_a_missing_value(settings: Settings):
    query = "SELECT '' AS empty, NULL AS missing"
    assert lakehouse("sql", query, "--format", "csv").stdout == 'empty,missing\n"",\n'
    assert lakehouse("sql", "SELECT NULL AS one", "--format", "csv").stdout == 'one\n""\n'


def test_a_terminal_is_not_steered_by_the_data(settings: Settings):
    ours, theirs = pty.openpty()
    environ = os.environ | {"LAKEHOUSE_HOME": str(settings.home)}
    with subprocess.Popen([LAKEHOUSE, "sql", QUERY, "--format", "csv"], stdout=theirs, env=environ) as process:
        assert process.wait(timeout=60) == 0
    os.close(theirs)
    shown = os.read(ours, 10_000).decode()
    os.close(ours)
    assert not {"\x1b", "\x07", "\u202e"} & set(shown)
    assert "\\x1b[31mred" in shown
