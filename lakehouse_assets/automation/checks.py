"""Asset checks: that what was written holds its contract.

The rows are checked before the commit, in one pass; the checks here tell of it, from the table `writes`. One step
serves all of them: a step for each would take longer than the writes that they tell of.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from dagster import (
    AssetCheckExecutionContext,
    AssetCheckResult,
    AssetChecksDefinition,
    AssetCheckSpec,
    AssetKey,
    MetadataValue,
    multi_asset_check,
)

from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.contracts.quarantine import QUARANTINE
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.contracts.writes import WRITES
from lakehouse_assets.lake.resources import LakehouseResource

_NAME = "contract"
_WRITE = ("asset", "write_key", "rows_inserted", "rows_updated", "rows_unchanged", "rows_quarantined", "written_at")


def contract_checks(contracts: Sequence[TableContract]) -> AssetChecksDefinition:
    """Whether the last write to each table set rows aside; one that breaks its contract otherwise never gets here."""

    @multi_asset_check(
        name="contracts",
        specs=[
            AssetCheckSpec(
                _NAME, asset=each.name, description=f"Every row of the last write to {each.name} holds its contract."
            )
            for each in contracts
        ],
        can_subset=True,
    )
    def checks(context: AssetCheckExecutionContext, lakehouse: LakehouseResource) -> Iterator[AssetCheckResult]:
        last: dict[str, dict[str, Any]] = {}
        for row in lakehouse.lake.read(WRITES, columns=_WRITE).sort_by("written_at").to_pylist():
            last[row["asset"]] = row
        rules: dict[str, set[str]] = {}
        for row in lakehouse.lake.read(QUARANTINE, columns=["write_key", "rule"]).to_pylist():
            rules.setdefault(row["write_key"], set()).add(row["rule"])
        for key in sorted(context.selected_asset_check_keys):
            name = key.asset_key.path[-1]
            yield _result(key.asset_key, last.get(name), rules)

    return checks


def _result(asset: AssetKey, write: dict[str, Any] | None, rules: dict[str, set[str]]) -> AssetCheckResult:
    if write is None:
        return AssetCheckResult(
            asset_key=asset, check_name=_NAME, passed=False, description="The table has never been written."
        )
    broken = sorted(rules.get(write["write_key"], ()))
    return AssetCheckResult(
        asset_key=asset,
        check_name=_NAME,
        passed=write["rows_quarantined"] == 0,
        description="; ".join(broken) or "No row broke the contract.",
        metadata={
            "rows_checked": write["rows_inserted"] + write["rows_updated"] + write["rows_unchanged"],
            "rows_quarantined": write["rows_quarantined"],
            "key": MetadataValue.text(", ".join(CATALOG[asset.path[-1]].key)),
            "write": MetadataValue.text(write["write_key"]),
        },
    )
