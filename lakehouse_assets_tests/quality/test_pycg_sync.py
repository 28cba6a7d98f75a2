"""PyCG's micro-benchmark as a user would take it: 119 repositories in one sync on Spark, exported in one go."""

import json
from pathlib import Path

import pytest

from lakehouse_assets_tests.quality.test_pycg import CASES, edges, pytestmark, snippets, told
from lakehouse_assets_tests.support.command import lakehouse, lakehouse_json

__all__ = ["pytestmark", "snippets"]


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("engine", ["local", "spark"])
def test_one_sync_over_all_cases_comes_out_as_the_page_says(
    snippets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
):
    monkeypatch.setenv("LAKEHOUSE_ENGINE", engine)
    cases = {f"{case.parent.name}-{case.name}": case for case in sorted(snippets.glob("*/*/"))}
    listing = tmp_path / "cases.tsv"
    listing.write_text("".join(f"{name}\t{case}\n" for name, case in cases.items()))
    lakehouse("repo", "add", "--from", str(listing))
    (run,) = lakehouse_json("sync", "--all")["runs"]
    lakehouse("export", "callgraph", "--all", "-o", str(tmp_path / "graphs"))
    complete = sound = 0
    for name, case in cases.items():
        expected = edges(json.loads((case / "callgraph.json").read_text()))
        found = edges(json.loads((tmp_path / "graphs" / f"{name}.json").read_text()))
        complete += not found - expected
        sound += not expected - found
    print(f"{len(cases)} repositories in one run, {complete} complete, {sound} sound")
    assert len(run["repositories"]) == len(cases) == CASES
    assert (complete, sound) == told("all cases in one lake")
