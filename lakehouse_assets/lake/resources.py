"""What assets ask for: the lake with its registry and ledger, and the process's Spark session."""

import logging
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Self

from dagster import ConfigurableResource, DagsterInstance, InitResourceContext, MetadataValue
from dagster._core.events import EngineEventData
from dagster_pyspark import LazyPySparkResource
from dagster_spark.utils import flatten_dict
from pydantic import PrivateAttr

from lakehouse_assets.core.diagnostics import Diagnostic, listening
from lakehouse_assets.core.settings import Settings, load_settings
from lakehouse_assets.lake import run_locks
from lakehouse_assets.lake.ledger import Ledger
from lakehouse_assets.lake.registry import Registry
from lakehouse_assets.lake.repository_locks import OF_MONTHS, hold, let_go
from lakehouse_assets.lake.run_partitions import PARTITIONS_NAME, partitions_of_run
from lakehouse_assets.lake.session import give_conf, runtime_for
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.given_conf import given_conf

if TYPE_CHECKING:
    from dagster_deltalake import DeltaTableResource

_warned: ContextVar[set[str] | None] = ContextVar("warned", default=None)
"""What stands in the run's log already; None outside of runs."""


@contextmanager
def _warnings_in(log: logging.Logger | None) -> Generator[None, None, None]:
    """Log warnings of all parts, each once: every step that reads a table finds the same of it.

    A run has the resource several times, as the IO manager has one of its own; the outermost listens.
    """
    if log is None or _warned.get() is not None:
        yield
        return
    warned: set[str] = set()

    def warn(said: Diagnostic) -> None:
        line = f"{said.subject}: {said.message}"
        if said.level == "warning" and line not in warned:
            warned.add(line)
            log.warning(line)

    token = _warned.set(warned)
    try:
        with listening(warn):
            yield
    finally:
        _warned.reset(token)


class LakehouseResource(ConfigurableResource):
    """The lake of this process's settings (`LAKEHOUSE_HOME` and its like); a run has its repositories to itself.

    What parts warn of while it is in use stands in the run's log.
    """

    _held: list[str] = PrivateAttr(default_factory=list)

    @contextmanager
    def yield_for_execution(self, context: InitResourceContext) -> Generator[Self, None, None]:
        with _warnings_in(context.log), super().yield_for_execution(context):
            yield self

    def setup_for_execution(self, context: InitResourceContext) -> None:
        if context.run is not None:
            run_locks.begin(self.settings.locks, context.run.run_id)
            self._link_story(context)
        self._held = self._repositories(context)
        hold(self.settings.locks, self._held)
        if self._held and isinstance(context.instance, DagsterInstance):
            for name in set(self._held) - set(self.registry.all()):  # what a killed removal left to Dagster
                context.instance.delete_dynamic_partition(PARTITIONS_NAME, name)

    def teardown_after_execution(self, context: InitResourceContext) -> None:
        let_go(self.settings.locks, self._held)
        if context.run is not None:
            run_locks.end(self.settings.locks, context.run.run_id)

    def hold_months(self) -> None:
        """Keep repositories from being removed until the run ends: its months have rows of all of them."""
        hold(self.settings.locks, [OF_MONTHS])
        self._held.append(OF_MONTHS)

    def _link_story(self, context: InitResourceContext) -> None:
        """At the top of the run's log, so that a run which writes nothing, or fails, leads to its story as well."""
        if context.run is not None and isinstance(context.instance, DagsterInstance):
            link = MetadataValue.url(self.settings.story_url(context.run.run_id))
            told = "What this run does, and why, is told in its story; `lakehouse up` or `lakehouse explore` serves it."
            context.instance.report_engine_event(told, context.run, EngineEventData(metadata={"story": link}))

    def _repositories(self, context: InitResourceContext) -> list[str]:
        if context.run is None or not isinstance(context.instance, DagsterInstance):
            return []
        return partitions_of_run(context.run, context.instance.get_dynamic_partitions(PARTITIONS_NAME))

    @property
    def settings(self) -> Settings:
        return load_settings()

    @property
    def lake(self) -> Lake:
        return Lake(self.settings.lake)

    def table(self, name: str, *, repo: str | None = None) -> "DeltaTableResource":
        """A table for assets and notebooks of users' own, wherever the lake is: `lakehouse.table("nodes").load()`.

        With a repository, at the version that was last published for it.
        """
        from lakehouse_assets.lake.delta_resources import table_resource  # takes as long to load as Dagster

        return table_resource(self.settings, name, repo=repo)

    @property
    def registry(self) -> Registry:
        return Registry(self.lake)

    @property
    def ledger(self) -> Ledger:
        return Ledger(self.lake)


class SparkResource(LazyPySparkResource):
    """The one Spark session of this process; nothing is started until a step asks for it.

    Which Spark it is, the project's settings say. `spark_config` is laid over what they make of it, by whoever the
    session is started: `{"spark.sql.ansi.enabled": "false"}`, or nested, as dagster-pyspark takes it. A session that
    runs already, or a server's, takes what may change while it runs; all else is refused there.
    """

    spark_config: dict[str, Any] = {}  # noqa: RUF012  # a pydantic field

    def setup_for_execution(self, context: InitResourceContext) -> None:
        self._give()

    def teardown_after_execution(self, context: InitResourceContext) -> None:
        if self.spark_config:
            give_conf({})

    def _init_session(self) -> None:
        self._give()
        self._spark_session = runtime_for(load_settings()).session

    def _give(self) -> None:
        """Before any step: some start the session by themselves. One that was given nothing leaves another's alone."""
        if self.spark_config:
            give_conf(given_conf(dict(flatten_dict(self.spark_config))))
