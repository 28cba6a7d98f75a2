"""Whatever happens to the repositories of a lake, the rows of each are those of a clean build.

Two to five repositories that import each other live through random edits, are registered, removed and added again,
synced one by one or together, and killed on the way. After each step all of them are synced and compared with a lake
that was built from nothing, in another order.
"""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakehouse_assets_tests.support.edits import Edit, Life, Tree, edits, trees
from lakehouse_assets_tests.support.growing_lake import GrowingLake

pytestmark = pytest.mark.begins

SLOW = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)
NAMES = ("app", "lib", "kit", "web", "zoo")


@dataclass(frozen=True)
class Commit:
    """Edits on the commit that is `back` before the newest; without edits the head moves there."""

    repo: int
    back: int
    edits: tuple[Edit, ...]


@dataclass(frozen=True)
class Turn:
    """A repository that is registered is removed; one that is not is registered."""

    repo: int
    keep_rows: bool


@dataclass(frozen=True)
class Step:
    """What happens, and what is synced before all are: nothing, the repository, or a run that is killed on its way."""

    changes: tuple[Commit | Turn, ...]
    sync: Literal["all", "own", "killed"]
    writes: int
    """So many writes a run makes before it is killed."""


NOTHING = Step(changes=(), sync="all", writes=0)
repos = st.integers(0, len(NAMES) - 1)
commits = st.builds(Commit, repos, st.sampled_from([0, 0, 0, 1, 2]), st.lists(edits, max_size=3).map(tuple))
turns = st.builds(Turn, repos, st.booleans())
steps = st.builds(
    Step,
    st.lists(st.one_of(commits, commits, turns), min_size=1, max_size=3).map(tuple),
    st.sampled_from(["all", "own", "killed"]),
    st.integers(0, 40),
)
groups = st.lists(trees, min_size=2, max_size=5)


def lived(start: list[Tree], history: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        lives = {name: Life(Path(folder) / name, tree) for name, tree in zip(NAMES, start, strict=False)}
        known = list(lives)
        lake = GrowingLake(Path(folder), *known)
        lake.sync()
        for step in history:
            touched = [known[each.repo % len(known)] for each in step.changes]
            for name, change in zip(touched, step.changes, strict=True):
                match change:
                    case Commit():
                        lives[name].take(change.back, change.edits)
                    case Turn() if name not in lake.repositories:
                        lake.register(name)
                    case Turn() if len(lake.repositories) > 1:
                        lake.remove(name, keep_rows=change.keep_rows)
            first = [name for name in dict.fromkeys(touched) if name in lake.repositories]
            if first and step.sync != "all":
                lake.sync(*first, writes=step.writes if step.sync == "killed" else None)
                others = [name for name in lake.repositories if name not in first]
                if others and step.sync == "killed":
                    lake.sync(*others)
            lake.sync_and_prove()


@settings(max_examples=30, deadline=None, suppress_health_check=SLOW)
@given(groups, st.lists(steps, min_size=1, max_size=3))
def test_after_any_history_every_repository_is_as_a_clean_build(start: list[Tree], history: list[Step]):
    lived(start, history)


def test_a_file_that_imports_what_it_defines_has_both_references():
    """One found in the file, one by way of the import: they are two edges."""
    itself = ("from .delta import Leaf", "class Leaf(Leaf):\n    pass")
    lived([{"pkg/__init__.py": ("x = 1",), "pkg/delta.py": itself}], [NOTHING])


def test_an_import_from_a_folder_that_is_no_module_leads_to_no_file():
    lived([{"alpha.py": ("x = 1",), "beta.py": ("from . import alpha", "from . import nothing")}], [NOTHING])


@pytest.mark.slow
@pytest.mark.parametrize("share", range(6))
@settings(max_examples=50, deadline=None, suppress_health_check=SLOW)
@given(start=groups, history=st.lists(steps, min_size=1, max_size=6))
def test_after_any_of_many_histories_every_repository_is_as_a_clean_build(
    share: int, start: list[Tree], history: list[Step]
):
    """Three hundred in six shares, which several processes can have."""
    lived(start, history)
