"""A repository linked in parts, which are put aside between rounds: the same rows and state as in one go."""

import json
from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from lakehouse_assets.link.heard import Heap
from lakehouse_assets.link.local import Sources
from lakehouse_assets.link.parts import Part, dealt, interface
from lakehouse_assets.link.repository import LinkResult
from lakehouse_assets.link.rounds import ROUNDS
from lakehouse_assets.link.world import NoNeighbours
from lakehouse_assets_tests.link.test_repository import files_of, trees
from lakehouse_assets_tests.support.linked import Linked, rows


def in_parts(sources: Sources, files: int) -> list[LinkResult]:
    """Every part is taken up anew in each round, and sees of others what they may know."""
    kept: dict[int, bytes] = {}
    heard = Heap()
    mine = list(dealt(dict.fromkeys(sources.blobs, 1), files=files, size=1_000))
    results: list[LinkResult] = []
    for number in range(ROUNDS):
        told = Heap()
        for place, paths in enumerate(mine):

            def load(wanted: Sequence[str], own: list[str] = paths) -> dict[str, dict[str, Any]]:
                found = {path: json.loads(json.dumps(each)) for path, each in sources.load(wanted).items()}
                return {path: each if path in own else interface(each) for path, each in found.items()}

            part = Part(
                repo="local",
                files=sources.blobs,
                mine=paths,
                load=load,
                neighbours=NoNeighbours(),
                kept=kept.get(place),
            )
            part.solve(number, heard)
            for name, path, values in part.told(number).rows():
                told.add(path, {name: values})
            if number == ROUNDS - 1:
                results.append(part.result())
            else:
                kept[place] = part.kept()
        heard = told
    return results


def state_rows(result: LinkResult) -> dict[str, set[tuple[object, ...]]]:
    return {name: set(zip(*columns.values(), strict=True)) for name, columns in result.state.tables().items()}


@settings(max_examples=60, deadline=None)
@given(trees, st.integers(1, 3))
def test_parts_together_have_the_rows_and_the_state_of_the_whole(tree: dict[str, str], files: int):
    whole = Linked(files_of(tree))
    parts = in_parts(whole.sources, files)
    for told in (rows, state_rows):
        expected = told(whole.result)
        found = [told(part) for part in parts]
        assert {name: set().union(*(each[name] for each in found)) for name in expected} == expected
        assert all(sum(len(each[name]) for each in found) == len(expected[name]) for name in expected)
    assert sum(part.solves for part in parts) == whole.result.solves


@given(st.dictionaries(st.text(), st.integers(0, 50)), st.integers(1, 5), st.integers(1, 60))
def test_files_are_dealt_each_once_and_within_bounds(sizes: dict[str, int], files: int, size: int):
    parts = list(dealt(sizes, files=files, size=size))
    assert [path for part in parts for path in part] == sorted(sizes)
    for part in parts:
        assert 0 < len(part) <= files
        assert len(part) == 1 or sum(sizes[path] for path in part) <= size
