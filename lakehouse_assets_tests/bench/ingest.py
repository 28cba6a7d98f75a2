"""A million rows from PostgreSQL into the lake and out again, and 10,000 that changed: against psql alone, and dlt.

The floor is what nobody who goes through SQL can beat: `COPY` out to a file and in to another table, by psql. dlt does
the same with its own means, into Delta by merge, in an environment of its own that is made for the measurement.
"""

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from lakehouse_assets.contracts.connections import PostgresConnection
from lakehouse_assets.contracts.ingest import SqlProject
from lakehouse_assets.core.settings import load_settings
from lakehouse_assets.sources.sql.whole_way import deliver_table, ingest_table
from lakehouse_assets_tests.bench.measure import goal, heading, line, timed
from lakehouse_assets_tests.support.postgres import programs, running_cluster
from lakehouse_assets_tests.support.shops import run_sql

ROWS = 1_000_000
CHANGED = 10_000
DLT = "dlt[filesystem,deltalake,postgres,sql-database]==1.31.0"
MADE = "LAKEHOUSE_BENCH_DLT"
"""Names the interpreter of an environment that has dlt already; else one is made, which takes a minute."""

_DLT_PROGRAM = """
import sys, time
import dlt
from dlt.sources.sql_database import sql_table
address, folder, begun = sys.argv[1], sys.argv[2], time.perf_counter()
pipeline = dlt.pipeline("orders", pipelines_dir=folder + "/state", dataset_name="shop",
                        destination=dlt.destinations.filesystem("file://" + folder + "/lake"))
table = sql_table(address, "orders", incremental=dlt.sources.incremental("updated_at"), backend="pyarrow",
                  chunk_size=100_000, primary_key="id", reflection_level="full",
                  write_disposition={"disposition": "merge", "strategy": "upsert"})
pipeline.run(table, table_format="delta")
print(time.perf_counter() - begun)
"""


def ingest() -> None:
    with tempfile.TemporaryDirectory() as folder, running_cluster() as cluster:
        uri = cluster.new_database()
        _fill(uri)
        project = _project(uri)
        os.environ["LAKEHOUSE_HOME"] = folder
        settings = load_settings()
        python = Path(os.environ.get(MADE, "")) if os.environ.get(MADE) else _dlt_environment(Path(folder) / "dlt")
        for title, prepare, rows in (
            ("first load", lambda: None, ROWS),
            ("changed rows", lambda: _change(uri), CHANGED),
        ):
            prepare()
            heading(f"{title}: {rows:,} of {ROWS:,} rows")
            floor = timed(lambda rows=rows: _copy(uri, Path(folder), rows))
            line("psql, COPY out and in", floor)
            into = timed(lambda: ingest_table(settings, project, project.ingest[0]))
            out = timed(lambda: deliver_table(settings, project, project.deliver[0]))
            dlt = _dlt(python, uri.replace("postgresql://", "postgresql+psycopg2://"), Path(folder))
            first = rows == ROWS
            note = goal(into <= 2 * floor, "at most 2 × the floor") if first else ""
            line("into the lake", into, against=("psql", floor), note=note)
            line("the same by dlt", dlt, against=("ours", into), note=goal(into < dlt, "ahead of dlt"))
            line("and out, merged and compared", out, against=("psql", floor))
            line("the whole way", into + out, against=("psql", floor))


def _fill(uri: str) -> None:
    columns = (
        "(id bigint PRIMARY KEY, customer text, amount numeric(12,2), price double precision, "
        "updated_at timestamptz, note text)"
    )
    _run(
        uri,
        f"CREATE TABLE orders {columns}",
        f"CREATE TABLE floor {columns}",
        "INSERT INTO orders SELECT i, 'customer ' || i % 1000, i % 10000 / 100.0, i * 1.5, "
        f"now() - i * interval '1 second', md5(i::text) FROM generate_series(1, {ROWS}) AS i",
        "CREATE INDEX ON orders (updated_at)",
    )


def _change(uri: str) -> None:
    _run(uri, f"UPDATE orders SET price = price + 1, updated_at = clock_timestamp() WHERE id % {ROWS // CHANGED} = 0")


def _run(uri: str, *statements: str) -> None:
    run_sql(PostgresConnection(kind="postgresql", uri=uri), statements)


def _copy(uri: str, folder: Path, rows: int) -> None:
    """All rows into an empty table, or the newest into the table of the first load."""
    chosen = "orders" if rows == ROWS else f"(SELECT * FROM orders ORDER BY updated_at DESC LIMIT {rows})"
    file = folder / "rows.copy"
    programs_folder = programs()
    assert programs_folder is not None
    psql = [str(programs_folder / "psql"), uri, "-qc"]
    with file.open("wb") as out:
        subprocess.run([*psql, f"COPY {chosen} TO STDOUT"], stdout=out, check=True)
    into = "floor" if rows == ROWS else "floor_changes"
    if rows != ROWS:
        _run(uri, "CREATE TABLE floor_changes (LIKE floor INCLUDING ALL)")
    with file.open("rb") as rows_in:
        subprocess.run([*psql, f"COPY {into} FROM STDIN"], stdin=rows_in, check=True)


def _project(uri: str) -> SqlProject:
    return SqlProject.model_validate(
        {
            "connections": {"shop": {"kind": "postgresql", "uri": uri}},
            "ingest": [
                {
                    "name": "shop_orders",
                    "connection": "shop",
                    "table": "orders",
                    "key": ["id"],
                    "strategy": "timestamp",
                    "timestamp": "updated_at",
                }
            ],
            "deliver": [{"asset": "shop_orders", "connection": "shop", "table": "orders_copy"}],
        }
    )


def _dlt_environment(folder: Path) -> Path:
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", DLT], check=True, stdout=sys.stderr)
    return python


def _dlt(python: Path, uri: str, folder: Path) -> float:
    """Its own seconds, without the start of its process."""
    env = os.environ | {"RUNTIME__DLTHUB_TELEMETRY": "false"}
    words = [str(python), "-c", _DLT_PROGRAM, uri, str(folder)]
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"dlt failed:\n{done.stderr[-2000:]}")
    return float(done.stdout.split()[-1])
