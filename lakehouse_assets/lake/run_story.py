"""The story of a run, made when it is asked for, from what was recorded while it ran.

So a run pays nothing for its story. Cost: the table `writes`, a few columns of it, and for each write the files of its
commit; for the NULLs the columns that may be NULL, of the run's partitions, at two versions.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.contracts.writes import WRITES
from lakehouse_assets.core.settings import load_settings
from lakehouse_assets.lake.commit_rows import commit_samples
from lakehouse_assets.lake.delivery_story import deliveries_of, delivery_story
from lakehouse_assets.lake.local_sql import local_sql
from lakehouse_assets.lake.null_profile import null_profile
from lakehouse_assets.lake.run_plans import run_plans
from lakehouse_assets.lake.scan import relation
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.stories.keys import because, partition_key
from lakehouse_assets.stories.records import AssetStory, Outcome, Plan, Run, Step, Story, Write

WriteRow = Mapping[str, Any]


def run_story(lake: Lake, run: Run) -> Story:
    """What the run did to each of its assets."""
    rows = read_writes(lake)
    own = [row for row in rows if is_of(row, run)]
    earlier = [row for row in rows if not is_of(row, run) and _is_before(row, own, run)]
    steps = {asset: step for step in run.steps for asset in step.assets}
    plans = run_plans(lake, run)
    contracts = table_contracts(lake, steps)
    sent = deliveries_of(lake, run.run_id)
    return Story(
        run=run,
        assets=tuple(
            delivery_story(sent[name], step, name)
            if name in sent
            else _asset_story(
                lake,
                run,
                step,
                name,
                contracts.get(name),
                own=[row for row in own if row["asset"] == name],
                earlier=[row for row in earlier if row["asset"] == name],
                plans=plans.get(name, ()),
            )
            for name, step in steps.items()
        ),
    )


def read_writes(lake: Lake) -> list[dict[str, Any]]:
    """All of `writes`, oldest first."""
    with local_sql() as connection:
        result = connection.execute(f"SELECT * FROM {relation(lake, WRITES)} ORDER BY written_at, write_key")
        names = [column[0] for column in result.description or []]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def table_contracts(lake: Lake, names: Collection[str]) -> Mapping[str, TableContract]:
    """Of the tables whose columns are known, and with them what must not be shown."""
    if all(name in CATALOG for name in names):
        return CATALOG
    from lakehouse_assets.sources.sql.ingested import ingested_contracts

    return {**CATALOG, **{each.name: each for each in ingested_contracts(load_settings(), lake)}}


def is_of(row: WriteRow, run: Run) -> bool:
    """A step that writes more than once tells its writes apart behind the run's id."""
    return row["run_id"] == run.run_id or row["run_id"].startswith(f"{run.run_id}-")


def _is_before(row: WriteRow, own: Sequence[WriteRow], run: Run) -> bool:
    if own:
        return row["written_at"] < own[0]["written_at"]
    return run.started is None or row["written_at"].timestamp() < run.started


def _asset_story(
    lake: Lake,
    run: Run,
    step: Step,
    name: str,
    contract: TableContract | None,
    *,
    own: Sequence[WriteRow],
    earlier: Sequence[WriteRow],
    plans: tuple[Plan, ...],
) -> AssetStory:
    writes = tuple(_write(lake, contract, row, earlier) for row in own)
    outcome = _outcome(run, step, name, writes)
    return AssetStory(
        name=name,
        description=contract.description if contract else "",
        step=step.name,
        outcome=outcome,
        why=_why(run, step, name, outcome, writes, earlier),
        writes=writes,
        nulls=null_profile(lake, contract, writes) if contract else (),
        plans=plans,
        checks=tuple(check for check in run.checks if check.asset == name),
    )


def _write(lake: Lake, contract: TableContract | None, row: WriteRow, earlier: Sequence[WriteRow]) -> Write:
    before: dict[str, Mapping[str, Any]] = {}
    for each in earlier:
        before |= {key["partition"]: key for key in json.loads(each["keys"])}
    changed = row["rows_inserted"] + row["rows_updated"] + row["rows_deleted"]
    counts = {name: row[name] for name in Write.__dataclass_fields__ if name.startswith(("rows_", "files_"))}
    return Write(
        partitions=tuple(row["partitions"]),
        strategy=row["strategy"],
        action=row["action"],
        executor=row["executor"],
        executor_reason=row["executor_reason"],
        **counts,
        bytes_added=row["bytes_added"],
        version_before=row["version_before"],
        version_after=row["version_after"],
        seconds=json.loads(row["seconds"]),
        keys=tuple(partition_key(key, before.get(key["partition"])) for key in json.loads(row["keys"])),
        samples=commit_samples(lake, contract, row["version_after"]) if contract and changed else None,
    )


def _outcome(run: Run, step: Step, name: str, writes: Sequence[Write]) -> Outcome:
    if step.status in ("failed", "skipped", "running") and not writes:
        return step.status
    if any(write.rows_changed for write in writes):
        return "written"
    if writes:
        return "equal"
    return "untouched" if name in run.untouched or step.status == "succeeded" else "skipped"


def _why(
    run: Run, step: Step, name: str, outcome: Outcome, writes: Sequence[Write], earlier: Sequence[WriteRow]
) -> str:
    match outcome:
        case "written" | "equal":
            reasons = "; ".join(because(key) for write in writes for key in write.keys)
            tail = " It came out as it was, so that nothing has to be made of it." if outcome == "equal" else ""
            return f"Made because: {reasons}.{tail}"
        case "untouched" if name in run.untouched:
            own = [row for row in earlier if not run.asked or set(row["partitions"]) & set(run.asked)]
            last = f", by run {own[-1]['run_id'][:8]}" if own else ""
            return f"Its code, settings and inputs are what it was last made from{last}."
        case "untouched":
            return "Its step found nothing new."
        case "failed":
            return step.problem.seen if step.problem else "Its step failed."
        case "skipped":
            broken = [each.name for each in run.steps if each.status == "failed"]
            return f"Not reached, because {', '.join(broken)} failed." if broken else "Not reached."
        case "running":
            return "Not ended."
