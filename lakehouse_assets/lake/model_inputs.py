"""The tables of an environment as relations: each name as the table, the version and the rows that it stands for."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.errors import LakeStateError
from lakehouse_assets.lake.model_tables import stored_contract
from lakehouse_assets.lake.rows import type_name
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.models.environment import Members
from lakehouse_assets.models.meaning import Meaning


@dataclass(frozen=True, kw_only=True)
class Stored:
    """Rows of a table at a version of its log; the newest where there is none."""

    contract: TableContract
    version: int | None
    apart: Mapping[str, int] = field(default_factory=dict[str, int])
    """Repositories whose rows are those of another version; -1 for none."""

    @property
    def types(self) -> dict[str, str]:
        return {each.name: each.type for each in self.contract.stored_columns}


@dataclass(frozen=True, kw_only=True)
class Viewed:
    """Rows of a view: its query, over relations that come before it."""

    meaning: Meaning

    @property
    def types(self) -> dict[str, str]:
        return dict(self.meaning.types)


@dataclass(frozen=True, kw_only=True)
class Given:
    """Rows that were handed over, as by a test."""

    rows: pa.Table

    @property
    def types(self) -> dict[str, str]:
        return {each.name: type_name(each.type) for each in self.rows.schema}


Relation = Stored | Viewed | Given
Relations = Mapping[str, Relation]
"""By name, each after those it is made of."""


def relations_of(
    lake: Lake, members: Members, meanings: Mapping[str, Meaning], tables: Mapping[str, TableContract]
) -> Relations:
    """What every name of an environment stands for."""
    found: dict[str, Relation] = {}
    for name, member in members.items():
        if member.kind == "source" and name in tables:
            found[name] = Stored(contract=tables[name], version=member.table_version, apart=member.apart)
    for name, meaning in meanings.items():
        if name not in members:
            continue
        if members[name].kind == "view":
            found[name] = Viewed(meaning=meaning)
            continue
        contract = stored_contract(lake, meaning)
        if contract is None:
            raise LakeStateError(
                subject=f"model {name}",
                seen=f"its table {meaning.table} is gone",
                why="an environment maps the model to it",
                remedy="apply the environment again, which builds it anew",
            )
        found[name] = Stored(contract=contract, version=members[name].table_version)
    return found


def needed(relations: Relations, names: tuple[str, ...], tables: Mapping[str, TableContract]) -> Relations:
    """The named relations and those that views among them are made of; a table that nothing has made has no rows."""
    chosen: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in chosen:
            chosen.add(name)
            each = relations.get(name)
            waiting += each.meaning.inputs if isinstance(each, Viewed) else ()
    empty = {name: Stored(contract=tables[name], version=None) for name in sorted(chosen) if name not in relations}
    return empty | {name: each for name, each in relations.items() if name in chosen}
