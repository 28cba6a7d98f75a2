"""The real scip-python and scip-typescript, from the package registry."""

import shutil
import subprocess
from pathlib import Path

import pytest

from lakehouse_assets.assets.scip.indexing import index_repository
from lakehouse_assets.contracts.scip_documents import SCIP_DOCUMENTS
from lakehouse_assets.contracts.scip_occurrences import SCIP_OCCURRENCES
from lakehouse_assets.contracts.scip_symbols import SCIP_SYMBOLS
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.sources.head import resolve_head
from lakehouse_assets.sources.indexers import INDEXERS
from lakehouse_assets.sources.reads import Reading
from lakehouse_assets_tests.support.repos import RepoBuilder, registered
from lakehouse_assets_tests.support.sample_graph import APP, BASE
from lakehouse_assets_tests.support.writes import rows_of

pytestmark = pytest.mark.slow

A_TS = "import { h } from './b';\nexport function f(x: number) { return h(x) }\n"
B_TS = "export const h = (z: number) => z;\n"


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("npm")
    npm = shutil.which("npm")
    assert npm, "npm installs the indexers; `apt-get install npm` provides it"
    packages = [indexer.package for indexer in INDEXERS]
    subprocess.run([npm, "install", "--prefix", str(folder), *packages], check=True, capture_output=True, timeout=600)
    return folder / "node_modules" / ".bin"


def test_what_the_real_indexers_write_lands_in_the_tables(
    tmp_path: Path, settings: Settings, lake: Lake, programs: Path, monkeypatch: pytest.MonkeyPatch
):
    node = shutil.which("node")
    assert node is not None
    monkeypatch.setenv("PATH", f"{programs}:{Path(node).parent}:/usr/bin:/bin")
    repo = RepoBuilder(tmp_path / "r")
    # A module of the standard library's name must not be run by whoever looks for Python's paths.
    trap = f"open({str(tmp_path / 'was-run')!r}, 'w')\n"
    repo.commit({"pkg/base.py": BASE, "app.py": APP, "json.py": trap, "a.ts": A_TS, "b.ts": B_TS})

    def index(run_id: str):
        repository = registered(repo.path)
        head = resolve_head(repository, settings.mirrors)
        return index_repository(settings, Reading(repository=repository, git_dir=repo.path, head=head), run_id)

    done = index("run-1")
    assert [each.indexer for each in done.imports] == ["scip-python", "scip-typescript"]
    assert not (tmp_path / "was-run").exists()
    paths = {row["path"] for row in rows_of(lake, SCIP_DOCUMENTS)}
    assert {"app.py", "pkg/base.py", "a.ts", "b.ts"} <= paths
    defined = {
        (row["path"], row["start_line"], row["start_col"], row["symbol"].rpartition("/")[2])
        for row in rows_of(lake, SCIP_OCCURRENCES)
        if row["roles"] & 1
    }
    assert {("pkg/base.py", 7, 8, "Base#run()."), ("app.py", 5, 6, "App#"), ("a.ts", 1, 16, "f().")} <= defined
    app = next(row for row in rows_of(lake, SCIP_SYMBOLS) if row["symbol"].endswith("/App#"))
    assert app["symbol"] == "scip-python python repo . app/App#"
    assert [symbol.rpartition("/")[2] for symbol in app["implements"]] == ["Base#"]

    repo.commit({"b.ts": B_TS + "export const more = 1;\n"})
    again = index("run-2")
    python, typescript = again.imports
    assert (python.added, python.changed, python.removed) == (0, 0, 0)
    assert (typescript.changed, typescript.unchanged) == (1, 1)
