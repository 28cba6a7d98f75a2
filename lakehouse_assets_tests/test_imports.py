"""Imports go one way between the rooms, and workers never load Dagster."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from lakehouse_assets.core.settings import PROJECT_ROOT

PACKAGE = PROJECT_ROOT / "lakehouse_assets"

LEVELS = [
    {"core"},
    {"contracts"},
    {"extract", "plan", "models"},
    {"change", "link", "stories"},
    {"lake", "sources"},
    {"assets"},
    {"automation", "explorer"},
    {"definitions", "cli"},
]
LEVEL_OF = {room: number for number, rooms in enumerate(LEVELS) for room in rooms}
WITH_DAGSTER = {"assets", "automation", "definitions", "cli"}
LAKE_WITH_DAGSTER = {
    "delta_resources",
    "failures",
    "io_manager",
    "io_metadata",
    "partition_scopes",
    "resources",
    "run_partitions",
}

MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py" or path.parent != PACKAGE)


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
        elif isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
    return names


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_room_imports_only_from_its_own_level_or_below(path: Path):
    own = LEVEL_OF[room(path)]
    others = {name.split(".")[1] for name in imported(path) if name.startswith("lakehouse_assets.")}
    above = {other for other in others if LEVEL_OF[other] > own}
    assert not above, f"{path} imports from {above}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_dagster_is_imported_only_from_the_io_manager_on(path: Path):
    allowed = room(path) in WITH_DAGSTER or (room(path) == "lake" and path.stem in LAKE_WITH_DAGSTER)
    uses = any(name.split(".")[0].startswith("dagster") for name in imported(path))
    assert allowed or not uses


def loaded_by(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint(' '.join(sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PROJECT_ROOT)
    return {name.split(".")[0] for name in out.stdout.split()}


def test_core_needs_nothing_but_the_standard_library_and_pydantic():
    third_party = set()
    for path in (PACKAGE / "core").rglob("*.py"):
        third_party |= {name.split(".")[0] for name in imported(path)} - set(sys.stdlib_module_names)
    assert third_party <= {"pydantic", "lakehouse_assets"}


@pytest.mark.parametrize(
    ("statement", "unwanted"),
    [
        ("import lakehouse_assets.sources.spark_reads", {"dagster", "pyspark", "pandera", "sqlglot"}),
        ("import lakehouse_assets.assets.freshness", {"dagster", "pyspark", "pandera", "sqlglot"}),
        ("import lakehouse_assets.cli.main", {"dagster", "pyspark", "deltalake", "pyarrow", "duckdb", "pygit2"}),
        ("import lakehouse_assets.contracts.catalog", {"dagster", "pyspark", "pandera", "pyarrow"}),
    ],
)
def test_what_has_to_be_quick_loads_nothing_heavy(statement: str, unwanted: set[str]):
    assert loaded_by(statement).isdisjoint(unwanted)
