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
    {"recipes"},
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

WRITERS = {
    "create_write_transaction": {"lake/local_executor"},
    "merge(source_alias)": {"lake/local_executor", "lake/ledger"},
    "optimize": {"lake/compaction", "lake/record_rows"},
    "save": {"lake/spark_executor"},
    "write_deltalake": {"lake/local_executor", "lake/record_rows", "lake/table_columns"},
    # Beside the tables: rows that wait for the end of their stream, and copies for Iceberg's own table.
    "pq.write_table": {"lake/stream_stage", "lake/iceberg"},
}
"""Which modules have an engine write a table, and which write Parquet at all, by what they call."""
OF_OTHERS = {"ParquetWriter", "write_dataset", "to_parquet", "write_parquet", "sink_parquet", "saveAsTable", "toTable"}
"""Ways to write files that nobody has a use for here."""

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


def calls_of_writers(path: Path) -> set[str]:
    """The calls of a module by which tables or Parquet files come to be, by their names in `WRITERS`."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.Call):
            continue
        match node.func:
            case ast.Name(id=name) | ast.Attribute(attr=name) if name in {"write_deltalake", *OF_OTHERS}:
                found.add(name)
            case ast.Attribute(attr="create_write_transaction"):
                found.add("create_write_transaction")
            case ast.Attribute(attr="merge") if any(each.arg == "source_alias" for each in node.keywords):
                found.add("merge(source_alias)")
            case ast.Attribute(value=ast.Name(id="pq"), attr="write_table"):
                found.add("pq.write_table")
            case ast.Attribute(value=ast.Attribute(attr="optimize")):
                found.add("optimize")
            case ast.Attribute(attr="save") if node.args:
                found.add("save")
            case _:
                pass
    return found


def test_only_the_executors_and_the_keepers_of_records_have_an_engine_write_and_nobody_writes_a_table_s_files():
    found: dict[str, set[str]] = {}
    for path in MODULES:
        for call in calls_of_writers(path):
            found.setdefault(call, set()).add(path.relative_to(PACKAGE).with_suffix("").as_posix())
    assert found == WRITERS


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
        ("import lakehouse_assets.lake.upsert", {"dagster", "pyspark", "pandera", "polars", "pandas"}),
        ("import lakehouse_assets.contracts.catalog", {"dagster", "pyspark", "pandera", "pyarrow"}),
    ],
)
def test_what_has_to_be_quick_loads_nothing_heavy(statement: str, unwanted: set[str]):
    assert loaded_by(statement).isdisjoint(unwanted)
