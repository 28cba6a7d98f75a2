"""Indexers on a checkout: what they see, what becomes of what they write, and what is said if they are not there."""

from pathlib import Path

import pygit2
import pytest
from dagster import materialize

from lakehouse_assets.assets.partitions import align_partitions
from lakehouse_assets.assets.scip.indexing import index_repository
from lakehouse_assets.assets.scip.scip_indexes import scip_indexes
from lakehouse_assets.cli.instance import open_instance
from lakehouse_assets.cli.repo import register
from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.contracts.scip_documents import SCIP_DOCUMENTS
from lakehouse_assets.core.errors import EnvironmentNotReadyError, SourceError
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.extract.scip.model import Metadata
from lakehouse_assets.lake.ledger import Ledger, new_entry
from lakehouse_assets.lake.resources import LakehouseResource
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.recipes.git import git_key
from lakehouse_assets.sources.head import resolve_head
from lakehouse_assets.sources.indexers import check_out
from lakehouse_assets.sources.reads import Reading
from lakehouse_assets_tests.support import scip
from lakehouse_assets_tests.support.indexers import files_seen, install
from lakehouse_assets_tests.support.repos import Link, RepoBuilder, registered
from lakehouse_assets_tests.support.writes import rows_of

PYTHON, TYPESCRIPT = Metadata(tool="scip-python"), Metadata(tool="scip-typescript")


def reading(repo: RepoBuilder, settings: Settings, **more) -> Reading:
    repository = registered(repo.path, **more)
    return Reading(repository=repository, git_dir=repo.path, head=resolve_head(repository, settings.mirrors))


def paths(lake: Lake) -> list[str]:
    return [row["path"] for row in rows_of(lake, SCIP_DOCUMENTS)]


def test_a_checkout_has_the_regular_files_and_nothing_that_leads_out_of_it(tmp_path: Path, settings: Settings):
    repo = RepoBuilder(tmp_path / "r")
    blob = repo.repository.create_blob(b"evil").raw
    inner = repo.write_raw_tree([(b"100644", b"evil.py", blob)])
    tree = repo.write_raw_tree(
        [
            (b"100644", b"a.py", blob),
            (b"120000", b"link.py", repo.repository.create_blob(b"/etc/passwd").raw),
            (b"40000", b"..", bytes.fromhex(inner)),
            (b"40000", b".GIT", bytes.fromhex(inner)),
            (b"40000", b"pkg", bytes.fromhex(inner)),
        ]
    )
    someone = pygit2.Signature("Ann", "ann@example.org", 1_700_000_000)
    repo.repository.create_commit("refs/heads/main", someone, someone, "odd", tree, [])
    folder = tmp_path / "deep" / "checkout"
    folder.mkdir(parents=True)
    assert check_out(reading(repo, settings), folder) == {"Python": 2}
    found = {str(path.relative_to(tmp_path / "deep")) for path in (tmp_path / "deep").rglob("*") if path.is_file()}
    assert found == {"checkout/a.py", "checkout/pkg/evil.py"}


def test_indexers_are_run_for_the_languages_that_are_there(
    tmp_path: Path, settings: Settings, lake: Lake, monkeypatch: pytest.MonkeyPatch
):
    repo = RepoBuilder(tmp_path / "r")
    repo.commit({"a.py": "1", "b.ts": "2", "docs/c.txt": "3", "link": Link(b"a.py")})
    python = scip.written(tmp_path / "p.scip", [scip.document("a.py", "x")], metadata=PYTHON)
    typescript = scip.written(tmp_path / "t.scip", [scip.document("b.ts", "y")], metadata=TYPESCRIPT)
    install(tmp_path / "bin", monkeypatch, {"scip-python": python, "scip-typescript": typescript})
    read = reading(repo, settings)
    done = index_repository(settings, read, "run-1")
    assert (len(done.imports), done.missing) == (2, ())
    assert paths(lake) == ["a.py", "b.ts"]
    assert files_seen(tmp_path / "bin", "scip-python") == {"./a.py", "./b.ts", "./docs/c.txt"}
    entry = Ledger(lake).latest([SCIP_DOCUMENTS])[(SCIP_DOCUMENTS.name, "repo")]
    assert entry.cursor == read.head.commit_sha
    repo.commit({"b.ts": None})
    index_repository(settings, reading(repo, settings), "run-2")
    assert paths(lake) == ["a.py"]


def test_a_missing_indexer_is_named_and_the_others_still_run(
    tmp_path: Path, settings: Settings, lake: Lake, monkeypatch: pytest.MonkeyPatch
):
    repo = RepoBuilder(tmp_path / "r")
    repo.commit({"a.py": "1", "b.ts": "2"})
    python = scip.written(tmp_path / "p.scip", [scip.document("a.py", "x")], metadata=PYTHON)
    install(tmp_path / "bin", monkeypatch, {"scip-python": python})
    done = index_repository(settings, reading(repo, settings), "run-1")
    assert done.missing == ("scip-typescript",)
    assert paths(lake) == ["a.py"]


def test_without_any_indexer_it_is_said_how_to_get_one(
    tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    repo = RepoBuilder(tmp_path / "r")
    repo.commit({"a.py": "1", "b.ts": "2"})
    install(tmp_path / "bin", monkeypatch, {})
    with pytest.raises(EnvironmentNotReadyError, match="scip-python and scip-typescript not on PATH") as caught:
        index_repository(settings, reading(repo, settings), "run-1")
    assert "npm install --global @sourcegraph/scip-python" in caught.value.remedy
    assert "lakehouse scip import" in caught.value.remedy


def test_an_indexer_that_fails_is_quoted(
    tmp_path: Path, settings: Settings, lake: Lake, monkeypatch: pytest.MonkeyPatch
):
    repo = RepoBuilder(tmp_path / "r")
    repo.commit({"a.py": "1"})
    install(tmp_path / "bin", monkeypatch, {"scip-python": "out of cheese"})
    with pytest.raises(SourceError, match="code 3 and said: out of cheese"):
        index_repository(settings, reading(repo, settings), "run-1")
    assert not lake.exists(SCIP_DOCUMENTS)


def test_the_asset_tells_what_it_made_of_which_commit(
    tmp_path: Path, settings: Settings, lake: Lake, monkeypatch: pytest.MonkeyPatch
):
    repo = RepoBuilder(tmp_path / "r")
    sha = repo.commit({"a.py": "1"})
    register(settings, [("repo", str(repo.path))])
    read = reading(repo, settings)
    lake.ensure(COMMITS)
    Ledger(lake).record(COMMITS, known=[new_entry(git_key(COMMITS, read.repository, sha), run_id="before")])
    python = scip.written(tmp_path / "p.scip", [scip.document("a.py", "x")], metadata=PYTHON)
    install(tmp_path / "bin", monkeypatch, {"scip-python": python})
    with open_instance(settings) as instance:
        align_partitions(instance, ["repo"])
        done = materialize(
            [scip_indexes],
            partition_key="repo",
            instance=instance,
            resources={"lakehouse": LakehouseResource()},
        )
        (event,) = done.asset_materializations_for_node("scip_indexes")[-1:]
    assert event.asset_key.path == ["scip_documents"]
    assert event.metadata["commit"].value == sha
    assert event.metadata["rows_changed"].value == 1
    assert paths(lake) == ["a.py"]
