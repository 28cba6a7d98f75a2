"""A lake with a folder of models, and environments over it: what ran is told by name."""

import shutil
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from lakehouse_assets.contracts.graph_versions import PUBLISHED
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.settings import WantedEngine
from lakehouse_assets.lake.environment_changes import create_environment
from lakehouse_assets.lake.environment_reads import environment_tables
from lakehouse_assets.lake.environments import Environments
from lakehouse_assets.lake.executions import PipelineExecution
from lakehouse_assets.lake.known_tables import known_tables
from lakehouse_assets.lake.model_apply import Application, written_here
from lakehouse_assets.lake.model_building import Workshop
from lakehouse_assets.lake.model_engine import extent_of
from lakehouse_assets.lake.model_plans import Request, plan_for
from lakehouse_assets.lake.query import ask
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.lake.view_rows import ViewReader
from lakehouse_assets.models.environment import Environment
from lakehouse_assets.models.planning import Plan
from lakehouse_assets.plan.engine import choose_engine
from lakehouse_assets_tests.support.graphs import publish
from lakehouse_assets_tests.support.models import model_text
from lakehouse_assets_tests.support.places import local
from lakehouse_assets_tests.support.writes import no_spark, table_of, write

TODAY = date(2026, 3, 1)


class ModelLake:
    def __init__(self, lake: Lake, folder: Path) -> None:
        self.lake = lake
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._writes = 0
        self.spark: Callable[[], SparkSession] | None = None
        """Builds on Spark, where it is given."""
        self.engine: WantedEngine = "spark"
        """Where it builds where Spark is given."""

    def copy(self, path: Path) -> "ModelLake":
        """The same in another place: what is done to it is not done to this one."""
        shutil.copytree(local(self.lake.root), path / "lake")
        shutil.copytree(self.folder, path / "models")
        found = ModelLake(Lake(path / "lake"), path / "models")
        found._writes = self._writes
        return found

    def rows(self, contract: TableContract, rows: Sequence[dict[str, Any]], *repos: str) -> None:
        """The rows of some repositories in a table of the graph, published."""
        self._writes += 1
        run = f"run-{self._writes}"
        names = repos or tuple(sorted({row["repo"] for row in rows}))
        write(self.lake, contract, table_of(contract, rows), partitions=names, run_id=run, cursor=run)
        for repo in names if contract in PUBLISHED else ():
            publish(self.lake, repo, commit=run)

    def models(self, **texts: str | None) -> None:
        """Write models' files; None takes one away."""
        for name, text in texts.items():
            path = self.folder / f"{name}.sql"
            if text is None:
                path.unlink()
            else:
                path.write_text(text if text.startswith("/* model") else model_text(text))

    def create(self, name: str, **more: Any) -> Environment:
        return create_environment(self.lake, Environment(name=name, **more))

    def plan(
        self, environment: str, *, select: Sequence[str] = (), restate: Sequence[str] = (), today: date = TODAY
    ) -> Plan:
        request = Request(environment=environment, selection=tuple(select), restate=tuple(restate))
        return plan_for(self.lake, self.folder, request, today=today)

    def apply(self, environment: str, **more: Any) -> PipelineExecution:
        return self.carry_out(self.plan(environment, **more))

    def carry_out(self, plan: Plan) -> PipelineExecution:
        return self.application(plan).execution

    def application(self, plan: Plan) -> Application:
        """A plan carried out, with all that came of it."""
        workshop = Workshop(
            lake=self.lake,
            tables=known_tables(self.lake),
            spark=self.spark or no_spark,
            choice=choose_engine(self.engine if self.spark else "local", extent_of(plan)),
        )
        application = Application(workshop=workshop, plan=plan, write=written_here(workshop))
        application.execution = application.carry_out()
        return application

    def ran(self, environment: str, **more: Any) -> list[str]:
        """The models that an apply runs; it has to succeed."""
        done = self.apply(environment, **more)
        assert dict(done.failed) == {}
        return sorted(done.run)

    def environment(self, name: str) -> Environment:
        return Environments(self.lake).all()[name]

    def ask(self, environment: str, query: str) -> list[dict[str, Any]]:
        views = ViewReader(spark=self.spark or no_spark, engine="auto")
        with ask(self.lake, query, environment_tables(self.lake, query, environment, views)) as answer:
            return list(answer.rows)

    def data_files(self) -> set[Path]:
        """Data files of all tables but those that tell of environments and of writes."""
        own = {"environments", "model_versions", "pipeline_executions", "writes", "materializations"}
        return {
            path
            for path in local(self.lake.root).rglob("*.parquet")
            if path.relative_to(local(self.lake.root)).parts[0] not in own and "_delta_log" not in path.parts
        }


def file(repo: str, path: str, size: int = 1, **more: object) -> dict[str, object]:
    """A row of `snapshots`."""
    return {
        "repo": repo,
        "path": path,
        "blob_sha": f"{path}{size}",
        "mode": "100644",
        "kind": "file",
        "size": size,
        "language": "Python",
        "is_generated": False,
        "is_vendored": False,
        "is_test": False,
        **more,
    }
