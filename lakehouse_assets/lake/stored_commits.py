"""Which commits the table `commits` has of a repository."""

from collections.abc import Collection

import pyarrow as pa

from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.sql_text import in_list


def stored_commits(lake: Lake, repo: str, shas: Collection[str]) -> dict[str, int | None]:
    """Those of `shas` that are stored for the repository, with their positions on the first-parent line."""
    if not shas:
        return {}
    where = f"""{in_list('"repo"', [repo], "datafusion")} AND {in_list('"commit_sha"', sorted(shas), "datafusion")}"""
    found = lake.read(COMMITS, columns=["commit_sha", "first_parent_position"], where=where)
    return dict(zip(found["commit_sha"].to_pylist(), found["first_parent_position"].to_pylist(), strict=True))


def stored_history(lake: Lake, repo: str) -> pa.Table:
    """All rows of the repository."""
    return lake.read(COMMITS, where=in_list('"repo"', [repo], "datafusion"))
