"""Text from outside is shown as text."""

import ast
from io import StringIO

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from lakehouse_assets.core.text import fenced, lines_of


@given(st.text(alphabet=st.sampled_from("`~<script>\n\r\t a[]()#!")))
def test_nothing_in_a_block_of_code_ends_it(text: str):
    (block,) = MarkdownIt().parse(fenced(text, "sql"))
    assert (block.type, block.info) == ("fence", "sql")


@given(st.text(alphabet=st.sampled_from("ab\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029")))
def test_lines_are_those_that_python_reads_from_a_file(text: str):
    assert lines_of(text) == [line.removesuffix("\n") for line in StringIO(text, newline=None)]


def test_lines_are_numbered_as_pythons_parser_numbers_them():
    text = "a = '\u2028\x85\x1e'\r\nb = '\x1c'\rc = 1\n\x0cd = 2\n"
    statements = ast.parse(text).body
    assert [lines_of(text)[node.lineno - 1].strip()[0] for node in statements] == ["a", "b", "c", "d"]
