"""The example of a deployment is loaded as Dagster loads it."""

import re
import shutil
from pathlib import Path

import pytest
import yaml
from dagster import DagsterInstance
from dagster._core.instance.ref import InstanceRef
from dagster._core.remote_origin import GrpcServerCodeLocationOrigin
from dagster._core.workspace.load_target import WorkspaceFileTarget

from lakehouse_assets.assets.options import POOL
from lakehouse_assets.core.settings import PROJECT_ROOT
from lakehouse_assets.definitions import defs
from lakehouse_assets_tests.support.postgres import running_cluster

FOLDER = PROJECT_ROOT / "docs" / "deployment"


def example() -> dict[str, str]:
    lines = (FOLDER / "environment.example").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copy(FOLDER / "dagster.yaml", tmp_path)
    for name, value in example().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path))
    monkeypatch.setenv("LAKEHOUSE_HOME", str(tmp_path / "home"))
    return tmp_path


def test_every_variable_that_the_files_name_is_listed_and_no_file_has_a_secret():
    texts = [(FOLDER / name).read_text() for name in ("dagster.yaml", "workspace.yaml")]
    named = {name for text in texts for name in re.findall(r"env: (\w+)", text)}
    assert named <= example().keys()
    assert not any(re.search(r"(?i)password|secret|token|://", line) for text in texts for line in _values(text))


def _values(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith("#")]


def test_the_instance_has_postgres_a_queue_and_one_slot_for_runs_that_write(home: Path):
    reference = InstanceRef.from_dir(str(home))
    assert reference.storage_data is not None
    assert reference.storage_data.class_name == "DagsterPostgresStorage"
    assert reference.run_coordinator_data is not None
    assert reference.run_coordinator_data.class_name == "QueuedRunCoordinator"
    assert "concurrency" in reference.settings
    writers = [each for each in defs.resolve_asset_graph().assets_defs if "extracts" in each.keys_by_output_name]
    assert POOL == "lake"
    assert all(each.op.pool == POOL for each in writers)


def test_the_project_s_own_instance_and_the_example_agree_on_retries_and_slots(home: Path):
    own = yaml.safe_load((PROJECT_ROOT / "dagster.yaml").read_text())
    team = yaml.safe_load((home / "dagster.yaml").read_text())
    assert own["run_retries"] == team["run_retries"]
    assert own["concurrency"]["pools"] == team["concurrency"]["pools"]
    assert team["run_monitoring"]["free_slots_after_run_end_seconds"] > 0


def test_the_workspace_is_a_code_server_whose_host_comes_from_the_environment(home: Path):
    (origin,) = WorkspaceFileTarget(paths=[str(FOLDER / "workspace.yaml")]).create_origins()
    assert isinstance(origin, GrpcServerCodeLocationOrigin)
    assert (origin.host, origin.port, origin.location_name) == ("code", 4000, "lakehouse_assets")


@pytest.mark.slow
def test_an_instance_starts_on_a_real_postgres(home: Path, monkeypatch: pytest.MonkeyPatch):
    with running_cluster() as cluster, cluster.on_a_port() as address:
        monkeypatch.setenv("DAGSTER_POSTGRES_URL", f"postgresql+psycopg2://tests@{address}/postgres")
        with DagsterInstance.get() as instance:
            instance.add_dynamic_partitions("repositories", ["a", "b"])
        with DagsterInstance.get() as again:
            assert again.get_dynamic_partitions("repositories") == ["a", "b"]
