"""The state of a table as planning wants it: version, columns, and what the log says of each file."""

from typing import Any

import pyarrow as pa
from deltalake import DeltaTable
from deltalake.schema import ArrayType, PrimitiveType

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.plan.pruning import FileFacts
from lakehouse_assets.plan.write_facts import TableFacts

_DELTA_RS_HAS = {"appendOnly", "invariants", "checkConstraints", "changeDataFeed", "timestampNtz"}
_NAMES = {"integer": "int", "long": "bigint"}


def table_facts(table: DeltaTable, contract: TableContract) -> TableFacts:
    """Facts of an open table; reads no data file."""
    columns = {field.name: type_name(field.type) for field in table.schema().fields}
    return TableFacts(
        version=table.version(),
        columns=columns,
        files=_files(table, contract),
        beyond_delta_rs=beyond_delta_rs(table),
    )


def beyond_delta_rs(table: DeltaTable) -> tuple[str, ...]:
    """Features that the table asks of its writers and delta-rs has not."""
    asked = set(table.protocol().writer_features or ())
    configuration = table.metadata().configuration
    if configuration.get("delta.columnMapping.mode", "none") != "none":
        asked.add("columnMapping")
    return tuple(sorted(asked - _DELTA_RS_HAS))


def _files(table: DeltaTable, contract: TableContract) -> tuple[FileFacts, ...]:
    actions = pa.table(table.get_add_actions(flatten=True))
    names = set(actions.column_names)

    def values(name: str) -> list[Any]:
        return actions[name].to_pylist() if name in names else [None] * actions.num_rows

    partitions = {column: values(f"partition.{column}") for column in contract.partition_by}
    owner_min = values(f"min.{contract.owner}") if contract.owner else [None] * actions.num_rows
    owner_max = values(f"max.{contract.owner}") if contract.owner else [None] * actions.num_rows
    return tuple(
        FileFacts(
            path=path,
            size=size,
            rows=rows,
            partition={column: held[i] for column, held in partitions.items()},
            owner_min=owner_min[i],
            owner_max=owner_max[i],
        )
        for i, (path, size, rows) in enumerate(
            zip(values("path"), values("size_bytes"), values("num_records"), strict=True)
        )
    )


def type_name(kind: Any) -> str:
    match kind:
        case PrimitiveType():
            return _NAMES.get(kind.type, kind.type)
        case ArrayType():
            return f"array<{type_name(kind.element_type)}>"
        case _:
            return str(kind)
