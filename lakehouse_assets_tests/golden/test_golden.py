"""Every step is as it was accepted, and what differs is shown before it is."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.lake.steps import STEPS
from lakehouse_assets.plan.step_analysis import analysis_of, lineage_of
from lakehouse_assets_tests.golden import accept, accepted_pages, difference, present_pages


def test_every_step_is_as_it_was_accepted():
    changes = difference(accepted_pages(), present_pages())
    assert not changes, f"{changes}\n\nIf this is meant, run `make golden`."


@pytest.mark.parametrize("step", STEPS.values(), ids=list(STEPS))
def test_every_step_leads_to_columns_of_contracts_and_names_tables(step):
    sources = [source for sources in lineage_of(step).values() for source in sources]
    assert sources
    assert all(source.column in CATALOG[source.relation].column_names for source in sources)
    assert set(step.assets) <= set(CATALOG)
    if step.output is not None:
        assert set(analysis_of(step).columns) == set(step.output.column_names)


def test_the_difference_tells_what_is_new_changed_and_gone(tmp_path: Path):
    (tmp_path / "gone.sql").write_text("SELECT 1\n")
    (tmp_path / "kept.sql").write_text("SELECT 2\n")
    present = {"kept.sql": "SELECT 3\n", "new.sql": "SELECT 4\n"}
    told = difference(accepted_pages(tmp_path), present)
    assert [line for line in told.splitlines() if line[:1] in "+-" and "SELECT" in line] == [
        "-SELECT 1",
        "-SELECT 2",
        "+SELECT 3",
        "+SELECT 4",
    ]
    accept(present, tmp_path)
    assert accepted_pages(tmp_path) == present
    assert difference(accepted_pages(tmp_path), present) == ""


def test_nothing_is_accepted_unseen():
    """Without a terminal and without ACCEPT=1 the program only tells."""
    code = (
        "import lakehouse_assets_tests.golden.__main__ as golden\n"
        "golden.present_pages = lambda: {'a.sql': 'SELECT 1'}\n"
        "golden.accept = lambda pages: print('ACCEPTED', pages)\n"
        "raise SystemExit(golden.main())"
    )

    def run(**environ: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", code]
        env = {**os.environ, **environ}
        return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, env=env, check=False)

    told = run()
    assert told.returncode == 1
    assert "+SELECT 1" in told.stdout
    assert "ACCEPTED" not in told.stdout
    done = run(ACCEPT="1")
    assert done.returncode == 0
    assert "+SELECT 1" in done.stdout
    assert "ACCEPTED {'a.sql': 'SELECT 1'}" in done.stdout
