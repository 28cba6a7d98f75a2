"""The one IO manager: it reads and writes every asset's table, and holds no dataset's name."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dagster import (
    AssetObservation,
    ConfigurableIOManager,
    DagsterEvent,
    DagsterInstance,
    DataVersion,
    InitResourceContext,
    InputContext,
    MetadataValue,
    OutputContext,
)
from dagster._core.definitions.data_version import (
    NULL_EVENT_POINTER,
    get_input_data_version_tag,
    get_input_event_pointer_tag,
)
from dagster._core.events import DagsterEventBatchMetadata, generate_event_batch_id
from dagster._core.execution.plan.execute_step import _get_input_provenance_data
from pydantic import PrivateAttr

from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.core.errors import BadInputError, LakeStateError
from lakehouse_assets.core.hashing import fingerprint
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.batches import Batches
from lakehouse_assets.lake.bookkeeping import begin, end
from lakehouse_assets.lake.failed_partitions import FailedPartitions
from lakehouse_assets.lake.failures import explained, failure, partitions_failure
from lakehouse_assets.lake.io_metadata import (
    materialization,
    partition_metadata,
    summary,
    write_metadata,
    written_by_partition,
)
from lakehouse_assets.lake.ledger import Entry
from lakehouse_assets.lake.partition_scopes import run_partitions
from lakehouse_assets.lake.plan_log import record_plans
from lakehouse_assets.lake.report import WriteReport
from lakehouse_assets.lake.resources import LakehouseResource, SparkResource
from lakehouse_assets.lake.run_engine import SPARK_TAG, engine_of_run, writer_for
from lakehouse_assets.lake.session import SparkUse, spark_use
from lakehouse_assets.lake.spark_errors import delta_errors
from lakehouse_assets.lake.table_facts import table_facts
from lakehouse_assets.lake.upsert import UpsertService
from lakehouse_assets.plan.pruning import prune
from lakehouse_assets.plan.scope import Scope, Scopes, scope_predicate

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

COLUMNS = "columns"
"""Input metadata: the columns that a consumer reads; without it, all of them."""


class DeltaIOManager(ConfigurableIOManager):
    """Tables of the lake: only the partitions of the run, only the columns asked for.

    A consumer gets a Spark frame, or what its annotation asks for: an Arrow table, a pandas or a Polars frame.
    """

    lakehouse: LakehouseResource
    spark: SparkResource
    _wrote: bool = PrivateAttr(default=False)
    _used: SparkUse | None = PrivateAttr(default=None)
    """What Spark had done before the run."""

    @explained()
    def handle_output(self, context: OutputContext, obj: Batch | Batches) -> None:
        given = Batches(batches=(obj,)) if isinstance(obj, Batch) else obj
        contract = given.contract or _contract(context.asset_key.path)
        partitions = run_partitions(context, contract) if given.partitions is None else given.partitions
        _check_whole(contract, given, partitions)
        with given.writing():
            reports = [
                done
                for batch in given.batches
                for done in self._written(contract, batch, partitions, context, given.failed)
            ]
            entries = [entry for done in reports for entry in done.entries] + list(given.untouched)
            if not entries or (given.contract is not None and given.failed.errors):
                raise partitions_failure(given.failed.errors, of=len(partitions))
        for done in reports:
            context.log_event(AssetObservation(asset_key=context.asset_key, metadata=write_metadata(contract, done)))
        shown = (
            write_metadata(contract, reports[0])
            if len(reports) == 1
            else summary(contract, reports, len(given.untouched))
        )
        story = {"story": MetadataValue.url(self.lakehouse.settings.story_url(context.run_id))}
        written = {name: {**told, **story} for name, told in written_by_partition(contract, reports).items()}
        _tell(context, contract, entries, shown | story, written)

    def _written(
        self,
        contract: TableContract,
        batch: Batch,
        partitions: Mapping[str, Scope],
        context: OutputContext,
        failed: FailedPartitions,
    ) -> list[WriteReport]:
        """The batch in one write; where rows of a partition are refused, in parts without it.

        A state of the lake that no run leaves behind is not a partition's fault unless there is one only.
        """
        names = [key.partition for key in batch.keys]
        column = contract.partition_by[0] if contract.partition_by else None

        def write(some: Sequence[str]) -> WriteReport:
            try:
                return self._write(contract, batch.only(some, column), partitions, context)
            except LakeStateError as error:
                if len(some) == 1:
                    raise
                raise failure({"": error}) from error

        return failed.in_parts(names, write)

    def _write(
        self, contract: TableContract, batch: Batch, partitions: Mapping[str, Scope], context: OutputContext
    ) -> WriteReport:
        choice = engine_of_run(context.step_context.instance, context.run_id, None)
        executor, because = writer_for(choice, self.lakehouse.settings.engine)
        service = UpsertService(
            self.lakehouse.lake, spark=lambda: self.spark.spark_session, executor=executor, because=because
        )
        own = {key.partition: partitions[key.partition] for key in batch.keys}
        self._wrote = True
        with delta_errors(f"table {contract.name}"):
            return service.write(contract, batch, own, run_id=context.run_id)

    def setup_for_execution(self, context: InitResourceContext) -> None:
        begin(self.lakehouse.lake)
        self._used = spark_use()

    def teardown_after_execution(self, context: InitResourceContext) -> None:
        """Bring `writes`, the ledger's index and `plans` up to what the run did."""
        written, self._wrote = self._wrote, False
        _tell_spark_use(context, self._used)
        try:
            if written and context.run is not None:
                record_plans(self.lakehouse.lake, context.run.run_id)
        finally:
            end(self.lakehouse.lake)

    @explained()
    def load_input(self, context: InputContext) -> "DataFrame | Any":
        contract = _contract(context.asset_key.path)
        lake = self.lakehouse.lake
        columns: Sequence[str] = (context.definition_metadata or {}).get(COLUMNS, contract.column_names)
        scopes: Scopes = ()
        if contract.partition_by and context.has_asset_partitions:
            scopes = tuple(run_partitions(context, contract).values())
        pruning = prune(table_facts(lake.present(contract), contract).files, scopes, None)
        report("read", contract.name, "files", total=pruning.total, read=pruning.touched)
        if len(scopes) <= 1:  # Dagster can observe one partition of an input, or an input without partitions
            context.add_input_metadata({"files_total": pruning.total, "files_read": pruning.touched})
        wanted = getattr(context.dagster_type.typing_type, "__module__", "").partition(".")[0]
        if wanted in ("pyarrow", "pandas", "polars"):
            return _as_type(wanted, lake.read(contract, columns=columns, where=scope_predicate(scopes, "datafusion")))
        frame = self.spark.spark_session.read.format("delta").load(str(lake.path(contract)))
        return frame.where(scope_predicate(scopes, "spark")).select(*columns)


def _tell_spark_use(context: InitResourceContext, before: SparkUse | None) -> None:
    """Let the run's tags say what Spark did in it, where it did anything."""
    use = spark_use()
    if use is None or context.run is None or not isinstance(context.instance, DagsterInstance):
        return
    done = use.since(before)
    if done.tasks != 0:
        context.instance.add_run_tags(context.run.run_id, {SPARK_TAG: str(done)})


def _contract(path: Sequence[str]) -> TableContract:
    return CATALOG[path[-1]]


def _as_type(module: str, table: Any) -> Any:
    match module:
        case "pandas":
            return table.to_pandas()
        case "polars":
            import polars

            return polars.from_arrow(table)
        case _:
            return table


def _tell(
    context: OutputContext,
    contract: TableContract,
    entries: Sequence[Entry],
    shown: Mapping[str, MetadataValue],
    written: Mapping[str, Mapping[str, MetadataValue]],
) -> None:
    """Have each partition that was made told of by one event, with its own data version, content and numbers.

    Dagster's event after this would be for all partitions of the run, those that failed included, with one data
    version for all. So it gets one partition, and the others are told of here.
    """
    *others, last = entries
    if others and not context.has_asset_partitions:  # the table has partitions that Dagster does not know of
        context.add_output_metadata(shown)
        version = fingerprint(part for entry in entries for part in (entry.partition, entry.data_version))
        context.step_context.set_data_version(context.asset_key, DataVersion(version))
        return
    several = context.has_asset_partitions and len(context.asset_partition_keys) > 1
    own = written.get(last.partition, {}) if several else {}
    context.add_output_metadata({**shown, **own, **partition_metadata(contract, last)})
    if last.data_version is not None:
        context.step_context.set_data_version(context.asset_key, DataVersion(last.data_version))
    if several:
        batch = generate_event_batch_id()
        inputs = _input_tags(context)
        for number, entry in enumerate(others, 1):
            DagsterEvent.asset_materialization(
                context.step_context,
                materialization(
                    contract, context.asset_key, entry, written=written.get(entry.partition, {}), inputs=inputs
                ),
                DagsterEventBatchMetadata(batch, is_end=number == len(others)),
            )
        only = context.asset_partitions_def.subset_with_partition_keys([last.partition])
        # The one way to tell Dagster that a step made some of its run's partitions: there is no public one in the
        # version that is pinned, and a test fails if it stops to work.
        context._asset_partitions_subset = only


def _input_tags(context: OutputContext) -> dict[str, str]:
    """What Dagster adds to its own event of the step: up to which event of each input was read, and what it held."""
    tags: dict[str, str] = {}
    for key, read in _get_input_provenance_data(context.asset_key, context.step_context).items():
        tags[get_input_data_version_tag(key)] = read["data_version"].value
        tags[get_input_event_pointer_tag(key)] = str(read["storage_id"] or NULL_EVENT_POINTER)
    return tags


def _check_whole(contract: TableContract, given: Batches, partitions: Mapping[str, Scope]) -> None:
    """The batches, what is left untouched and what failed are the run's partitions, each once."""
    named = [key.partition for batch in given.batches for key in batch.keys]
    named += [entry.partition for entry in given.untouched]
    named += given.failed.errors.keys() - set(named)
    if sorted(named) != sorted(partitions):
        raise BadInputError(
            subject=f"write to {contract.name}",
            seen=f"the batches are of partitions {sorted(named)}, the run of {sorted(partitions)}",
            why="rows of partitions that only one of them names would be lost, or answered for by nobody",
            remedy="give each partition of the run to one batch, or leave it untouched",
        )
