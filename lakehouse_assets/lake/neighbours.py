"""What linking a repository depends on beyond itself: who offers the modules that it imports from outside.

Invariant: the version changes when another repository begins or ceases to offer one of these modules, or when one
that offers it changes; it does not change with repositories that this one has nothing to do with.
Cost: narrow columns of `imports_resolved` and `snapshots`, and nothing at all in a lake of one repository.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property

import pyarrow as pa

from lakehouse_assets.contracts.imports_resolved import IMPORTS_RESOLVED
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.core.hashing import fingerprint
from lakehouse_assets.lake.ledger import Entry, EntryKey
from lakehouse_assets.lake.local_sql import local_sql
from lakehouse_assets.lake.scan import relation
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.link.modules import STANDARD_LIBRARY
from lakehouse_assets.plan.scope import equal_scopes

NEIGHBOURS = "neighbours"
"""Stands among a derivation's inputs for the other repositories."""

NONE = "none"


class NeighbourVersions:
    """Versions of what each repository sees of the others."""

    def __init__(self, lake: Lake, latest: Mapping[EntryKey, Entry]) -> None:
        self._lake = lake
        self._contents = {
            repo: entry.data_version
            for (table, repo), entry in latest.items()
            if table == SNAPSHOTS.name and entry.cursor
        }

    def of(self, repo: str) -> str:
        """The version for the imports that the lake has of the repository."""
        if self._contents.keys() <= {repo}:
            return NONE
        return self.for_modules(repo, self._imported.get(repo, ()))

    def after(self, repo: str, relinked: Iterable[str], imports: pa.Table) -> str:
        """The version once some files were linked anew, with these rows of `imports_resolved`."""
        if self._contents.keys() <= {repo}:
            return NONE
        with local_sql() as connection:
            connection.register("new_rows", imports)
            connection.register("relinked", pa.table({"path": pa.array(list(relinked), pa.string())}))
            own = relation(self._lake, IMPORTS_RESOLVED, scopes=equal_scopes("repo", [repo]))
            kept = f"SELECT * FROM {own} ANTI JOIN relinked USING (path)"
            query = f"SELECT repo, module, kind FROM ({kept}) UNION ALL SELECT repo, module, kind FROM new_rows"
            modules = connection.sql(_tops(query)).fetchall()
        return self.for_modules(repo, [module for _, module in modules])

    def for_modules(self, repo: str, modules: Iterable[str]) -> str:
        offers = [
            f"{module}={other}:{self._contents.get(other)}"
            for module in sorted(set(modules) - STANDARD_LIBRARY)
            for other in self._offered.get(module, ())
            if other != repo
        ]
        return fingerprint(offers) if offers else NONE

    @cached_property
    def _imported(self) -> dict[str, list[str]]:
        return _grouped(self._rows(_tops(f"SELECT repo, module, kind FROM {relation(self._lake, IMPORTS_RESOLVED)}")))

    @cached_property
    def _offered(self) -> dict[str, list[str]]:
        """Repositories by the modules they may offer: every folder and file on the way to a module has such a name.

        By paths, not by `module_index`: in a run over several repositories that is not written yet for all of them.
        """
        parts = r"unnest(string_split(regexp_replace(path, '\.pyi?$', ''), '/'))"
        files = (
            f"SELECT DISTINCT {parts} AS part, repo FROM {relation(self._lake, SNAPSHOTS)} WHERE language = 'Python'"
        )
        return _grouped(self._rows(f"{files} ORDER BY ALL"))

    def _rows(self, query: str) -> list[tuple[str, str]]:
        with local_sql() as connection:
            return connection.sql(query).fetchall()


def _tops(rows: str) -> str:
    """The first parts of the modules that are not the repository's own, wherever what they name comes from.

    A name that another repository's module lacks is unresolved, one that it has from elsewhere is of that kind: what
    the module becomes there counts all the same.
    """
    return f"SELECT DISTINCT repo, split_part(module, '.', 1) FROM ({rows}) WHERE kind <> 'first_party' ORDER BY ALL"


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found
