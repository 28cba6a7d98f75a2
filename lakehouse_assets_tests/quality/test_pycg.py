"""Call graphs of PyCG's micro-benchmark against what its authors expect.

Needs its repository: set PYCG_REPOSITORY to a clone, a bare one included. A case is complete if we find no call beyond
the expected ones, and sound if we find all of them.
"""

import json
import os
import subprocess
import tarfile
from pathlib import Path

import pytest

from lakehouse_assets.core.settings import PROJECT_ROOT
from lakehouse_assets.link.local import call_graph_of, link_sources, sources_in

REPOSITORY = os.environ.get("PYCG_REPOSITORY")
CASES = 119
PAGE = PROJECT_ROOT / "docs" / "quality.md"

pytestmark = [pytest.mark.slow, pytest.mark.skipif(REPOSITORY is None, reason="PYCG_REPOSITORY is not set")]


@pytest.fixture(scope="module")
def snippets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    assert REPOSITORY is not None
    folder = tmp_path_factory.mktemp("pycg")
    archive = folder / "pycg.tar"
    command = ["git", "-C", REPOSITORY, "archive", "-o", str(archive), "HEAD", "micro-benchmark/snippets"]
    subprocess.run(command, check=True)
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    return folder / "micro-benchmark" / "snippets"


def told(way: str) -> tuple[int, int]:
    """How many cases docs/quality.md says are complete, and how many sound."""
    (row,) = [line for line in PAGE.read_text().split("\n") if line.startswith(f"| ours, {way} |")]
    complete, sound = row.strip("| ").split(" | ")[1:]
    return int(complete), int(sound)


def edges(graph: dict[str, list[str]]) -> set[tuple[str, str]]:
    return {(caller, callee) for caller, callees in graph.items() for callee in callees}


def test_the_micro_benchmark_comes_out_as_the_page_says(snippets: Path):
    complete, sound, misses = 0, 0, []
    cases = sorted(snippets.glob("*/*/"))
    for case in cases:
        expected = edges(json.loads((case / "callgraph.json").read_text()))
        sources = sources_in(case)
        found = edges(call_graph_of(sources, link_sources(sources)))
        complete += not found - expected
        sound += not expected - found
        if found != expected:
            misses.append((f"{case.parent.name}/{case.name}", found - expected, expected - found))
    print(f"{len(cases)} cases, {complete} complete, {sound} sound")
    for name, beyond, missing in misses:
        print(f"  {name}: beyond {sorted(beyond)}, missing {sorted(missing)}")
    assert len(cases) == CASES
    assert (complete, sound) == told("each case by itself"), misses
