"""The words of a contract: columns and tables."""

from dataclasses import dataclass
from typing import Literal

from lakehouse_assets.core.hashing import json_fingerprint

ColumnType = Literal["string", "int", "bigint", "double", "boolean", "date", "timestamp", "array<string>", "binary"]
"""`binary` is for payloads that only their writer reads, such as packed columns: never a key, never pruned by."""

Strategy = Literal["upsert", "replace_partitions", "append_new", "delete_matching"]
"""How a batch changes a table: `upsert` by key, rows that are gone from what the batch covers being deleted;
`replace_partitions` as a whole; `append_new` adds rows with new keys; `delete_matching` deletes the batch's keys."""

SchemaPolicy = Literal["evolve", "freeze", "discard"]
"""What happens to a column that a batch has and the contract has not: added to the table, refused, or left out."""

ViolationPolicy = Literal["fail", "quarantine"]
"""What happens to rows that break the contract: the write is refused, or they go to `quarantine` with the reason."""


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column; `one_of` lists the only values it may have, `sensitive` keeps them out of logs and samples, `number`
    says that its text is that of a number which no type of the lake holds."""

    name: str
    type: ColumnType
    description: str
    nullable: bool = False
    one_of: tuple[str, ...] = ()
    sensitive: bool = False
    number: bool = False


AUDIT_COLUMNS = (
    Column(name="written_at", type="timestamp", description="When the row was last written."),
    Column(name="written_by", type="string", description="Run that last wrote the row."),
)


@dataclass(frozen=True, kw_only=True)
class TableContract:
    """What a table promises. `owner` names the column whose value owns a row: rows live and die with their owner."""

    name: str
    description: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    strategy: Strategy
    owner: str | None = None
    partition_by: tuple[str, ...] = ()
    schema_policy: SchemaPolicy = "freeze"
    violations: ViolationPolicy = "fail"
    audited: bool = False
    """Whether rows carry when and by which run they were last written."""
    without_statistics: tuple[str, ...] = ()
    """Columns whose minimum and maximum would bloat the log and prune nothing (source text, messages)."""

    def __post_init__(self) -> None:
        names = [column.name for column in self.columns]
        if len(set(names)) != len(names):
            raise ValueError(f"contract {self.name}: a column is named twice in {names}")
        for role in (*self.key, *self.partition_by, *self.without_statistics, *filter(None, [self.owner])):
            if role not in names:
                raise ValueError(f"contract {self.name}: {role} is not one of its columns {names}")
        for name in (*self.key, *self.partition_by):
            if self.column(name).nullable:
                raise ValueError(f"contract {self.name}: {name} identifies rows, so it cannot be nullable")
        for name in (*self.key, *self.partition_by, *filter(None, [self.owner])):
            if self.column(name).type == "binary":
                raise ValueError(f"contract {self.name}: {name} is binary, by which rows are not told apart or found")
        if not self.key:
            raise ValueError(f"contract {self.name}: a table without a key cannot be kept free of duplicates")

    def column(self, name: str) -> Column:
        return next(column for column in self.stored_columns if column.name == name)

    @property
    def column_names(self) -> tuple[str, ...]:
        """The columns that a batch brings."""
        return tuple(column.name for column in self.columns)

    @property
    def stored_columns(self) -> tuple[Column, ...]:
        """The columns that the table has: the batch's, and those that the write adds."""
        return (*self.columns, *AUDIT_COLUMNS) if self.audited else self.columns

    @property
    def sensitive_columns(self) -> frozenset[str]:
        """Those whose values are in the table and nowhere else."""
        return frozenset(column.name for column in self.columns if column.sensitive)

    @property
    def number_columns(self) -> frozenset[str]:
        """Those whose text is that of a number."""
        return frozenset(column.name for column in self.columns if column.number)

    @property
    def policy_hash(self) -> str:
        """Fingerprint of the policies that decide what a write keeps."""
        return json_fingerprint([self.strategy, self.schema_policy, self.violations, self.audited])

    @property
    def version(self) -> str:
        """Fingerprint of what shapes the table's rows; descriptions don't."""
        return json_fingerprint(
            {
                "columns": [[c.name, c.type, c.nullable, list(c.one_of)] for c in self.columns],
                "key": self.key,
                "owner": self.owner,
                "partition_by": self.partition_by,
            }
        )


REPO = Column(name="repo", type="string", description="Name under which the repository is registered.")
PATH = Column(name="path", type="string", description="File that the row belongs to, from the root of its repository.")
MONTH = Column(name="month", type="date", description="First day of the month, in UTC, that the commits were made in.")
