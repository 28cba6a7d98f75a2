"""Text from outside is shown as text."""

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from lakehouse_assets.core.text import fenced


@given(st.text(alphabet=st.sampled_from("`~<script>\n\r\t a[]()#!")))
def test_nothing_in_a_block_of_code_ends_it(text: str):
    (block,) = MarkdownIt().parse(fenced(text, "sql"))
    assert (block.type, block.info) == ("fence", "sql")
