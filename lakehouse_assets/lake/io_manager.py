"""The one IO manager: it reads and writes every asset's table, and holds no dataset's name."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dagster import (
    ConfigurableIOManager,
    InputContext,
    MetadataValue,
    OutputContext,
    TableColumn,
    TableColumnConstraints,
    TableConstraints,
    TableRecord,
    TableSchema,
)

from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.diagnostics import collecting, report, seconds_by_phase
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.ledger import new_entry
from lakehouse_assets.lake.resources import LakehouseResource, SparkResource
from lakehouse_assets.lake.write import WriteReport, partition_predicate, write

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

COLUMNS = "columns"
"""Input metadata: the columns that a consumer reads; without it, all of them."""


class DeltaIOManager(ConfigurableIOManager):
    """Tables of the lake as Spark frames: only the partitions of the run, only the columns asked for."""

    lakehouse: LakehouseResource
    spark: SparkResource

    def handle_output(self, context: OutputContext, obj: Batch) -> None:
        contract = _contract(context.asset_key.path)
        entries = [new_entry(key, run_id=context.run_id) for key in obj.keys]
        with collecting() as diagnostics:
            result = write(self.lakehouse.lake, contract, obj.frame, entries)
        report("write", contract.name, "written", rows=result.rows_written, seconds=result.seconds)
        context.add_output_metadata(_metadata(obj, result, seconds_by_phase(diagnostics)))

    def load_input(self, context: InputContext) -> "DataFrame":
        contract = _contract(context.asset_key.path)
        columns = (context.definition_metadata or {}).get(COLUMNS, contract.column_names)
        table = self.lakehouse.lake.path(contract)
        frame = self.spark.spark_session.read.format("delta").load(str(table)).select(*columns)
        if contract.partition_by and context.has_asset_partitions:
            frame = frame.where(partition_predicate(contract, context.asset_partition_keys))
        return frame


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


def _metadata(batch: Batch, result: WriteReport, phases: dict[str, float]) -> dict[str, MetadataValue]:
    return {
        "rows_written": MetadataValue.int(result.rows_written),
        "files_added": MetadataValue.int(result.files_added),
        "files_removed": MetadataValue.int(result.files_removed),
        "bytes_added": MetadataValue.int(result.bytes_added),
        "table_version": MetadataValue.int(result.table_version),
        "seconds": MetadataValue.float(result.seconds),
        "partitions": MetadataValue.table(
            records=[
                TableRecord({"repo": key.partition, "commit": key.cursor, "settings": key.settings_hash})
                for key in batch.keys
            ]
        ),
        **{f"seconds/{name}": MetadataValue.float(seconds) for name, seconds in phases.items()},
    }
