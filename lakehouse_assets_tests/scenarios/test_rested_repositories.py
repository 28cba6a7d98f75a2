"""A repository that rested while others committed is updated from the log entries of its own commits."""

from collections import defaultdict
from pathlib import Path

from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.lake import log_range
from lakehouse_assets.lake.commit_log import actions_of, log_entry
from lakehouse_assets.lake.ledger import INDEX_EVERY
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.growing_lake import GrowingLake
from lakehouse_assets_tests.support.opened import opened_below
from lakehouse_assets_tests.support.places import local
from lakehouse_assets_tests.support.repos import RepoBuilder

COMMITS_OF_OTHERS = 4
FILES = {"a.py": "def f():\n    return 1\n", "b.py": "from a import f\n\n\ndef g():\n    return f()\n"}


def opened_of_others(lake: Lake, opened: list[Path], repo: str) -> dict[str, set[int]]:
    """By table the versions whose log entries were opened, though they change rows of other repositories alone."""
    found: dict[str, set[int]] = defaultdict(set)
    for path in opened:
        if path.parent.name != "_delta_log" or path.suffix != ".json" or not path.stem.isdecimal():
            continue
        contract = CATALOG.get(path.parent.parent.name)
        if contract is None or contract.partition_by != ("repo",):
            continue
        entry = actions_of(log_entry(lake.path(contract), int(path.stem)).read_bytes())
        files = [action.get("add") or action.get("remove") or action.get("cdc") for action in entry]
        repos = {file["partitionValues"]["repo"] for file in files if file}
        if repos and repo not in repos:
            found[contract.name].add(int(path.stem))
    return dict(found)


def test_an_update_opens_no_more_log_entries_after_commits_of_others(tmp_path: Path):
    rests, others = RepoBuilder(tmp_path / "rests"), RepoBuilder(tmp_path / "others")
    rests.commit({**FILES})
    others.commit({**FILES})
    lake = GrowingLake(tmp_path, "rests", "others")
    lake.sync()
    for number in range(COMMITS_OF_OTHERS):
        others.commit({"a.py": f"def f():\n    return {number}\n\n\ndef f{number}():\n    pass\n"})
        lake.sync("others")
    rests.commit({"a.py": "def f():\n    return 2\n\n\ndef h():\n    pass\n"})
    log_range._read_entry.cache_clear()  # as another process begins
    with opened_below(local(lake.lake.root)) as opened:
        lake.sync("rests")
    found = opened_of_others(lake.lake, opened, "rests")
    assert all(len(versions) <= 1 for versions in found.values()), found  # the newest entry, as the log's mark
    assert INDEX_EVERY > COMMITS_OF_OTHERS, "they are known because each run tells, not because they are many"
    lake.prove()
