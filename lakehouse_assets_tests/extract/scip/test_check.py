"""The rules that an index has to keep: each is broken once here, and found."""

from pathlib import Path

import pytest

from lakehouse_assets.extract.scip.check import check_index
from lakehouse_assets.extract.scip.index import Index
from lakehouse_assets.extract.scip.model import Document, Occurrence, Relationship, Symbol
from lakehouse_assets_tests.support import scip

X, Y = "t . p . x.", "t . p . y."


def broken(tmp_path: Path, *documents: Document, externals: tuple[Symbol, ...] = ()) -> list[str]:
    path = scip.written(tmp_path / "i", documents, externals=externals)
    with path.open("rb") as file:
        return [problem.rule for problem in check_index(Index(file, "it"))]


def test_an_index_that_keeps_the_rules_has_no_problems(tmp_path: Path):
    local = Document(
        path="c",
        occurrences=[Occurrence((0, 0, 0, 1), "local 1", 1), Occurrence((0, 2, 0, 3), "local 1")],
        symbols=[Symbol("local 1")],
    )
    uses = Document(path="b", occurrences=[Occurrence((0, 0, 0, 1), X), Occurrence((0, 0, 0, 9), Y)])
    related = (Relationship(X, is_implementation=True),)
    assert not broken(tmp_path, scip.document("a", "x"), uses, local, externals=(Symbol(Y, relationships=related),))


@pytest.mark.parametrize(
    ("rule", "documents"),
    [
        ("path", [Document(path="../a")]),
        ("path", [Document(path="/a")]),
        ("document twice", [Document(path="a"), Document(path="a")]),
        (
            "symbol grammar",
            [Document(path="a", occurrences=[Occurrence((0, 0, 0, 1), "odd")], symbols=[Symbol("odd")])],
        ),
        ("symbol told twice", [Document(path="a", symbols=[Symbol(X), Symbol(X)])]),
        ("symbol unknown", [Document(path="a", occurrences=[Occurrence((0, 0, 0, 1), X)])]),
        (
            "symbol unknown",
            [
                Document(path="a", symbols=[Symbol("local 1")]),
                Document(path="b", occurrences=[Occurrence((0, 0, 0, 1), "local 1")]),
            ],
        ),
        (
            "symbol defined twice",
            [scip.document("a", "x"), Document(path="b", occurrences=[Occurrence((0, 0, 0, 1), X, 1)])],
        ),
        ("relationship", [Document(path="a", symbols=[Symbol(X, relationships=(Relationship(X),))])]),
        (
            "relationship",
            [Document(path="a", symbols=[Symbol(X, relationships=(Relationship(Y, is_reference=True),))])],
        ),
        (
            "order",
            [
                Document(
                    path="a",
                    occurrences=[Occurrence((1, 0, 1, 1), X), Occurrence((0, 0, 0, 1), X)],
                    symbols=[Symbol(X)],
                )
            ],
        ),
        ("occurrence twice", [Document(path="a", occurrences=[Occurrence((0, 0, 0, 1), X)] * 2, symbols=[Symbol(X)])]),
    ],
)
def test_each_rule_is_found_broken(tmp_path: Path, rule: str, documents: list[Document]):
    assert broken(tmp_path, *documents) == [rule]


@pytest.mark.parametrize(
    ("encoding", "end", "fits"), [(1, 4, True), (1, 5, False), (2, 2, True), (2, 3, False), (3, 1, True), (3, 2, False)]
)
def test_ranges_are_within_the_text_by_the_units_of_its_encoding(tmp_path: Path, encoding: int, end: int, fits: bool):
    one = Document(
        path="a",
        text="\U0001f680\n",
        position_encoding=encoding,
        occurrences=[Occurrence((0, 0, 0, end), X)],
        symbols=[Symbol(X)],
    )
    assert broken(tmp_path, one) == ([] if fits else ["range"])


def test_a_range_behind_the_last_line_is_found(tmp_path: Path):
    one = Document(path="a", text="a\nb", occurrences=[Occurrence((2, 0, 2, 0), X)], symbols=[Symbol(X)])
    assert broken(tmp_path, one) == ["range"]
