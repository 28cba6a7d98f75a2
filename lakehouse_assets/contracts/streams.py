"""What a project's YAML says of streams: where rows come from without end, and the table that they go to."""

from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.contracts.connections import Frozen
from lakehouse_assets.contracts.named_columns import NamedColumn
from lakehouse_assets.contracts.table import Column, TableContract, ViolationPolicy
from lakehouse_assets.core.errors import BadInputError
from lakehouse_assets.core.hashing import json_fingerprint


class StreamFiles(Frozen):
    """Files that turn up in a folder, whole; each is read once."""

    kind: Literal["files"]
    path: str
    format: Literal["json", "csv", "parquet"]
    options: dict[str, str] = Field(default_factory=dict)
    """Spark's own for the format, such as `header: 'true'`. What becomes of a line that does not fit is said
    by `violations`."""

    @field_validator("options")
    @classmethod
    def _without_mode(cls, value: dict[str, str]) -> dict[str, str]:
        if taken := [name for name in value if name.lower() in ("mode", "columnnameofcorruptrecord")]:
            raise ValueError(f"{taken[0]} is not an option here: `violations` says what becomes of a bad line")
        return value


class StreamTable(Frozen):
    """The change feed of a table of the lake: of the code graph, ingested, landed, or of another stream."""

    kind: Literal["table"]
    table: str


class StreamSpec(Frozen):
    """One stream. A stream of a table has that table's key, and its columns unless some of them are named."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]{0,62}$")
    source: Annotated[StreamFiles | StreamTable, Field(discriminator="kind")]
    key: tuple[str, ...] = ()
    columns: tuple[NamedColumn, ...] = ()
    newest_by: str | None = None
    """Of all rows of a key, whenever they come, the one with the highest value of this column counts; for files."""
    description: str = ""
    violations: ViolationPolicy = "fail"

    @field_validator("name")
    @classmethod
    def _free(cls, value: str) -> str:
        if value in CATALOG:
            raise ValueError(f"{value} is a table of the code graph; give another name")
        return value

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if isinstance(self.source, StreamFiles):
            if not self.columns or not all(each.type for each in self.columns):
                raise ValueError(
                    "a stream of files needs columns with types: they cannot be guessed from what is yet to come"
                )
            if not self.key:
                raise ValueError("a stream of files needs a key, by which its rows are told apart")
        elif self.newest_by:
            raise ValueError("newest_by goes with files: of a table's changes, the last one counts")
        names = [each.name for each in self.columns]
        for each in (*self.key, *([self.newest_by] if self.newest_by else [])):
            if names and each not in names:
                raise ValueError(f"{each} is not one of the columns {', '.join(names)}")
        return self

    @property
    def known_contract(self) -> TableContract | None:
        """The table that the stream fills; None if that depends on a table that only the lake knows."""
        match self.source:
            case StreamFiles():
                return self.contract_over(None)
            case StreamTable(table=table):
                return self.contract_over(CATALOG[table]) if table in CATALOG else None

    def contract_over(self, source: TableContract | None) -> TableContract:
        """The table that the stream fills from a table with this contract; from files there is none."""
        key = self.key or (source.key if source else ())
        known = {each.name: each for each in source.columns} if source else {}
        said = self.columns or tuple(NamedColumn(name=name) for name in known)
        if missing := [each.name for each in said if source and each.name not in known]:
            raise BadInputError(
                subject=f"stream {self.name}",
                seen=f"{source.name if source else ''} has no column {', '.join(missing)}; it has {', '.join(known)}",
                why="there would be nothing in it",
                remedy="name columns that the table has",
            )
        if left_out := [name for name in key if name not in [each.name for each in said]]:
            raise BadInputError(
                subject=f"stream {self.name}",
                seen=f"its columns leave out {', '.join(left_out)} of the key",
                why="its rows could not be told apart",
                remedy="name them as well",
            )
        columns = tuple(
            each.over(
                known.get(each.name)
                or Column(name=each.name, type=each.type or "string", description="As it came.", nullable=True),
                in_key=each.name in key,
            )
            for each in said
        )
        return TableContract(
            name=self.name,
            description=self.description or "Rows of a stream.",
            columns=columns,
            key=key,
            strategy="upsert",
            schema_policy="freeze" if self.columns else "evolve",
            violations=self.violations,
        )

    @property
    def settings_hash(self) -> str:
        return json_fingerprint(self.model_dump(mode="json", exclude={"description"}))
