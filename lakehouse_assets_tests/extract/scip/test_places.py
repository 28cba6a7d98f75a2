"""Names within the syntax around them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakehouse_assets.extract.scip.places import Places, bound_name


@pytest.mark.parametrize(
    ("text", "kind", "name", "found"),
    [
        ("a.b.a", "Attribute", "a", (0, 4, 0, 5)),
        ("a: a", "arg", "a", (0, 0, 0, 1)),
        ("except E as e: e", "ExceptHandler", "e", (0, 12, 0, 13)),
        ("größe", "Name", "größe", (0, 0, 0, 7)),
        ("f(x)", "Call", None, (0, 0, 0, 4)),
        ("other", "Name", "gone", (0, 0, 0, 5)),
    ],
)
def test_a_node_s_name_is_found_in_it(text: str, kind: str, name: str | None, found: tuple[int, ...]):
    whole = (0, 0, 0, len(text.encode()))
    assert Places(text).of_node(kind, name, whole) == found


@pytest.mark.parametrize(
    ("text", "name", "bound", "found"),
    [
        ("a as b", "a as b", "b", (0, 5, 0, 6)),
        ("a.b.c", "a.b.c", "a", (0, 0, 0, 1)),
        ("b as b", "b as b", "b", (0, 5, 0, 6)),
        ("a", "a", "a", (0, 0, 0, 1)),
    ],
)
def test_an_import_binds_its_last_name_or_its_first(text: str, name: str, bound: str, found: tuple[int, ...]):
    assert bound_name("alias", name) == bound
    assert Places(text).of_binding("alias", name, (0, 0, 0, len(text))) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def run(): pass", (0, 4, 0, 7)),
        ("def \\\n  run(): pass", (1, 2, 1, 5)),
        ("@run_all\rdef run(): pass", (1, 4, 1, 7)),
        ("lambda: 0", (0, 0, 0, 0)),
    ],
)
def test_a_definition_s_name_is_found_in_its_head(text: str, found: tuple[int, ...]):
    assert Places(text).of_definition("run", (0, 0, 9, 99)) == found


places = st.integers(-3, 9)


@given(st.text(alphabet="ab.ü\r\n ", max_size=20), st.sampled_from(["Name", "Attribute", "alias"]), st.data())
def test_whatever_is_asked_the_answer_is_within_the_text(text: str, kind: str, data):
    name = data.draw(st.text(alphabet="ab. ü", min_size=1, max_size=4))
    whole = tuple(data.draw(places) for _ in range(4))
    lines = text.replace("\r\n", "\n").replace("\r", "\n").encode().split(b"\n")
    where = Places(text)
    for found in (
        where.of_node(kind, name, whole),
        where.of_binding(kind, name, whole),
        where.of_definition(name, whole),
    ):
        start_line, start, end_line, end = found
        assert (0, 0) <= (start_line, start) <= (end_line, end)
        assert start <= len(lines[start_line])
        assert end <= len(lines[end_line])
