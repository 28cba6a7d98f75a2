"""Rows that Spark's workers make: checked where they are made, written by Spark in the same pass.

Nothing of them is known before they are written; afterwards Spark tells what the workers have observed of them.
"""

import json
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa

from lakehouse_assets.contracts.schemas import spark_schema
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.lake.batch import WorkerRows
from lakehouse_assets.lake.checked_task import TOLD, CheckingTask, FittingTask, answered_for
from lakehouse_assets.lake.data_files import contents_of
from lakehouse_assets.lake.outcome import PartitionValues
from lakehouse_assets.lake.staging import Staged
from lakehouse_assets.plan.row_hash import Content
from lakehouse_assets.plan.write_facts import BatchFacts, WriteRequest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation, SparkSession


_SLICES_A_CORE = 4
"""Files differ in size by orders: with a slice a core, most cores would wait for the last one."""


class CheckedStage(Staged):
    """Rows still to be made. `contents` tells of those that have passed; asked before, it would wait for ever."""

    def __init__(self, rows: WorkerRows, contract: TableContract, request: WriteRequest) -> None:
        check_owned(contract)
        self.facts = BatchFacts(columns={each.name: each.type for each in contract.columns}, rows=None)
        self._contract = contract
        self._rows = rows
        self._task = CheckingTask(contract=contract, produce=rows.produce, request=request)
        self._observation: Observation | None = None

    @cached_property
    def _checked(self) -> "DataFrame":
        schema = f"{spark_schema(self._contract.columns).toDDL()}, {TOLD} STRING"
        return in_order(self._rows.items, self._contract).mapInArrow(self._task.__call__, schema)

    def frame(self, spark: "SparkSession") -> "DataFrame":
        return self._checked.drop(TOLD)

    def passing(self, spark: "SparkSession") -> "DataFrame":
        from pyspark.sql import Observation, functions

        observation = self._observation = Observation()
        return self._checked.observe(observation, functions.collect_list(TOLD).alias(TOLD)).drop(TOLD)

    def contents(self, contract: TableContract) -> dict[PartitionValues, Content]:
        assert self._observation is not None
        texts = self._observation.get[TOLD]
        return contents_of(contract, (each for text in texts for each in json.loads(text)))

    def arrow(self, columns: Sequence[str]) -> pa.Table:
        return self._checked.select(*columns).toArrow()


def check_owned(contract: TableContract) -> None:
    """Refuse a contract by which a task could not answer for its keys, and they are not told one by one either."""
    if contract.owner is not None and contract.owner not in contract.key:
        raise BadInputError(
            subject=f"write to {contract.name}",
            seen=f"workers make its rows, but its owner ({contract.owner}) is not part of its key",
            why="two of them could give the same key, and neither would notice",
            remedy="give the contract an owner that is part of its key, or hand the rows over as a frame",
        )


def as_frame(rows: WorkerRows, contract: TableContract) -> "DataFrame":
    """The rows as a frame, for the ways on which they are not written where they are made."""
    task = FittingTask(contract=contract, produce=rows.produce)
    return in_order(rows.items, contract).mapInArrow(task.__call__, spark_schema(contract.columns))


def in_order(work: "DataFrame", contract: TableContract) -> "DataFrame":
    """The work dealt by who answers for its rows, and in their order, so that later writes pass over most files."""
    order = answered_for(contract)
    missing = [name for name in order if name not in work.columns]
    if missing:
        raise BadInputError(
            subject=f"write to {contract.name}",
            seen=f"the work items lack {', '.join(missing)}",
            why="without them two tasks could give the same key, and neither would notice",
            remedy=f"give each work item the columns {', '.join(order)}",
        )
    cores = int(work.sparkSession.conf.get("spark.sql.shuffle.partitions") or 1)
    return work.repartitionByRange(cores * _SLICES_A_CORE, *order).sortWithinPartitions(*order)
