"""`docs/tables.md`, written from the contracts: `python -m lakehouse_assets.contracts.docs` prints it."""

from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.contracts.table import Column, TableContract


def tables_page() -> str:
    """Every table with its key, partitions and columns, as Markdown."""
    parts = [
        "# Tables",
        "",
        "Written from the contracts by `make docs`; edit `lakehouse_assets/contracts/`, not this page.",
        "",
        *(f"- [{contract.name}](#{contract.name}): {contract.description}" for contract in CATALOG.values()),
    ]
    for contract in CATALOG.values():
        parts += ["", *_section(contract)]
    return "\n".join(parts) + "\n"


def _section(contract: TableContract) -> list[str]:
    facts = [f"Key: {_names(contract.key)}."]
    if contract.owner:
        facts.append(f"Owner: `{contract.owner}`.")
    if contract.partition_by:
        facts.append(f"Partitioned by {_names(contract.partition_by)}.")
    return [
        f"## {contract.name}",
        "",
        contract.description,
        "",
        " ".join(facts),
        "",
        "| column | type | description |",
        "|---|---|---|",
        *(f"| `{column.name}` | {_type(column)} | {_description(column)} |" for column in contract.columns),
    ]


def _type(column: Column) -> str:
    return f"{column.type}, may be NULL" if column.nullable else column.type


def _description(column: Column) -> str:
    text = column.description
    if column.one_of:
        text += f" One of {_names(column.one_of)}."
    return text.replace("|", "\\|")


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    print(tables_page(), end="")
