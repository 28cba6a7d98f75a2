"""What partitions hold: by the ledger if it knows, else counted, row by row."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.lake.ledger import Entry
from lakehouse_assets.lake.outcome import PartitionValues
from lakehouse_assets.plan.row_hash import NO_CONTENT, Content, content_of, content_of_hashes, row_hashes
from lakehouse_assets.plan.scope import Scope, scope_predicate
from lakehouse_assets.plan.sql_text import column
from lakehouse_assets.plan.write_plan import WritePlan

Places = dict[PartitionValues, slice | npt.NDArray[np.intp]]
"""Which rows are of which partition."""


def current_content(table: DeltaTable, contract: TableContract, scope: Scope, entry: Entry | None) -> Content:
    """What a partition that has files holds."""
    if entry is not None and entry.data_version is not None and "-" in entry.data_version and entry.cursor:
        return Content.from_version(entry.data_version)
    return counted_content(table, contract, scope)


def counted_content(table: DeltaTable, contract: TableContract, scope: Scope) -> Content:
    """Read the partition's rows and add up their hashes; says so, because it scans the partition."""
    present = {field.name for field in table.schema().fields}
    columns = [each for each in contract.columns if each.name in present]
    listed = ", ".join(column(each.name, "datafusion") for each in columns)
    where = scope_predicate((scope,), "datafusion") if scope else "TRUE"
    content = NO_CONTENT
    for batch in QueryBuilder().register("t", table).execute(f"SELECT {listed} FROM t WHERE {where}"):
        rows = pa.record_batch(batch)
        content = content.plus(content_of(columns, [rows.column(each.name) for each in columns]))
    report("contents", contract.name, "counted a partition, for its content was not known", rows=content.rows)
    return content


def replaced_rows(table: DeltaTable, plan: WritePlan) -> int:
    """How many rows a replacement deletes: by the log, or counted where a file has no statistics."""
    if plan.pruning.touched_rows is not None:
        return plan.pruning.touched_rows
    where = scope_predicate(plan.request.scopes, "datafusion")
    reader = QueryBuilder().register("t", table).execute(f"SELECT count(*) AS n FROM t WHERE {where}")
    return pa.table(reader.read_all())["n"].to_pylist()[0]


def contents_by_partition(contract: TableContract, rows: pa.Table) -> dict[PartitionValues, Content]:
    """Content by partition. Audit columns are not content: they tell of the write."""
    if not rows.num_rows:
        return {}
    hashes = row_hashes(contract.columns, [rows[each.name] for each in contract.columns])
    return {place: content_of_hashes(hashes[chosen]) for place, chosen in places(contract, rows).items()}


def places(contract: TableContract, rows: pa.Table) -> Places:
    """The rows by partition, in their order; a slice where all are of one."""
    numbers = np.zeros(rows.num_rows, dtype=np.int64)
    held: list[PartitionValues] = [()]
    for name in contract.partition_by:
        encoded = rows[name].combine_chunks().dictionary_encode(null_encoding="encode")
        values = encoded.dictionary.to_pylist()
        numbers = numbers * len(values) + np.asarray(encoded.indices)
        held = [(*before, value) for before in held for value in values]
    if len(held) == 1:
        return {held[0]: slice(None)}
    order = np.argsort(numbers, kind="stable")
    present, starts = np.unique(numbers[order], return_index=True)
    return {held[number]: part for number, part in zip(present, np.split(order, starts[1:]), strict=True)}
