"""Which columns a write brings, by contract, batch and table, and what does not fit together.

Invariant: a row is written with every column that its table has. A column that the batch lacks is NULL, also one
that the contract lost, so that a table that grew by writes holds what a table built at once would hold.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from lakehouse_assets.contracts.table import AUDIT_COLUMNS, Column, ColumnType, TableContract
from lakehouse_assets.core.errors import BadInputError

NamedType = tuple[str, ColumnType]


@dataclass(frozen=True, kw_only=True)
class Alignment:
    """What is written, what the table has to get first, and what is in neither of the contract's columns."""

    columns: tuple[str, ...]
    added: tuple[NamedType, ...]
    beyond: tuple[NamedType, ...]


def check_batch_columns(contract: TableContract, columns: Mapping[str, str], *, keys_only: bool = False) -> None:
    """Refuse a batch that lacks columns, has them in another type, or has unknown ones where that is not allowed.

    `keys_only` is of batches that say which rows to delete: they need no more than their keys.
    """
    needed = contract.key if keys_only else [each.name for each in contract.columns if not each.nullable]
    gone = [name for name in needed if name not in columns]
    if gone:
        raise _unfit(contract, f"the batch lacks {', '.join(gone)}", "bring every column that may not be NULL")
    wrong = [
        f"{each.name} is {columns[each.name]} instead of {each.type}"
        for each in contract.columns
        if columns.get(each.name, each.type) != each.type
    ]
    if wrong:
        raise _unfit(contract, "; ".join(wrong), "convert it, or give the column another name")
    unknown = [name for name in columns if name not in contract.column_names]
    if unknown and contract.schema_policy == "freeze":
        raise _unfit(
            contract,
            f"the batch has {', '.join(unknown)}, which the contract has not",
            "leave them out, add them to the contract, or give it the policy evolve or discard",
        )


def align(
    contract: TableContract, batch: Mapping[str, str], table: Mapping[str, str], *, keys_only: bool = False
) -> Alignment:
    check_batch_columns(contract, batch, keys_only=keys_only)
    new = new_columns(contract, batch)
    wrong = [
        f"{name} is {table[name]} in the table instead of {kind}"
        for name, kind in (*((each.name, each.type) for each in contract.stored_columns), *new)
        if table.get(name, kind) != kind
    ]
    if wrong:
        raise _unfit(
            contract,
            "; ".join(wrong),
            "convert it, give the column another name, or move the table's folder away: the next run makes it anew",
        )
    lacking: list[NamedType] = [(each.name, each.type) for each in contract.stored_columns if each.name not in table]
    if lacking and contract.schema_policy == "freeze":
        raise _unfit(
            contract,
            f"the table lacks {', '.join(name for name, _ in lacking)}, which the contract has",
            "give the contract the policy evolve for one write, or build the table anew",
        )
    known = {*contract.column_names, *(each.name for each in AUDIT_COLUMNS), *(name for name, _ in new)}
    lapsed: list[NamedType] = [
        (name, known_type(contract, name, kind)) for name, kind in table.items() if name not in known
    ]
    beyond = (*new, *lapsed)
    return Alignment(
        columns=(*contract.column_names, *(name for name, _ in beyond)),
        added=(*lacking, *(pair for pair in new if pair[0] not in table)),
        beyond=beyond,
    )


def new_column(name: str, kind: ColumnType) -> Column:
    return Column(name=name, type=kind, nullable=True, description="Came with a batch.")


def new_columns(contract: TableContract, columns: Mapping[str, str]) -> tuple[NamedType, ...]:
    """Columns of a batch that the contract has not and that its policy takes in."""
    if contract.schema_policy != "evolve":
        return ()
    return tuple(
        (name, known_type(contract, name, kind)) for name, kind in columns.items() if name not in contract.column_names
    )


def known_type(contract: TableContract, name: str, kind: str) -> ColumnType:
    match kind:
        case "string" | "int" | "bigint" | "double" | "boolean" | "date" | "timestamp" | "array<string>" | "binary":
            return kind
        case _:
            raise _unfit(contract, f"the new column {name} is {kind}", "convert it to a type that contracts have")


def _unfit(contract: TableContract, seen: str, remedy: str) -> BadInputError:
    return BadInputError(
        subject=f"write to {contract.name}",
        seen=seen,
        why="nothing was written, because those who read the table rely on its columns",
        remedy=remedy,
    )
