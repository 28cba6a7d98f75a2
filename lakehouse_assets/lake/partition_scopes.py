"""Dagster's partitions as scopes of a table: by key, by time window, by several dimensions."""

from collections.abc import Mapping
from datetime import UTC, date, datetime

from dagster import (
    InputContext,
    MultiPartitionKey,
    MultiPartitionsDefinition,
    OutputContext,
    PartitionsDefinition,
    TimeWindowPartitionsDefinition,
)

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.plan.scope import Condition, Equals, Scope, Window
from lakehouse_assets.plan.sql_text import Value


def run_partitions(context: OutputContext | InputContext, contract: TableContract) -> Mapping[str, Scope]:
    """The run's partitions of an asset, each with its scope. An asset without partitions is one, without a name."""
    if not context.has_asset_partitions:
        return {"": ()}
    definition = context.asset_partitions_def
    return {key: partition_scope(contract, definition, key) for key in context.asset_partition_keys}


def partition_scope(contract: TableContract, definition: PartitionsDefinition, key: str) -> Scope:
    """The rows that a partition key stands for. Dimensions are named as the columns they partition by."""
    if not contract.partition_by:
        return ()
    if isinstance(definition, MultiPartitionsDefinition):
        dimensions = definition.get_partition_key_from_str(key).keys_by_dimension
        parts = {dimension.name: dimension.partitions_def for dimension in definition.partitions_defs}
        unnamed = [name for name in contract.partition_by if name not in dimensions]
        if unnamed:
            raise BadInputError(
                subject=f"partition {key!r} of {contract.name}",
                seen=f"its dimensions are {', '.join(dimensions)}, the table's also {', '.join(unnamed)}",
                why="a write could not be held to its partition",
                remedy="name the dimensions as the columns of the contract",
            )
        return tuple(_condition(contract, parts[name], name, dimensions[name]) for name in contract.partition_by)
    (name,) = contract.partition_by
    return (_condition(contract, definition, name, key),)


def _condition(contract: TableContract, definition: PartitionsDefinition, name: str, key: str) -> Condition:
    if isinstance(definition, TimeWindowPartitionsDefinition):
        window = definition.time_window_for_partition_key(key)
        start, end = window.start.astimezone(UTC), window.end.astimezone(UTC)
        if contract.column(name).type == "date":
            return Window(column=name, start=start.date(), end=end.date())
        return Window(column=name, start=start, end=end)
    return Equals(column=name, value=_value(contract, name, key))


def _value(contract: TableContract, name: str, key: str) -> Value:
    """The key in the type of its column: a number stays a number, so that it prunes and compares as one."""
    match contract.column(name).type:
        case "int" | "bigint":
            return int(key)
        case "boolean":
            return key == "true"
        case "date":
            return date.fromisoformat(key)
        case "timestamp":
            return datetime.fromisoformat(key).astimezone(UTC)
        case _:
            return str(key) if isinstance(key, MultiPartitionKey) else key
