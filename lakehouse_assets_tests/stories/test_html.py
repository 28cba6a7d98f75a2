"""Text in HTML is shown, never obeyed."""

from html.parser import HTMLParser

from hypothesis import given, settings
from hypothesis import strategies as st

from lakehouse_assets.core.text import visible
from lakehouse_assets.stories.html import Markup, element, join


class Reader(HTMLParser):
    """What a browser makes of a page: elements, attributes, texts."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


def read(markup: str) -> Reader:
    reader = Reader()
    reader.feed(markup)
    reader.close()
    return reader


HOSTILE = st.text() | st.sampled_from(["</p><script>alert(1)</script>", '" onload="x', "a\u202eb\x00\x1b[31m", "&lt;"])


@settings(deadline=None)
@given(HOSTILE, HOSTILE)
def test_any_text_comes_out_as_text_and_any_value_as_a_value(text: str, value: str):
    seen = read(element("p", text, title=value))
    assert seen.elements == ["p"]
    assert seen.text == visible(text)
    assert seen.attributes == [("title", visible(value))]


def test_markup_is_kept_and_whatever_is_added_to_it_is_not():
    inner = element("b", "x")
    assert join(inner, "<i>") == "<b>x</b>&lt;i&gt;"
    assert element("p", inner + "<i>") == "<p>&lt;b&gt;x&lt;/b&gt;&lt;i&gt;</p>"
    assert isinstance(join(inner), Markup)


def test_names_that_python_keeps_and_hyphens_can_be_written():
    shown = element("div", None, class_="a", aria_label="b", hidden=True, title=None)
    assert shown == '<div class="a" aria-label="b" hidden></div>'
    assert element("path", d="M0") == '<path d="M0"/>'
