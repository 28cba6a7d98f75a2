"""Any JDBC database through Spark, tried with PostgreSQL's own driver from Maven Central."""

import subprocess
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lakehouse_assets.contracts.connections import JdbcConnection, PostgresConnection
from lakehouse_assets.contracts.ingest import SqlProject
from lakehouse_assets.core.errors import SourceError
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.sources.sql.ingest import decide, land
from lakehouse_assets.sources.sql.inspection import inspect
from lakehouse_assets.sources.sql.whole_way import ingest_table, upsert_service
from lakehouse_assets_tests.support.postgres import Cluster
from lakehouse_assets_tests.support.shops import Shop

DRIVER = "https://repo1.maven.org/maven2/org/postgresql/postgresql/42.7.8/postgresql-42.7.8.jar"


@pytest.mark.slow
def test_a_table_is_read_through_its_jdbc_driver(
    cluster: Cluster, settings: Settings, spark: SparkSession, tmp_path: Path
):
    jar = tmp_path / "driver.jar"
    subprocess.run(["curl", "-fsSL", "-o", str(jar), DRIVER], check=True, timeout=120)
    with cluster.on_a_port() as address:
        source = PostgresConnection(kind="postgresql", uri=f"postgresql://tests@{address}/postgres")
        more = {"strategy": "timestamp", "timestamp": "updated_at"}
        shop = Shop(settings=settings, source=source, target=source, more=more, deliver={})
        shop.make()
        shop.add(1, 2, 3)
        connection = JdbcConnection(
            kind="jdbc",
            url=f"jdbc:postgresql://{address}/postgres",
            driver="org.postgresql.Driver",
            driver_jar=str(jar),
            user="tests",
        )
        ingest = {"name": "shop_orders", "connection": "shop", "table": "orders", "key": ["id"], **more}
        compared = {"name": "compared", "connection": "shop", "table": "orders", "key": ["id"], "strategy": "snapshot"}
        project = SqlProject.model_validate({"connections": {"shop": connection}, "ingest": [ingest, compared]})
        assert ingest_table(settings, project, project.ingest[0]).plan.mode == "first"
        shop.change(2)
        shop.add(4)
        shop.add(5, at="'2026-01-01'")
        done = ingest_table(settings, project, project.ingest[0])
        assert done.plan.mode == "window"
        assert (done.count("rows_inserted"), done.count("rows_updated"), done.rows_late) == (2, 1, 1)
        assert shop.lake_rows() == shop.source_rows()
        assert ingest_table(settings, project, project.ingest[0]).writes == ()  # nothing came, nothing is committed
        assert ingest_table(settings, project, project.ingest[1]).count("rows_inserted") == 5
        idle = ingest_table(settings, project, project.ingest[1])
        assert (idle.writes, idle.rows_read) == ((), 5)
        shop.remove(5)
        assert ingest_table(settings, project, project.ingest[1]).count("rows_deleted") == 1
        seen = inspect(Lake(settings.lake), project, project.ingest[1])
        shop.run("ALTER TABLE orders RENAME TO elsewhere")
        plan = decide(project.ingest[1], seen)
        with pytest.raises(SourceError, match=r"the database refused \(PSQLException\)"):
            land(Lake(settings.lake), upsert_service(settings), project, project.ingest[1], seen, plan, run_id="late")
