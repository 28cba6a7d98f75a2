"""Whatever happens to repositories, their rows are in the end those of a clean build.

Two repositories that import each other live through random edits; some commits are synced, some not, some together.
At the end every table is compared with a lake that has seen nothing but the end.
"""

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakehouse_assets.assets.graph.derivation_list import HEAD_TABLES
from lakehouse_assets.lake.comparison import compare
from lakehouse_assets_tests.support.edits import Life, Step, Tree, steps, trees
from lakehouse_assets_tests.support.graph_lake import GraphLake
from lakehouse_assets_tests.support.repos import registered

SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)
histories = st.lists(steps, min_size=1, max_size=5)


def lived(start: dict[str, Tree], history: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        lives = {name: Life(Path(folder) / name, name, tree) for name, tree in start.items()}
        known = [registered(life.path, name=name) for name, life in lives.items()]
        grown = GraphLake(Path(folder) / "grown", known)
        grown.sync()
        for step in history:
            lives[step.repo].take(step)
            if step.sync != "no":
                grown.sync(*([step.repo] if step.sync == "own" else ()))
        grown.sync()
        assert grown.is_fresh()
        clean = GraphLake(Path(folder) / "clean", known)
        clean.sync()
        found = [compare(grown.lake, clean.lake, contract, name) for contract in HEAD_TABLES for name in lives]
        assert [each for each in found if each.surplus or each.lacking] == []


@settings(max_examples=3, deadline=None, suppress_health_check=SLOW)
@given(trees, histories)
def test_any_history_ends_where_a_clean_build_ends(start: dict[str, Tree], history: list[Step]):
    lived(start, history)


def test_a_file_that_imports_what_it_defines_has_both_references():
    """One found in the file, one by way of the import: they are two edges."""
    itself = ("from .delta import Leaf", "class Leaf(Leaf):\n    pass")
    lived({"app": {"pkg/__init__.py": ("x = 1",), "pkg/delta.py": itself}, "lib": {"a.py": ("x = 1",)}}, [])


@pytest.mark.slow
@settings(max_examples=400, deadline=None, suppress_health_check=SLOW)
@given(trees, histories)
def test_any_of_many_histories_does(start: dict[str, Tree], history: list[Step]):
    lived(start, history)
