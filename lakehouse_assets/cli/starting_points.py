"""The files that `lakehouse new` writes: small, whole, and passing their own tests. Pure text."""

from collections.abc import Mapping

_README = """# {name}

```sh
lakehouse ingest --all          # bring the tables up to their sources
lakehouse sql "SELECT * FROM orders"
python -m pytest tests
. ./environment                 # where Dagster keeps its state
dagster dev -f definitions.py   # the same in the browser
```

`lakehouse.toml` has the settings; with `LAKEHOUSE_ENV=dev` its section `dev` is laid over `base`, and the files in
`ingest/dev` over those in `ingest`.
"""

_ENVIRONMENT = """\
export LAKEHOUSE_SETTINGS="$PWD/lakehouse.toml" DAGSTER_HOME="$PWD/.lakehouse"
mkdir -p "$DAGSTER_HOME"
[ -e "$DAGSTER_HOME/dagster.yaml" ] || echo "telemetry: {enabled: false}" > "$DAGSTER_HOME/dagster.yaml"
"""

_SETTINGS = """\
# What holds everywhere is below `base`; LAKEHOUSE_ENV=dev lays the section `dev` over it. Settings have the names of
# the variables LAKEHOUSE_…, in small letters; a variable of the environment wins. Paths begin in this file's folder.
[base]
home = ".lakehouse"
ingest = "ingest"
models = "models"

# What ${{NAME}} stands for in the files of `ingest` and `models`.
[base.variables]
DATA = "data"

[dev]
home = ".lakehouse/dev"

[prod]
home = ".lakehouse/prod"
keep_days = 30
"""

_DEFINITIONS = '''"""This project's assets beside those of lakehouse_assets."""

import assets
from dagster import Definitions, load_assets_from_package_module

from lakehouse_assets import definitions as lakehouse

defs = Definitions.merge(lakehouse.defs, Definitions(assets=load_assets_from_package_module(assets)))
'''

_INGEST = """# yaml-language-server: $schema=../schemas/ingest.json
# Every file that the path names is landed once, and again when it changed.
files:
  - name: {name}
    path: ${{DATA}}/{name}*.csv
    format: csv
    columns:
      - {{name: id, type: bigint, description: Number of the row.}}
      - {{name: amount, type: double, description: What it is worth.}}
      - {{name: customer, description: Whose it is., sensitive: true}}
"""

_DATA = "id,amount,customer\n1,9.5,Ann\n2,20,Bob\n3,,Ann\n"

_MODEL = """/* model
description: One row per file and kind of definition, with how many it has.
materialization: by_partition
key: [repo, path, kind]
partition_by: [repo]
columns:
  repo: Name of the repository.
  path: File of the definitions.
  kind: What they are.
  definitions: How many there are.
*/
SELECT repo, path, kind, COUNT(*) AS definitions
FROM definitions
GROUP BY repo, path, kind
"""

_MODEL_TEST = """definitions are counted by file and kind:
  given:
    definitions:
      - {repo: r, path: a.py, def_id: 1, kind: function}
      - {repo: r, path: a.py, def_id: 2, kind: function}
  expect:
    - {repo: r, path: a.py, kind: function, definitions: 2}
"""

_ASSET = '''"""One row of facts about the lake; made to be changed."""

from dagster import MaterializeResult, asset

from lakehouse_assets.core.settings import load_settings
from lakehouse_assets.lake.tables import Lake


@asset(group_name="{name}")
def {name}() -> MaterializeResult:
    """How many tables the lake has."""
    root = Lake(load_settings().lake).root
    tables = sorted(each.name for each in root.iterdir() if (each / "_delta_log").is_dir()) if root.is_dir() else []
    return MaterializeResult(metadata={{"tables": len(tables)}})
'''

_ASSET_TEST = '''"""The asset {name} can be materialized."""

from assets.{name} import {name}
from dagster import materialize


def test_{name}_is_materialized(tmp_path, monkeypatch):
    monkeypatch.setenv("LAKEHOUSE_HOME", str(tmp_path))
    assert materialize([{name}]).success
'''

_INGEST_TEST = '''"""The table {name} comes in once, however often it is asked for."""

from pathlib import Path

from lakehouse_assets.core.settings import load_settings
from lakehouse_assets.sources.sql.project import chosen_source, load_project
from lakehouse_assets.sources.sql.whole_way import land_table

PROJECT = Path(__file__).resolve().parents[1]


def test_{name}_comes_in_once(tmp_path, monkeypatch):
    monkeypatch.chdir(PROJECT)
    settings = load_settings({{"LAKEHOUSE_HOME": str(tmp_path)}})
    source = chosen_source(load_project(settings), "{name}")
    assert land_table(settings, source).rows_inserted > 0
    assert land_table(settings, source).rows_inserted == 0
'''

_CONFTEST = '''"""Tests find the project's own packages."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
'''


def ingest_files(name: str) -> Mapping[str, str]:
    return {
        f"ingest/{name}.yaml": _INGEST.format(name=name),
        f"data/{name}.csv": _DATA,
        f"tests/test_{name}.py": _INGEST_TEST.format(name=name),
    }


def model_files(name: str) -> Mapping[str, str]:
    return {f"models/{name}.sql": _MODEL, f"models/{name}.test.yaml": _MODEL_TEST}


def asset_files(name: str) -> Mapping[str, str]:
    return {
        "assets/__init__.py": '"""This project\'s assets, one module each."""\n',
        f"assets/{name}.py": _ASSET.format(name=name),
        f"tests/test_{name}.py": _ASSET_TEST.format(name=name),
    }


def project_files(name: str) -> Mapping[str, str]:
    return {
        "README.md": _README.format(name=name),
        "environment": _ENVIRONMENT,
        "lakehouse.toml": _SETTINGS.format(),
        ".gitignore": ".lakehouse/\n__pycache__/\n",
        "definitions.py": _DEFINITIONS,
        "tests/conftest.py": _CONFTEST,
        **ingest_files("orders"),
        **model_files("definitions_by_kind"),
        **asset_files("lake_size"),
    }
