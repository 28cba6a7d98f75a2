"""What each asset made from git should be made from: code, settings, commit."""

from functools import cache

from lakehouse_assets.contracts.blobs import BLOBS
from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.hashing import json_text
from lakehouse_assets.core.repository import Repository
from lakehouse_assets.extract.languages import DATA_FILE
from lakehouse_assets.plan.code_version import code_version
from lakehouse_assets.plan.staleness import MaterializationKey
from lakehouse_assets.sources.blobs import read_blobs
from lakehouse_assets.sources.commits import read_commits, read_new_commits, read_over_stored
from lakehouse_assets.sources.snapshot import read_snapshot, read_snapshot_changes

GIT_TABLES: tuple[TableContract, ...] = (COMMITS, SNAPSHOTS, BLOBS)


@cache
def git_code_version(contract: TableContract) -> str:
    """Code version of the asset that makes `contract`'s rows from git."""
    # How changes are read counts as well: rows that a mistake there left behind go when it is mended.
    readers = {
        COMMITS.name: (read_commits, read_new_commits, read_over_stored),
        SNAPSHOTS.name: (read_snapshot, read_snapshot_changes),
        BLOBS.name: (read_blobs, read_snapshot_changes),
    }[contract.name]
    return code_version(*readers, libraries=["pygit2"], data_files=[DATA_FILE], parameters=[contract.version])


def git_key(
    contract: TableContract, repository: Repository, commit_sha: str, *, boundary: str = ""
) -> MaterializationKey:
    """The key at a commit; where the clone is cut off (`boundary`) counts for the history alone."""
    inputs = {"shallow": boundary} if boundary and contract is COMMITS else {}
    return MaterializationKey(
        asset=contract.name,
        partition=repository.name,
        cursor=commit_sha,
        code_version=git_code_version(contract),
        settings_hash=repository.settings_hash,
        policy_hash=contract.policy_hash,
        input_versions=json_text(inputs),
    )
