"""The one way in which the graph's tables are read by those who ask of it: commands, pages, exports, notebooks.

Invariant: of every repository, each table is read at the version that one row of `graph_versions` names, so that all
tables tell of one commit: while a run is under way, and after one was killed. A repository that was never published
has no rows. Tables that no publication names (contents, records of runs) are read as they are.

Cost: the rows of `graph_versions`, and the log entries behind the oldest publication. What was committed behind a
repository's own publication most often is of others; its files are then those of the newest version, and a query over
many repositories reads one list of files. Only a repository that was written to since is looked up at its own version.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from lakehouse_assets.contracts.graph_versions import PUBLISHED
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.errors import LakeStateError
from lakehouse_assets.lake.log_range import changed_since, data_files
from lakehouse_assets.lake.object_path import LakePath
from lakehouse_assets.lake.published import PublishedCommit, is_readable, published_commits
from lakehouse_assets.lake.registry import Registry
from lakehouse_assets.lake.scan import files_relation, relation
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.scope import equal_scopes


@dataclass(frozen=True, kw_only=True)
class PublishedGraph:
    """The graph at one published commit of each of some repositories."""

    lake: Lake
    commits: Mapping[str, PublishedCommit]
    """By repository."""

    def relation(self, contract: TableContract, *, repo: str | None = None) -> str:
        """SQL for a table's rows, of all repositories or of one, to stand behind FROM."""
        if contract not in PUBLISHED:
            return relation(self.lake, contract)
        versions = {
            name: commit.versions[contract.name]
            for name, commit in self.commits.items()
            if contract.name in commit.versions and repo in (None, name)
        }
        return files_relation(contract, [str(file) for file in self._files(contract, versions)])

    def _files(self, contract: TableContract, versions: Mapping[str, int]) -> list[LakePath]:
        if not versions:
            return []
        folder, table = self.lake.path(contract), self.lake.present(contract)
        changed = changed_since(folder, versions, table.version())
        settled = equal_scopes("repo", sorted(versions.keys() - changed))
        files = data_files(table, folder, contract, settled) if settled else []
        by_version: dict[int, list[str]] = {}
        for repo in sorted(changed):
            by_version.setdefault(versions[repo], []).append(repo)
        for version, repos in by_version.items():
            scopes = equal_scopes("repo", repos)
            self.refuse_gone(contract, version, repos)
            earlier = self.lake.open(contract)
            earlier.load_as_version(version)
            files += data_files(earlier, folder, contract, scopes)
        return files

    def apart(self, contract: TableContract) -> tuple[int, dict[str, int]]:
        """The table's newest version, and the repositories that are not to be read at it: each with its own version, or
        -1 where nothing of it is published."""
        table, folder = self.lake.present(contract), self.lake.path(contract)
        if contract not in PUBLISHED:
            return table.version(), {}
        versions = {name: commit.versions.get(contract.name, -1) for name, commit in self.commits.items()}
        held = set(pa.table(table.get_add_actions(flatten=True))["partition.repo"].to_pylist())
        changed = changed_since(folder, versions, table.version()) if versions else set[str]()
        others = dict.fromkeys(held - versions.keys(), -1)
        return table.version(), others | {name: versions[name] for name in sorted(changed)}

    def refuse_gone(self, contract: TableContract, version: int, repos: Sequence[str]) -> None:
        """Raise unless the rows that a version of a table has of some repositories can still be read."""
        if is_readable(self.lake, contract, version, equal_scopes("repo", repos)):
            return
        repo = repos[0]
        commit = self.commits[repo].commit_sha[:12]
        raise LakeStateError(
            subject=f"graph of {repo} at {commit}",
            seen=f"the version of {contract.name} that tells of it can no longer be read",
            why="rows of other versions would tell of other commits",
            remedy=f"`lakehouse versions {repo}` lists the commits that can; `lakehouse sync {repo} --to {commit}` "
            "makes this one again, and `lakehouse pin` keeps it",
        )

    @cached_property
    def unpublished(self) -> tuple[str, ...]:
        """Registered repositories whose graph is not to be read yet."""
        return tuple(sorted(Registry(self.lake).all().keys() - self.commits.keys()))

    @property
    def notes(self) -> tuple[str, ...]:
        """What an answer over all repositories leaves out."""
        names = self.unpublished
        return (f"not in the answer: {', '.join(names)}, never published (`lakehouse sync`)",) if names else ()

    def require(self, repo: str) -> PublishedCommit:
        """The commit at which a repository is read; refused if it is not registered or was never published."""
        if repo not in self.commits:
            Registry(self.lake).get([repo])
            raise LakeStateError(
                subject=f"repository {repo!r}",
                seen="its graph was never published",
                why="a sync that has not ended, or was killed, leaves tables that do not fit each other",
                remedy=f"run `lakehouse sync {repo}`",
            )
        return self.commits[repo]


def newest_graph(lake: Lake) -> PublishedGraph:
    """Every repository at the commit that was published last."""
    commits: dict[str, PublishedCommit] = {}
    for each in published_commits(lake):
        commits.setdefault(each.repo, each)
    return PublishedGraph(lake=lake, commits=commits)


def graph_at(lake: Lake, commit: PublishedCommit) -> PublishedGraph:
    """One repository at a published commit; what the others were at that moment is an accident."""
    return PublishedGraph(lake=lake, commits={commit.repo: commit})
