"""A repository linked in parts: the same rows and the same state as in one go."""

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakehouse_assets.core.errors import LakeStateError
from lakehouse_assets.lake.link_pool import FILES_A_PART, linked_in_parts, part_count
from lakehouse_assets.lake.link_store import rows_by_table
from lakehouse_assets.lake.source_files import not_extracted
from lakehouse_assets.link.local import Sources
from lakehouse_assets.link.parts import Part, dealt
from lakehouse_assets.link.repository import LinkResult
from lakehouse_assets.link.rounds import ROUNDS
from lakehouse_assets.link.world import NoNeighbours
from lakehouse_assets_tests.link.test_repository import PROJECT, files_of, trees
from lakehouse_assets_tests.support.linked import Linked, rows


def in_parts(sources: Sources, count: int) -> list[LinkResult]:
    parts = [
        Part(repo="local", files=sources.blobs, mine=mine, load=sources.load, neighbours=NoNeighbours())
        for mine in dealt(sources.blobs, count)
    ]
    for number in range(ROUNDS):
        told = [part.solve(number) for part in parts]
        for part in parts:
            for other, each in zip(parts, told, strict=True):
                if other is not part:
                    part.take(each)
    return [part.result() for part in parts]


def state_rows(result: LinkResult) -> dict[str, set[tuple[object, ...]]]:
    return {name: set(zip(*columns.values(), strict=True)) for name, columns in result.state.tables().items()}


@settings(max_examples=60, deadline=None)
@given(trees, st.integers(1, 3))
def test_parts_together_have_the_rows_and_the_state_of_the_whole(tree: dict[str, str], count: int):
    whole = Linked(files_of(tree))
    parts = in_parts(whole.sources, count)
    for told in (rows, state_rows):
        expected = told(whole.result)
        found = [told(part) for part in parts]
        assert {name: set().union(*(each[name] for each in found)) for name in expected} == expected
        assert all(sum(len(each[name]) for each in found) == len(expected[name]) for name in expected)


def test_processes_link_what_one_process_links():
    whole = Linked(PROJECT)
    sources = Sources(whole.sources.texts)
    found = linked_in_parts(repo="local", files=sources.blobs, load=sources.load, neighbours=NoNeighbours(), parts=2)
    for name, expected in rows_by_table("local", whole.result).items():
        assert found.rows[name].schema == expected.schema
        assert sorted(map(repr, found.rows[name].to_pylist())) == sorted(map(repr, expected.to_pylist())), name
    assert found.solves == whole.result.solves


class Unreadable(Sources):
    def load(self, paths: object) -> dict[str, dict[str, object]]:
        raise not_extracted(3)


class Broken(Sources):
    def load(self, paths: object) -> dict[str, dict[str, object]]:
        raise ZeroDivisionError("no such luck")


def linked_by(sources: Sources) -> Mapping[str, object]:
    return linked_in_parts(
        repo="local", files=sources.blobs, load=sources.load, neighbours=NoNeighbours(), parts=2
    ).rows


def test_an_error_of_a_process_comes_home():
    with pytest.raises(LakeStateError, match="3 files of the head have no row"):
        linked_by(Unreadable({"a.py": "", "b.py": ""}))
    with pytest.raises(RuntimeError, match=r"ended early:(.|\n)*no such luck"):
        linked_by(Broken({"a.py": "", "b.py": ""}))


def test_few_files_are_linked_in_one_process():
    assert part_count(FILES_A_PART, cores=8) == 1
    assert part_count(FILES_A_PART * 3, cores=8) == 3
    assert part_count(FILES_A_PART * 3, cores=2) == 2
    assert part_count(FILES_A_PART * 100, cores=64) == 8
