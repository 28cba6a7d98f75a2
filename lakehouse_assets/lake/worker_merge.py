"""Workers' rows compared with what is there by workers, a slice at a time, and committed once by this process.

Cost: each slice's files and rows are read once, where there are cores; a line a slice comes back.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from lakehouse_assets.core.diagnostics import phase
from lakehouse_assets.core.hashing import json_text
from lakehouse_assets.lake.copy_on_write import committed
from lakehouse_assets.lake.data_files import partition_texts, partition_values, remove_marked
from lakehouse_assets.lake.merging import Merged, together
from lakehouse_assets.lake.outcome import Change, Note, Outcome, OwnerChange
from lakehouse_assets.lake.sliced import merged_slice, slice_numbers
from lakehouse_assets.lake.spark_errors import spark_errors
from lakehouse_assets.lake.table_files import TableFolder
from lakehouse_assets.plan.pruning import FileFacts
from lakehouse_assets.plan.row_hash import Content
from lakehouse_assets.plan.slices import Slice
from lakehouse_assets.plan.write_facts import WriteRequest
from lakehouse_assets.plan.write_plan import WritePlan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, kw_only=True)
class MergeTask:
    """Runs on a worker, as what `mapInArrow` calls: gets numbers of slices, gives a line of what became of each."""

    folder: TableFolder
    request: WriteRequest
    slices: tuple[Slice, ...]
    coming: tuple[FileFacts, ...]
    """The files of the batch."""

    def __call__(self, items: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in items:
            for number in batch.column("number").to_pylist():
                part = merged_slice(self.folder, self.request, self.slices[number], self._rows(number))
                yield pa.record_batch({"merged": pa.array([_to_wire(self.folder, part)], pa.string())})

    def _rows(self, number: int) -> pa.Table:
        each = self.slices[number]
        parts = [self.folder.schema.empty_table()]
        for file in self.coming:
            if self.folder.place(file) == each.place and _may_meet(file, each):
                rows = self.folder.read(file)
                numbers = pa.array(slice_numbers(self.folder.contract, self.slices, rows))
                parts.append(rows.filter(pc.equal(numbers, number)))  # pyright: ignore[reportAttributeAccessIssue]
        return pa.concat_tables(parts)


def execute_slices(
    spark: "SparkSession",
    table: DeltaTable,
    folder: TableFolder,
    plan: WritePlan,
    coming: Sequence[FileFacts],
    note: Note,
) -> Outcome | None:
    """Carry out a merge in slices; None, with nothing left behind, if a slice cannot be told by hashes."""
    mark = uuid4().hex[:12]
    task = MergeTask(folder=replace(folder, mark=mark), request=plan.request, slices=plan.slices, coming=tuple(coming))
    numbers = spark.createDataFrame(pa.table({"number": list(range(len(plan.slices)))}))
    items = numbers.repartitionByRange(len(plan.slices), "number")
    parts: list[Merged] = []
    try:
        with phase("workers", plan.table, "merge"), spark_errors(f"table {plan.table}"):
            told = items.mapInArrow(task.__call__, "merged string").toArrow()["merged"].to_pylist()
        parts = [part for text in told if (part := _from_wire(folder, text)) is not None]
    finally:
        if len(parts) < len(plan.slices):
            remove_marked(folder.path, mark)
    if len(parts) < len(plan.slices):
        return None
    done = together(parts)
    return committed(table, folder, plan, done.actions, done.outcome, note) if done.actions else done.outcome


def _may_meet(file: FileFacts, each: Slice) -> bool:
    if file.owner_min is None or file.owner_max is None:
        return True
    return (each.low is None or file.owner_max >= each.low) and (each.high is None or file.owner_min < each.high)


def _to_wire(folder: TableFolder, part: Merged | None) -> str:
    if part is None:
        return json_text(None)
    done = part.outcome
    changes = [
        {
            "place": partition_texts(folder.contract, place),
            "added": change.added.version,
            "removed": change.removed.version,
            "updated": change.updated,
        }
        for place, change in done.changes.items()
    ]
    counts = {name: getattr(done, name) for name in ("inserted", "updated", "deleted", "unchanged")}
    owners = [asdict(each) for each in done.owners]
    return json_text({"actions": part.actions, "counts": counts, "changes": changes, "owners": owners})


def _from_wire(folder: TableFolder, text: str) -> Merged | None:
    told: dict[str, Any] | None = json.loads(text)
    if told is None:
        return None
    changes = {
        partition_values(folder.contract, each["place"]): Change(
            added=Content.from_version(each["added"]),
            removed=Content.from_version(each["removed"]),
            updated=each["updated"],
        )
        for each in told["changes"]
    }
    owners = tuple(OwnerChange(**each) for each in told["owners"])
    return Merged(actions=tuple(told["actions"]), outcome=Outcome(**told["counts"], changes=changes, owners=owners))
