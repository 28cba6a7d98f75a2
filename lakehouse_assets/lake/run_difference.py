"""What differs between two runs: the code, settings and inputs of each asset, and the rows that came of it.

The state of a run is, for each asset and partition, the last materialization up to its end, whoever made it: what was
fresh was not made again. Rows are compared only where contents differ.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.errors import LakehouseError
from lakehouse_assets.lake.run_story import WriteRow, is_of, read_writes, table_contracts
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.lake.version_diff import version_diff
from lakehouse_assets.stories.keys import partition_key
from lakehouse_assets.stories.records import Drift, Run, RunDiff

State = dict[tuple[str, str], tuple[Mapping[str, Any], int]]
"""By asset and partition: the key, and the table's version."""


def run_difference(lake: Lake, first: Run, second: Run) -> RunDiff:
    writes = read_writes(lake)
    before, after = (_state(writes, run) for run in (first, second))
    contracts = table_contracts(lake, {asset for asset, _ in after})
    return RunDiff(
        first=first,
        second=second,
        drifts=tuple(
            _drift(lake, contracts.get(asset), asset, before.get((asset, partition)), after[asset, partition])
            for asset, partition in sorted(after, key=_place)
        ),
    )


def _state(writes: Sequence[WriteRow], run: Run) -> State:
    own = [row["written_at"] for row in writes if is_of(row, run)]
    if own:
        known = [row for row in writes if row["written_at"] <= own[-1]]
    else:
        known = [row for row in writes if run.ended is None or row["written_at"].timestamp() <= run.ended]
    assets = {asset for step in run.steps for asset in step.assets}
    return {
        (row["asset"], key["partition"]): (key, row["version_after"])
        for row in known
        if row["asset"] in assets
        for key in json.loads(row["keys"])
    }


def _place(key: tuple[str, str]) -> tuple[int, str]:
    """In the order of the catalog, which is that of the data's way."""
    names = list(CATALOG)
    return (names.index(key[0]) if key[0] in CATALOG else len(names), key[1])


def _drift(
    lake: Lake,
    contract: TableContract | None,
    asset: str,
    before: tuple[Mapping[str, Any], int] | None,
    after: tuple[Mapping[str, Any], int],
) -> Drift:
    key = partition_key(after[0], before[0] if before else None)
    differs = key.content_before != key.content_after or key.content_after is None
    rows, note = None, "" if before is not None else "it was not there at the first run"
    if before is not None and contract is not None and differs and before[1] != after[1]:
        try:
            rows = version_diff(lake, contract, before[1], after[1], partitions=(key.partition,))
        except LakehouseError as error:
            note = f"the rows cannot be compared: {error.seen}"
    return Drift(asset=asset, key=key, rows=rows, note=note)
