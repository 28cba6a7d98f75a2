"""How refusals name rows: by key, the first few, and never by what is sensitive."""

from collections.abc import Mapping, Sequence
from typing import Any

from lakehouse_assets.contracts.table import TableContract

EXAMPLES = 3
REDACTED = "‹redacted›"


def named_rows(contract: TableContract, rows: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Rows as an error names them."""
    return tuple("(" + ", ".join(_named(contract, name, value) for name, value in row.items()) + ")" for row in rows)


def _named(contract: TableContract, name: str, value: Any) -> str:
    return f"{name}={REDACTED if contract.column(name).sensitive else repr(value)}"
