"""A lake of a few repositories, served by the real `dagster dev` with its daemon."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from lakehouse_assets.core.settings import PROJECT_ROOT, load_settings
from lakehouse_assets_tests.support.command import lakehouse
from lakehouse_assets_tests.support.graphql import GraphQL
from lakehouse_assets_tests.support.repos import RepoBuilder, git
from lakehouse_assets_tests.support.ui import DagsterUI, dagster_dev

Repos = Mapping[str, RepoBuilder]


@dataclass(frozen=True, kw_only=True)
class Served:
    """The served UI, and the registered repositories by name."""

    ui: DagsterUI
    repos: Repos

    @property
    def api(self) -> GraphQL:
        return GraphQL(self.ui.url)

    def head(self, name: str) -> str:
        return git(self.repos[name].path, "rev-parse", "HEAD").decode().strip()


@contextmanager
def served_lake(
    folder: Path,
    files: Mapping[str, Mapping[str, str]],
    prepare: Callable[[Repos], None] = lambda _: None,
) -> Iterator[Served]:
    """Repositories with these files in their first commit, registered; `prepare` is called before they are served.

    Commands of the test mean this lake. No run starts a JVM.
    """
    with pytest.MonkeyPatch.context() as environ:
        environ.setenv("LAKEHOUSE_HOME", str(folder / "home"))
        environ.setenv("DAGSTER_HOME", str(PROJECT_ROOT))
        environ.setenv("LAKEHOUSE_ENGINE", "local")
        repos = {name: RepoBuilder(folder / name) for name in files}
        for name, repo in repos.items():
            repo.commit({**files[name]})
            lakehouse("repo", "add", name, str(repo.path))
        prepare(repos)
        with dagster_dev(load_settings(), folder / "dagster.log") as ui:
            yield Served(ui=ui, repos=repos)
