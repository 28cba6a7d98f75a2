"""Asset checks: that what was written holds its contract, that tables fit each other, that the head is the newest.

A run checks what it wrote, so that the check of a small update is as small; `full_check` looks at everything, for the
nightly job. One step serves all checks of a kind: a step for each would take longer than the writes that they tell of.

What blocks: rows that break their contract are refused before the commit, and a repository whose tables don't fit each
other is not published (`graph_versions` asks the same rules), so that the bad one is held back, and no other.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from dagster import (
    AssetCheckExecutionContext,
    AssetCheckResult,
    AssetCheckSeverity,
    AssetCheckSpec,
    Config,
    MetadataValue,
    multi_asset_check,
)

from lakehouse_assets.assets.freshness import heads_behind
from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.contracts.quarantine import QUARANTINE
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.contracts.writes import WRITES
from lakehouse_assets.extract.scip.rows import SCIP_TABLES
from lakehouse_assets.lake.bookkeeping import settle
from lakehouse_assets.lake.failures import explained
from lakehouse_assets.lake.integrity import RULES, Places, Rule, broken, doubled_keys, written_by
from lakehouse_assets.lake.io_metadata import rows_table
from lakehouse_assets.lake.resources import LakehouseResource
from lakehouse_assets.lake.run_partitions import PARTITIONS_NAME, partitions_of_run
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.sql_text import in_list, literal
from lakehouse_assets.recipes.catalog import RECIPES

_CONTRACT = "contract"
_HEAD = "head_is_newest"
_WRITE = ("asset", "run_id", "write_key", "rows_inserted", "rows_updated", "rows_unchanged", "rows_quarantined")
_LONGEST_RUN = timedelta(days=1)
_SHOWN = 50
_PARTITIONS_SHOWN = 100

CHECKED: tuple[TableContract, ...] = (*(each.contract for each in RECIPES.values()), *SCIP_TABLES)
"""Every table that an asset of the code graph makes."""
_LOOKED_AT = {rule.contract.name for rule in RULES if rule.name == "keys_unique"}


class LookConfig(Config):
    """What to look at: what the run wrote, or everything."""

    full: bool = False


@multi_asset_check(
    name="contracts",
    specs=[
        AssetCheckSpec(
            _CONTRACT,
            asset=each.name,
            description=f"Every row that was last written to {each.name} holds its contract; at night also: no key of "
            "the table is there twice.",
        )
        for each in CHECKED
    ],
    can_subset=True,
)
def contract_checks(
    context: AssetCheckExecutionContext, config: LookConfig, lakehouse: LakehouseResource
) -> Iterator[AssetCheckResult]:
    """Whether the last run that wrote to each table set rows aside; other rows that break a contract are refused."""
    lake = lakehouse.lake
    with explained():
        last = _last_writes(lake, context.run.run_id)
        aside = _set_aside(
            lake, [row["write_key"] for rows in last.values() for row in rows if row["rows_quarantined"]]
        )
        for key in sorted(context.selected_asset_check_keys):
            contract = CATALOG[key.asset_key.path[-1]]
            twice = config.full and contract.name not in _LOOKED_AT and lake.exists(contract)
            doubled = doubled_keys(lake, contract) if twice else []
            failing = [row for write in last.get(contract.name, ()) for row in aside.get(write["write_key"], ())]
            yield _contract_result(contract, last.get(contract.name, []), failing + doubled)


def _last_writes(lake: Lake, run_id: str) -> dict[str, list[dict[str, Any]]]:
    """By table what the run wrote; of a run that only checks, what the run did that wrote to it last."""
    settle(lake)
    lately = f"written_at >= {literal(datetime.now(UTC) - _LONGEST_RUN, 'datafusion')}"
    # Files of other runs are passed over by what the log knows of them.
    for where in (f"{lately} AND run_id = {literal(run_id, 'datafusion')}", lately):
        written = lake.read(WRITES, columns=[*_WRITE, "written_at"], where=where).sort_by("written_at")
        found: dict[str, list[dict[str, Any]]] = {}
        for row in written.drop_columns(["written_at"]).to_pylist():
            same = found.setdefault(row["asset"], [])
            if same and same[-1]["run_id"] != row["run_id"]:
                same.clear()
            same.append(row)
        if found:
            return found
    return {}


def _set_aside(lake: Lake, writes: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """By write the rows that it set aside, each with its partition and the rule that it broke."""
    found: dict[str, list[dict[str, Any]]] = {}
    columns = ["write_key", "table_name", "rule", "row_json"]
    where = in_list("write_key", writes, "datafusion")
    for row in lake.read(QUARANTINE, columns=columns, where=where).to_pylist() if writes else ():
        by = CATALOG[row["table_name"]].partition_by
        partition = str(json.loads(row["row_json"]).get(by[0], "")) if by else ""
        told = {"partition": partition, "broken": row["rule"], "rows": 1, "row": row["row_json"]}
        found.setdefault(row["write_key"], []).append(told)
    return found


def _contract_result(
    contract: TableContract, writes: Sequence[Mapping[str, Any]], failing: Sequence[Mapping[str, Any]]
) -> AssetCheckResult:
    checked = sum(row["rows_inserted"] + row["rows_updated"] + row["rows_unchanged"] for row in writes)
    held = "No row broke the contract." if writes else "Nothing was written lately, so that nothing can have broken it."
    metadata: dict[str, Any] = {
        "rows_checked": checked,
        "rows_quarantined": sum(row["rows_quarantined"] for row in writes),
        "key": MetadataValue.text(", ".join(contract.key)),
    }
    if writes:
        metadata["write"] = MetadataValue.text(writes[-1]["write_key"])
    bad: dict[str, int] = {}
    for row in failing:
        bad[row["partition"]] = bad.get(row["partition"], 0) + row["rows"]
    if bad:
        most = sorted(bad.items(), key=lambda each: (-each[1], each[0]))
        metadata["partitions"] = rows_table([{"partition": p, "rows": n} for p, n in most[:_PARTITIONS_SHOWN]])
        # One table has one shape: a key that is there twice has no row of its own to show.
        metadata["failing_rows"] = rows_table([{**row, "row": row.get("row", "")} for row in failing[:_SHOWN]])
    return AssetCheckResult(
        asset_key=contract.name,
        check_name=_CONTRACT,
        passed=not failing,
        description="; ".join(sorted({row["broken"] for row in failing})[:_SHOWN]) or held,
        metadata=metadata,
    )


@multi_asset_check(
    name="integrity",
    specs=[AssetCheckSpec(rule.name, asset=rule.contract.name, description=rule.description) for rule in RULES],
    can_subset=True,
)
def integrity_checks(
    context: AssetCheckExecutionContext, config: LookConfig, lakehouse: LakehouseResource
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
        metadata["partitions"] = rows_table(partitions[:_PARTITIONS_SHOWN])
    if rows:
        metadata["failing_rows"] = rows_table(rows)
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
        description=f"Heads that have moved on: {len(rows)}" if rows else "Every head is the newest.",
        metadata={"behind": len(rows)} | ({"heads": rows_table(rows[:_PARTITIONS_SHOWN])} if rows else {}),
    )
