"""Asset checks: that what was written holds its contract.

The rows are checked before the commit, in one pass; the check here tells of it, from the table `writes`.
"""

from dagster import AssetCheckExecutionContext, AssetCheckResult, AssetChecksDefinition, MetadataValue, asset_check

from lakehouse_assets.contracts.quarantine import QUARANTINE
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.contracts.writes import WRITES
from lakehouse_assets.lake.resources import LakehouseResource
from lakehouse_assets.plan.sql_text import literal


def contract_check(contract: TableContract) -> AssetChecksDefinition:
    """Whether the last write set rows aside; a write that breaks the contract otherwise never gets here."""

    @asset_check(
        asset=contract.name,
        name="contract",
        description=f"Every row of the last write to {contract.name} holds its contract.",
    )
    def check(context: AssetCheckExecutionContext, lakehouse: LakehouseResource) -> AssetCheckResult:
        columns = ["write_key", "action", "rows_inserted", "rows_updated", "rows_unchanged", "rows_quarantined"]
        where = f"asset = {literal(contract.name, 'datafusion')}"
        writes = lakehouse.lake.read(WRITES, columns=[*columns, "written_at"], where=where).sort_by("written_at")
        if not writes.num_rows:
            return AssetCheckResult(passed=False, description="The table has never been written.")
        last = writes.slice(writes.num_rows - 1).to_pylist()[0]
        aside = lakehouse.lake.read(
            QUARANTINE, columns=["rule"], where=f"write_key = {literal(last['write_key'], 'datafusion')}"
        )
        rules = sorted(set(aside["rule"].to_pylist()))
        return AssetCheckResult(
            passed=last["rows_quarantined"] == 0,
            description="; ".join(rules) or "No row broke the contract.",
            metadata={
                "rows_checked": last["rows_inserted"] + last["rows_updated"] + last["rows_unchanged"],
                "rows_quarantined": last["rows_quarantined"],
                "key": MetadataValue.text(", ".join(contract.key)),
                "write": MetadataValue.text(last["write_key"]),
            },
        )

    return check
