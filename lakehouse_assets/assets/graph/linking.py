"""The assets that linking makes together: where imports, calls, bases and references of each file lead.

Invariant: the tables tell of one state of the repository. They are one step; if a kill came between them, their
positions differ, and the repository is linked anew as a whole.
"""

from collections.abc import Iterator

from dagster import AssetExecutionContext, AssetOut, BackfillPolicy, Output, multi_asset

from lakehouse_assets.assets.derivations import work_of
from lakehouse_assets.assets.graph.derivation_list import LINKED, derivation
from lakehouse_assets.assets.options import table_metadata
from lakehouse_assets.assets.partitions import REPOSITORY_PARTITIONS
from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.batches import Batches
from lakehouse_assets.lake.resources import LakehouseResource


@multi_asset(
    name="linking",
    outs={
        contract.name: AssetOut(
            description=contract.description,
            io_manager_key="delta",
            group_name="graph",
            kinds={"python", "spark", "deltalake"},
            code_version=derivation(contract).code_version,
            metadata=table_metadata(contract),
        )
        for contract in LINKED
    },
    deps=["extracts"],
    partitions_def=REPOSITORY_PARTITIONS,
    backfill_policy=BackfillPolicy.single_run(),
)
def linking(context: AssetExecutionContext, lakehouse: LakehouseResource) -> Iterator[Output[Batches]]:
    for contract in LINKED:
        work, untouched = work_of(lakehouse, derivation(contract), context.partition_keys)
        b = tuple(
            Batch(rows=arrow_schema(contract.columns).empty_table(), keys=(w.key,), owners=w.owners) for w in work
        )
        yield Output(Batches(batches=b, untouched=untouched), output_name=contract.name)
