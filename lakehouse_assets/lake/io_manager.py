"""The one IO manager: it reads and writes every asset's table, and holds no dataset's name."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dagster import (
    AssetKey,
    AssetMaterialization,
    AssetObservation,
    ConfigurableIOManager,
    DagsterInstance,
    DataVersion,
    InitResourceContext,
    InputContext,
    MetadataValue,
    OutputContext,
    TableColumn,
    TableColumnConstraints,
    TableConstraints,
    TableSchema,
)
from dagster._core.definitions.data_version import DATA_VERSION_TAG
from pydantic import PrivateAttr

from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.batches import Batches
from lakehouse_assets.lake.failures import explained
from lakehouse_assets.lake.ledger import Entry, Ledger
from lakehouse_assets.lake.partition_scopes import run_partitions
from lakehouse_assets.lake.report import WriteReport
from lakehouse_assets.lake.resources import LakehouseResource, SparkResource
from lakehouse_assets.lake.spark_errors import delta_errors
from lakehouse_assets.lake.table_facts import table_facts
from lakehouse_assets.lake.upsert import UpsertService
from lakehouse_assets.plan.pruning import prune
from lakehouse_assets.plan.row_hash import Content
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
    _per_partition: list[AssetMaterialization] = PrivateAttr(default_factory=list)
    _written: dict[str, TableContract] = PrivateAttr(default_factory=dict)

    @explained()
    def handle_output(self, context: OutputContext, obj: Batch | Batches) -> None:
        contract = _contract(context.asset_key.path)
        partitions = run_partitions(context, contract)
        given = Batches(batches=(obj,)) if isinstance(obj, Batch) else obj
        _check_whole(contract, given, partitions)
        reports = [self._write(contract, batch, partitions, context.run_id) for batch in given.batches]
        entries = [entry for done in reports for entry in done.entries]
        for done in reports:
            context.log_event(AssetObservation(asset_key=context.asset_key, metadata=_metadata(done)))
        told = _metadata(reports[0]) if len(reports) == 1 else _summary(reports, len(given.untouched))
        story = MetadataValue.url(self.lakehouse.settings.story_url(context.run_id))
        context.add_output_metadata(told | {"story": story})
        if len(partitions) == 1:
            version = next(entry.data_version for entry in (*entries, *given.untouched))
            if version is not None:
                context.step_context.set_data_version(context.asset_key, DataVersion(version))
        else:
            for done in reports:
                self._per_partition += _materializations(context.asset_key, done.run_id, done.entries)
            self._per_partition += _materializations(context.asset_key, context.run_id, given.untouched)

    def _write(
        self, contract: TableContract, batch: Batch, partitions: Mapping[str, Scope], run_id: str
    ) -> WriteReport:
        service = UpsertService(
            self.lakehouse.lake,
            spark=lambda: self.spark.spark_session,
            executor=self.lakehouse.settings.executor,
        )
        own = {key.partition: partitions[key.partition] for key in batch.keys}
        self._written[contract.name] = contract
        with delta_errors(f"table {contract.name}"):
            return service.write(contract, batch, own, run_id=run_id)

    def teardown_after_execution(self, context: InitResourceContext) -> None:
        """Bring the ledger's index up to the run's commits, and tell each partition's own data version and content.

        Dagster gives all partitions of a run one data version and one set of metadata; an event reported after
        the run's own ones sets them right, and this is the first moment after them.
        """
        written, self._written = self._written, {}
        if written:
            Ledger(self.lakehouse.lake).record(*written.values())
        instance = context.instance
        waiting, self._per_partition = self._per_partition, []
        if isinstance(instance, DagsterInstance):
            for event in waiting:
                instance.report_runless_asset_event(event)

    @explained()
    def load_input(self, context: InputContext) -> "DataFrame | Any":
        contract = _contract(context.asset_key.path)
        lake = self.lakehouse.lake
        columns: Sequence[str] = (context.definition_metadata or {}).get(COLUMNS, contract.column_names)
        scopes: Scopes = ()
        if contract.partition_by and context.has_asset_partitions:
            scopes = tuple(run_partitions(context, contract).values())
        pruning = prune(table_facts(lake.ensure(contract), contract).files, scopes, None)
        report("read", contract.name, "files", total=pruning.total, read=pruning.touched)
        if len(scopes) <= 1:  # Dagster can observe one partition of an input, or an input without partitions
            context.add_input_metadata({"files_total": pruning.total, "files_read": pruning.touched})
        wanted = getattr(context.dagster_type.typing_type, "__module__", "").partition(".")[0]
        if wanted in ("pyarrow", "pandas", "polars"):
            return _as_type(wanted, lake.read(contract, columns=columns, where=scope_predicate(scopes, "datafusion")))
        frame = self.spark.spark_session.read.format("delta").load(str(lake.path(contract)))
        return frame.where(scope_predicate(scopes, "spark")).select(*columns)


def table_schema(contract: TableContract) -> TableSchema:
    """The contract as Dagster shows it in the UI."""
    return TableSchema(
        columns=[
            TableColumn(
                name=column.name,
                type=column.type,
                description=column.description,
                constraints=TableColumnConstraints(nullable=column.nullable, unique=contract.key == (column.name,)),
            )
            for column in contract.columns
        ],
        constraints=TableConstraints(other=[f"key: {', '.join(contract.key)}"]),
    )


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


def _check_whole(contract: TableContract, given: Batches, partitions: Mapping[str, Scope]) -> None:
    """The batches and what is left untouched are the run's partitions, each once."""
    named = [key.partition for batch in given.batches for key in batch.keys]
    named += [entry.partition for entry in given.untouched]
    if sorted(named) != sorted(partitions):
        raise BadInputError(
            subject=f"write to {contract.name}",
            seen=f"the batches are of partitions {sorted(named)}, the run of {sorted(partitions)}",
            why="rows of partitions that only one of them names would be lost, or answered for by nobody",
            remedy="give each partition of the run to one batch, or leave it untouched",
        )


def _materializations(asset_key: AssetKey, run_id: str, entries: Sequence[Entry]) -> list[AssetMaterialization]:
    return [
        AssetMaterialization(
            asset_key=asset_key,
            partition=entry.partition,
            metadata={**_partition_metadata(entry), "run": MetadataValue.dagster_run(run_id)},
            tags={DATA_VERSION_TAG: entry.data_version} if entry.data_version else None,
        )
        for entry in entries
    ]


def _summary(reports: Sequence[WriteReport], untouched: int) -> dict[str, MetadataValue]:
    """What several writes did together; each has an observation of its own."""
    totals = ("rows_inserted", "rows_updated", "rows_deleted", "rows_unchanged", "files_added", "bytes_added")
    shown: dict[str, MetadataValue] = {
        name: MetadataValue.int(sum(getattr(done, name) for done in reports)) for name in totals
    }
    return shown | {"writes": MetadataValue.int(len(reports)), "partitions_untouched": MetadataValue.int(untouched)}


def _metadata(done: WriteReport) -> dict[str, MetadataValue]:
    """The row of `writes`, for the UI."""
    row = done.as_row()
    names = [name for name in row if name.startswith(("rows_", "files_", "bytes_", "version_"))]
    shown: dict[str, MetadataValue] = {name: MetadataValue.int(row[name]) for name in names}
    shown |= {name: MetadataValue.text(row[name]) for name in ("strategy", "action", "executor", "executor_reason")}
    shown |= {f"seconds/{name}": MetadataValue.float(seconds) for name, seconds in done.seconds.items()}
    if done.owners is not None:
        shown["owners"] = MetadataValue.json(json.loads(done.owners))
        shown["owners_made"] = MetadataValue.int(done.owners_made or 0)
    if len(done.entries) == 1:
        return shown | _partition_metadata(done.entries[0])
    return shown | {"keys": MetadataValue.json(json.loads(row["keys"]))}


def _partition_metadata(entry: Entry) -> dict[str, MetadataValue]:
    """The key that a partition was made with, and its rows."""
    shown: dict[str, MetadataValue] = {
        "read_up_to": MetadataValue.text(entry.cursor),
        "data_version": MetadataValue.text(entry.data_version or "not known"),
        "table_version": MetadataValue.int(entry.table_version),
        "code_version": MetadataValue.text(entry.code_version),
        "settings_hash": MetadataValue.text(entry.settings_hash),
        "policy_hash": MetadataValue.text(entry.policy_hash),
        "input_versions": MetadataValue.json(json.loads(entry.input_versions)),
    }
    if entry.data_version is not None and _contract([entry.asset]).partition_by:
        shown["dagster/partition_row_count"] = MetadataValue.int(Content.from_version(entry.data_version).rows)
    return shown
