"""Commits are looked up by name, in their own repository."""

import pyarrow as pa

from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.lake.stored_commits import stored_commits
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.writes import write


def commit(repo: str, sha: str, position: int | None) -> dict[str, object]:
    texts = dict.fromkeys(("author_name", "author_email", "committer_name", "committer_email", "subject"), "x")
    own = {"repo": repo, "commit_sha": sha, "tree_sha": "t", "parents": [], "first_parent_position": position}
    return {**texts, **own, "authored_at": None, "committed_at": None}


def test_stored_commits_come_with_their_positions_and_others_do_not(lake: Lake):
    assert stored_commits(lake, "a", ["1"]) == {}
    rows = [commit("a", "1", 0), commit("a", "2", None), commit("b", "1", 7), commit("b", "3", 8)]
    table = pa.Table.from_pylist(rows, schema=arrow_schema(COMMITS.columns))
    write(lake, COMMITS, table, partitions=("a", "b"), run_id="1")
    assert stored_commits(lake, "a", ["1", "2", "3"]) == {"1": 0, "2": None}
    assert stored_commits(lake, "b", {"1"}) == {"1": 7}
    assert stored_commits(lake, "a", []) == {}
