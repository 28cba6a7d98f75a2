"""Rows that broke a contract and were set aside instead of failing the write."""

from lakehouse_assets.contracts.table import Column, TableContract

QUARANTINE = TableContract(
    name="quarantine",
    description="One row per rule that a set-aside row breaks.",
    columns=(
        Column(name="write_key", type="string", description="Write that set it aside."),
        Column(name="table_name", type="string", description="Table it was meant for."),
        Column(name="rule", type="string", description="What is wrong with it."),
        Column(name="row_json", type="string", description="The row, as JSON."),
        Column(name="set_aside_at", type="timestamp", description="When it was set aside."),
    ),
    key=("write_key", "rule", "row_json"),
    strategy="append_new",
    without_statistics=("row_json",),
)
