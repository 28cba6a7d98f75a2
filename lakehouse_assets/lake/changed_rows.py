"""Which rows of a batch differ from the table's, and what writing them changes.

The rows that the batch could change are read once, pruned by partition and owner, and compared null-safe by DuckDB.
"""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable, QueryBuilder

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.contents import contents_by_partition
from lakehouse_assets.lake.local_sql import local_sql
from lakehouse_assets.lake.outcome import Change, Outcome, OwnerChange, PartitionValues, biggest
from lakehouse_assets.lake.rows import conform
from lakehouse_assets.plan.sql_text import column, in_list, null_safe_equal
from lakehouse_assets.plan.statements import target_predicate
from lakehouse_assets.plan.write_facts import WriteRequest, deletes_missing, needs_keys_only

OPERATION = "lakehouse_operation"
_BEFORE = "lakehouse_before_"
_LISTED_KEYS = 5_000
"""Up to so many keys are asked for by name where only keys matter; beyond, all keys of the partitions are read."""


def affected(
    table: DeltaTable, contract: TableContract, request: WriteRequest, batch: pa.Table, *, counted: bool
) -> pa.Table:
    """The rows of the table that the batch could change; their keys alone where these tell all that is asked."""
    where = target_predicate(contract, request, "datafusion")
    names = [each.name for each in contract.stored_columns]
    if request.strategy == "append_new" or (needs_keys_only(request) and not counted):
        names = list(contract.key)
        if len(names) == 1 and batch.num_rows <= _LISTED_KEYS and contract.column(names[0]).type != "double":
            where += " AND " + in_list(column(names[0], "datafusion"), batch[names[0]].to_pylist(), "datafusion")
    listed = ", ".join(column(name, "datafusion") for name in names)
    reader = QueryBuilder().register("t", table).execute(f"SELECT {listed} FROM t WHERE {where}")
    return conform(pa.table(reader.read_all()), [contract.column(name) for name in names])


def compare(
    contract: TableContract, request: WriteRequest, batch: pa.Table, target: pa.Table, *, counted: bool
) -> tuple[pa.Table, Outcome]:
    """The rows to write, each with its operation and with what the table has in its place, and what they change.

    `counted` asks for the contents of partitions too; without, a deletion needs no more of its rows than their keys.
    """
    with local_sql() as connection:
        connection.register("s", batch)
        connection.register("t", target)
        query = _changed_sql(contract, request, batch.column_names, target.column_names)
        changed = connection.sql(query).to_arrow_table()
    return changed, _outcome(contract, request, changed, batch.num_rows, counted=counted)


def _changed_sql(contract: TableContract, request: WriteRequest, names: list[str], held: list[str]) -> str:
    key = " AND ".join(f"{_duck(name, 's')} = {_duck(name, 't')}" for name in contract.key)
    own = [name for name in contract.column_names if name not in contract.key]
    same = " AND ".join(null_safe_equal(_duck(name, "s"), _duck(name, "t"), "duckdb") for name in own) or "TRUE"
    if request.strategy == "append_new":
        return f"SELECT s.*, 'insert' AS {OPERATION} FROM s ANTI JOIN t ON {key}"
    before = ", ".join(f"{_duck(name, 't')} AS {_duck(_BEFORE + name)}" for name in held)
    if request.strategy == "delete_matching":
        return f"SELECT s.*, {before}, 'delete' AS {OPERATION} FROM s JOIN t ON {key}"
    listed = ", ".join(
        f"coalesce({_duck(name, 's')}, {_duck(name, 't')}) AS {_duck(name)}"
        if name in contract.key
        else _duck(name, "s")
        for name in names
    )
    first = contract.key[0]
    operation = (
        f"CASE WHEN {_duck(first, 't')} IS NULL THEN 'insert' WHEN {_duck(first, 's')} IS NULL THEN 'delete' "
        f"WHEN NOT ({same}) THEN 'update' END"
    )
    join = "FULL JOIN" if deletes_missing(request) else "LEFT JOIN"
    query = f"SELECT {listed}, {before}, {operation} AS {OPERATION} FROM s {join} t ON {key}"
    return f"FROM ({query}) WHERE {OPERATION} IS NOT NULL"


def _duck(name: str, of: str = "") -> str:
    return column(name, "duckdb", of=of)


def _outcome(contract: TableContract, request: WriteRequest, changed: pa.Table, rows: int, *, counted: bool) -> Outcome:
    counts = {"insert": 0, "update": 0, "delete": 0}
    changes: dict[PartitionValues, Change] = {}
    came: list[pa.Table] = []
    went: list[pa.Table] = []
    for operation in counts:
        here = changed.filter(pc.field(OPERATION) == operation)
        counts[operation] = here.num_rows
        if here.num_rows and operation != "delete":
            came.append(here.select(list(contract.column_names)))
            for place, content in contents_by_partition(contract, came[-1]).items():
                change = Change(added=content, updated=content.rows if operation == "update" else 0)
                changes[place] = changes.get(place, Change()).plus(change)
        if here.num_rows and operation != "insert" and (counted or operation == "update"):
            before = here.select([_BEFORE + name for name in contract.column_names])
            went.append(before.rename_columns(list(contract.column_names)))
            for place, content in contents_by_partition(contract, went[-1]).items():
                changes[place] = changes.get(place, Change()).plus(Change(removed=content))
    moved = counts["insert"] + counts["update"]
    return Outcome(
        inserted=counts["insert"],
        updated=counts["update"],
        deleted=counts["delete"],
        unchanged=0 if request.strategy == "delete_matching" else rows - moved,
        changes=changes,
        owners=biggest(_owners(contract, came, went)),
    )


def _owners(contract: TableContract, came: list[pa.Table], went: list[pa.Table]) -> Iterator[OwnerChange]:
    """How many rows of each owner came and went."""
    if contract.owner is None or not contract.partition_by:
        return
    by = [contract.partition_by[0], contract.owner]
    counts: dict[tuple[str, str], list[int]] = {}
    for which, tables in enumerate((came, went)):
        for rows in tables:
            counted = rows.select(by).group_by(by).aggregate([([], "count_all")])
            for partition, owner, number in zip(*(each.to_pylist() for each in counted.columns), strict=True):
                counts.setdefault((str(partition), str(owner)), [0, 0])[which] += number
    for (partition, owner), (added, removed) in counts.items():
        yield OwnerChange(partition=partition, owner=owner, added=added, removed=removed)
