"""What is read from git: commits, files and contents."""

from lakehouse_assets.contracts.blobs import BLOBS
from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.hashing import json_text
from lakehouse_assets.core.repository import Repository
from lakehouse_assets.extract.languages import DATA_FILE
from lakehouse_assets.plan.staleness import MaterializationKey
from lakehouse_assets.recipes.recipe import Recipe
from lakehouse_assets.sources.blobs import read_blobs
from lakehouse_assets.sources.commits import read_commits, read_new_commits, read_over_stored
from lakehouse_assets.sources.snapshot import read_snapshot, read_snapshot_changes

# How changes are read counts as well: rows that a mistake there left behind go when it is mended.
GIT_RECIPES = (
    Recipe(
        contract=COMMITS,
        group="git",
        functions=(read_commits, read_new_commits, read_over_stored),
        libraries=("pygit2",),
        data_files=(DATA_FILE,),
        local="git",
    ),
    Recipe(
        contract=SNAPSHOTS,
        group="git",
        at=(COMMITS,),
        functions=(read_snapshot, read_snapshot_changes),
        libraries=("pygit2",),
        data_files=(DATA_FILE,),
        local="git",
    ),
    Recipe(
        contract=BLOBS,
        group="git",
        also=(SNAPSHOTS,),
        at=(COMMITS,),
        functions=(read_blobs, read_snapshot_changes),
        libraries=("pygit2",),
        data_files=(DATA_FILE,),
        local="git",
    ),
)

GIT_TABLES: tuple[TableContract, ...] = tuple(each.contract for each in GIT_RECIPES)

_RECIPES = {each.contract: each for each in GIT_RECIPES}


def git_key(
    contract: TableContract, repository: Repository, commit_sha: str, *, boundary: str = ""
) -> MaterializationKey:
    """The key at a commit; where the clone is cut off (`boundary`) counts for the history alone."""
    inputs = {"shallow": boundary} if boundary and contract is COMMITS else {}
    return MaterializationKey(
        asset=contract.name,
        partition=repository.name,
        cursor=commit_sha,
        code_version=_RECIPES[contract].code_version,
        settings_hash=repository.settings_hash,
        policy_hash=contract.policy_hash,
        input_versions=json_text(inputs),
    )
