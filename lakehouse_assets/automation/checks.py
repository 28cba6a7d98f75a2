"""Asset checks: that what was written holds its contract, that tables fit each other, that the head is the newest.

A run checks what it wrote, so that the check of a small update is as small; `full_check` looks at everything, for the
nightly job. One step serves all checks of a kind: a step for each would take longer than the writes that they tell of.

What blocks: rows that break their contract are refused before the commit, and a repository whose tables don't fit each
other is not published (`graph_versions` asks the same rules), so that the bad one is held back, and no other.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from dagster import (
    AssetCheckExecutionContext,
    AssetCheckResult,
    AssetChecksDefinition,
    AssetCheckSeverity,
    AssetCheckSpec,
    AssetKey,
    Config,
    MetadataValue,
    TableRecord,
    multi_asset_check,
)

from lakehouse_assets.assets.freshness import heads_behind
from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.contracts.quarantine import QUARANTINE
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.contracts.writes import WRITES
from lakehouse_assets.lake.failures import explained
from lakehouse_assets.lake.integrity import RULES, Places, Rule, broken, written_by
from lakehouse_assets.lake.resources import LakehouseResource
from lakehouse_assets.lake.run_partitions import PARTITIONS_NAME, partitions_of_run
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.sql_text import literal

_CONTRACT = "contract"
_HEAD = "head_is_newest"
_WRITE = ("asset", "write_key", "rows_inserted", "rows_updated", "rows_unchanged", "rows_quarantined", "written_at")
_LONGEST_RUN = timedelta(days=1)


class IntegrityConfig(Config):
    """What to look at: what the run wrote, or everything."""

    full: bool = False


def contract_checks(contracts: Sequence[TableContract]) -> AssetChecksDefinition:
    """Whether the run's last write to each table set rows aside; what breaks its contract otherwise is not written."""

    @multi_asset_check(
        name="contracts",
        specs=[
            AssetCheckSpec(
                _CONTRACT,
                asset=each.name,
                description=f"Every row of the last write to {each.name} holds its contract.",
            )
            for each in contracts
        ],
        can_subset=True,
    )
    def checks(context: AssetCheckExecutionContext, lakehouse: LakehouseResource) -> Iterator[AssetCheckResult]:
        rules: dict[str, set[str]] = {}
        with explained():
            last = _last_writes(lakehouse.lake, context.run.run_id)
            if any(row["rows_quarantined"] for row in last.values()):
                for row in lakehouse.lake.read(QUARANTINE, columns=["write_key", "rule"]).to_pylist():
                    rules.setdefault(row["write_key"], set()).add(row["rule"])
        for key in sorted(context.selected_asset_check_keys):
            yield _contract_result(key.asset_key, last.get(key.asset_key.path[-1]), rules)

    return checks


def _last_writes(lake: Lake, run_id: str) -> dict[str, dict[str, Any]]:
    """By table the last write of the run; of a run that only checks, the last of all lately."""
    lately = f"written_at >= {literal(datetime.now(UTC) - _LONGEST_RUN, 'datafusion')}"
    # Files of other runs are passed over by what the log knows of them.
    for where in (f"{lately} AND run_id = {literal(run_id, 'datafusion')}", lately):
        written = lake.read(WRITES, columns=_WRITE, where=where).sort_by("written_at").drop_columns(["written_at"])
        if written.num_rows:
            return {row["asset"]: row for row in written.to_pylist()}
    return {}


def _contract_result(asset: AssetKey, write: dict[str, Any] | None, rules: dict[str, set[str]]) -> AssetCheckResult:
    if write is None:
        told = "Nothing was written lately, so that nothing can have broken it."
        return AssetCheckResult(asset_key=asset, check_name=_CONTRACT, passed=True, description=told)
    broken_rules = sorted(rules.get(write["write_key"], ()))
    return AssetCheckResult(
        asset_key=asset,
        check_name=_CONTRACT,
        passed=write["rows_quarantined"] == 0,
        description="; ".join(broken_rules) or "No row broke the contract.",
        metadata={
            "rows_checked": write["rows_inserted"] + write["rows_updated"] + write["rows_unchanged"],
            "rows_quarantined": write["rows_quarantined"],
            "key": MetadataValue.text(", ".join(CATALOG[asset.path[-1]].key)),
            "write": MetadataValue.text(write["write_key"]),
        },
    )


@multi_asset_check(
    name="integrity",
    specs=[AssetCheckSpec(rule.name, asset=rule.contract.name, description=rule.description) for rule in RULES],
    can_subset=True,
)
def integrity_checks(
    context: AssetCheckExecutionContext, config: IntegrityConfig, lakehouse: LakehouseResource
) -> Iterator[AssetCheckResult]:
    """Whether tables fit each other, where the run has written, or everywhere."""
    lake, names = lakehouse.lake, list(lakehouse.registry.all())
    of_run = partitions_of_run(context.run, context.instance.get_dynamic_partitions(PARTITIONS_NAME))
    repos = [name for name in names if not of_run or name in of_run]
    run_id = context.run.run_id
    selected = context.selected_asset_check_keys
    with explained():
        places: Places = dict.fromkeys(repos) if config.full else written_by(lake, run_id, repos)
        for rule in RULES:
            if any(key.asset_key.path[-1] == rule.contract.name and key.name == rule.name for key in selected):
                yield _integrity_result(rule, places, broken(lake, rule, places, run_id=run_id))


def _integrity_result(rule: Rule, places: Places, rows: Sequence[dict[str, Any]]) -> AssetCheckResult:
    bad: dict[str, int] = {}
    for row in rows:
        bad[row["repo"]] = bad.get(row["repo"], 0) + row["rows"]
    partitions = [
        {
            "partition": repo,
            "looked_at": "all files" if paths is None else f"{len(paths)} files",
            "rows": bad.get(repo, 0),
        }
        for repo, paths in sorted(places.items(), key=lambda place: -bad.get(place[0], 0))
    ]
    metadata: dict[str, Any] = {"partitions_checked": len(places), "partitions_broken": len(bad)}
    if partitions:
        metadata["partitions"] = MetadataValue.table([TableRecord(each) for each in partitions[:100]])
    if rows:
        metadata["failing_rows"] = MetadataValue.table([TableRecord(row) for row in rows])
    return AssetCheckResult(
        asset_key=rule.contract.name,
        check_name=rule.name,
        passed=not rows,
        severity=AssetCheckSeverity.ERROR,
        description=f"broken in {', '.join(bad)}" if bad else rule.description,
        metadata=metadata,
    )


@multi_asset_check(
    name="heads",
    specs=[AssetCheckSpec(_HEAD, asset=COMMITS.name, description="The rows are of the newest commit of each ref.")],
)
def head_checks(context: AssetCheckExecutionContext, lakehouse: LakehouseResource) -> Iterator[AssetCheckResult]:
    """Whether heads have moved on since; a warning, for what is there is right, only old."""
    of_run = partitions_of_run(context.run, context.instance.get_dynamic_partitions(PARTITIONS_NAME))
    known = lakehouse.registry.all()
    behind = heads_behind(lakehouse.settings, [known[name] for name in of_run or known if name in known])
    rows = [{"partition": repo, "has": old, "newest": new} for repo, (old, new) in sorted(behind.items())]
    yield AssetCheckResult(
        asset_key=COMMITS.name,
        check_name=_HEAD,
        passed=not rows,
        severity=AssetCheckSeverity.WARN,
        description=f"{len(rows)} repositories have moved on" if rows else "Every head is the newest.",
        metadata={"behind": len(rows)}
        | ({"heads": MetadataValue.table([TableRecord(row) for row in rows[:100]])} if rows else {}),
    )
