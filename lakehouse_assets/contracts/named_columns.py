"""Columns that a project's YAML names: what it says of them, laid over what is known of the table they come from."""

from lakehouse_assets.contracts.connections import Frozen
from lakehouse_assets.contracts.table import Column, ColumnType


class NamedColumn(Frozen):
    """What is said of a column; its type is that of where it comes from unless it is given."""

    name: str
    type: ColumnType | None = None
    description: str = ""
    nullable: bool = True
    sensitive: bool = False

    def over(self, known: Column, *, in_key: bool) -> Column:
        """The column as the table has it. What is sensitive where it comes from stays so."""
        return Column(
            name=self.name,
            type=self.type or known.type,
            description=self.description or known.description,
            nullable=self.nullable and known.nullable and not in_key,
            sensitive=self.sensitive or known.sensitive,
            number=known.number and (self.type or known.type) == "string",
        )
