"""What commits changed and whom a change touches, as values that JSON has."""

from functools import lru_cache
from itertools import pairwise
from typing import Any

import pyarrow as pa

from lakehouse_assets.assets.change.between import Difference, between, last_update
from lakehouse_assets.contracts.diffs import DIFFS
from lakehouse_assets.contracts.file_changes import FILE_CHANGES
from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.core.errors import LakehouseError
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.explorer.answers import Answers
from lakehouse_assets.explorer.holder import commit_ids
from lakehouse_assets.lake.edge_changes import edge_changes
from lakehouse_assets.lake.impact import Impacted, impact_of
from lakehouse_assets.lake.registry import Registry
from lakehouse_assets.lake.tables import Lake

_LOOKED_BACK = 6
"""Publications that the history of a symbol goes back: each pair of them is compared once, and kept."""


class Changes:
    def __init__(self, settings: Settings, answers: Answers) -> None:
        self._settings = settings
        self._lake = Lake(settings.lake)
        self._answers = answers
        self._between = lru_cache(maxsize=32)(self._edges)

    def diff(self, repo: str, commits: str | None) -> dict[str, Any]:
        """Files and definitions that changed from A to B of `A..B`; without it in the last update."""
        found = self._difference(repo, commits)
        return {
            "repo": repo,
            "from": found.from_commit,
            "to": found.to_commit,
            "files": _rows(found.files),
            # Ids are told as symbols: a JSON reader may not keep 64 bits of a number.
            "definitions": _rows(found.definitions.drop_columns(["def_id", "old_def_id"])),
            "notes": list(found.notes),
        }

    def impact_of_commits(self, repo: str, commits: str | None, *, limit: int) -> dict[str, Any]:
        """Whom the changes from A to B touch, in every repository."""
        found = self._difference(repo, commits)
        touched = impact_of(
            self._lake, repo, found.definitions, found.files, from_commit=found.from_commit, limit=limit
        )
        ends = {"repo": repo, "from": found.from_commit, "to": found.to_commit}
        return {**ends, **_impact(touched, notes=found.notes)}

    def impact_of_symbol(self, repo: str, symbol_id: str, *, limit: int) -> dict[str, Any]:
        """Whom a change to the definition would touch."""
        index = self._answers.index(repo, None)
        told = index.definition(self._answers.number(index, repo, symbol_id))
        row = {
            **{name: told[name] for name in ("repo", "path", "symbol", "def_id", "kind", "name", "line", "signature")},
            "change": "signature_changed",
            "body_differs": True,
            "from_commit": "",
            "to_commit": "",
        }
        changed = pa.Table.from_pylist([row], schema=arrow_schema(DIFFS.columns))
        files = arrow_schema(FILE_CHANGES.columns).empty_table()
        return _impact(impact_of(self._lake, repo, changed, files, from_commit=None, limit=limit), notes=())

    def history(self, repo: str, symbol_id: str) -> dict[str, Any]:
        """Relationships of a definition that came and went between the last publications of its repository."""
        index = self._answers.index(repo, None)
        name = index.definition(self._answers.number(index, repo, symbol_id))["qualified_name"]
        commits = commit_ids(self._lake, repo)[:_LOOKED_BACK]
        items: list[dict[str, Any]] = []
        notes: list[str] = []
        for newer, older in pairwise(commits):
            try:
                rows = self._between(repo, older, newer)
            except LakehouseError as error:
                notes.append(f"{older[:12]}..{newer[:12]}: {error.seen}")
                continue
            items += [
                {"commit": newer, "since": older, **row} for row in rows if name in (row["source"], row["target"])
            ]
        return {"commits": commits, "items": items, "notes": notes}

    def _edges(self, repo: str, older: str, newer: str) -> list[dict[str, Any]]:
        return edge_changes(self._lake, repo, (older, newer)).to_pylist()

    def _difference(self, repo: str, commits: str | None) -> Difference:
        (repository,) = Registry(self._lake).get([repo])
        return between(self._settings, repository, commits) if commits else last_update(self._lake, repository)


def _rows(table: pa.Table) -> list[dict[str, Any]]:
    return table.drop_columns(["repo", "from_commit", "to_commit"]).to_pylist()


def _impact(touched: Impacted, *, notes: tuple[str, ...]) -> dict[str, Any]:
    return {
        "callers": touched.callers.drop_columns(["repo", "def_id"]).to_pylist(),
        "importers": touched.importers.drop_columns(["repo"]).to_pylist(),
        "files": touched.files.drop_columns(["repo"]).to_pylist(),
        "limit": touched.limit,
        "more_callers": touched.more_callers,
        "more_importers": touched.more_importers,
        "notes": [*notes, *touched.notes],
    }
