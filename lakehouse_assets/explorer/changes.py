"""What commits changed and whom a change touches, as values that JSON has."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from lakehouse_assets.assets.change.between import Difference, between, last_update
from lakehouse_assets.contracts.diffs import DIFFS
from lakehouse_assets.contracts.file_changes import FILE_CHANGES
from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.explorer.answers import Answers, briefs, id_text, page_of
from lakehouse_assets.explorer.index import Index
from lakehouse_assets.lake.edge_changes import edge_changes
from lakehouse_assets.lake.history import lives_of
from lakehouse_assets.lake.impact import Impacted, impact_of
from lakehouse_assets.lake.registry import Registry
from lakehouse_assets.lake.tables import Lake


class Changes:
    def __init__(self, settings: Settings, answers: Answers) -> None:
        self._settings = settings
        self._lake = Lake(settings.lake)
        self._answers = answers

    def diff(self, repo: str, commits: str | None) -> dict[str, Any]:
        """Files and definitions that changed from A to B of `A..B`; without it in the last update."""
        found = self._difference(repo, commits)
        return {
            "repo": repo,
            "from": found.from_commit,
            "to": found.to_commit,
            "files": _rows(found.files),
            "definitions": [_with_id(row) for row in _rows(found.definitions)],
            "notes": list(found.notes),
        }

    def edges(self, repo: str, commits: str | None, *, limit: int, offset: int) -> dict[str, Any]:
        """Relationships that came and went from A to B of `A..B`; without it in the last update."""
        found = self._difference(repo, commits)
        ends = {"repo": repo, "from": found.from_commit, "to": found.to_commit}
        if found.from_commit is None or found.to_commit is None:
            return {**ends, **page_of([], 0, limit, offset)}
        changed = edge_changes(self._lake, repo, (found.from_commit, found.to_commit))
        return {**ends, **page_of(changed.slice(offset, limit).to_pylist(), changed.num_rows, limit, offset)}

    def impact_of_commits(self, repo: str, commits: str | None, *, limit: int) -> dict[str, Any]:
        """Whom the changes from A to B touch, in every repository."""
        found = self._difference(repo, commits)
        touched = impact_of(
            self._lake, repo, found.definitions, found.files, from_commit=found.from_commit, limit=limit
        )
        ends = {"repo": repo, "from": found.from_commit, "to": found.to_commit}
        return {**ends, **self._impact(touched, notes=found.notes)}

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
        return self._impact(impact_of(self._lake, repo, changed, files, from_commit=None, limit=limit), notes=())

    def history(self, repo: str, symbol_id: str) -> dict[str, Any]:
        """When the relationships of a definition came and went, newest first; what was there when the repository was
        first read is known from then on."""
        index = self._answers.index(repo, None)
        symbol = index.definition(self._answers.number(index, repo, symbol_id))["symbol"]
        _, edges = lives_of(self._lake, symbol, repo=repo)
        events = [event for life in edges for event in _events(life)]
        return {"items": sorted(events, key=lambda event: (event["at"] or "", event["change"]), reverse=True)}

    def _impact(self, touched: Impacted, *, notes: tuple[str, ...]) -> dict[str, Any]:
        """With the names of definitions beside their symbols, as far as the newest graph has them."""
        index = self._answers.index(None, None)
        callers, importers = touched.callers.to_pylist(), touched.importers.drop_columns(["repo"]).to_pylist()
        names = index.names_of({row["via_symbol"] for row in (*callers, *importers)})
        for row in (*callers, *importers):
            row["via_name"] = names.get(row["via_symbol"])
        return {
            "callers": _with_definitions(index, callers),
            "importers": importers,
            "files": touched.files.drop_columns(["repo"]).to_pylist(),
            "limit": touched.limit,
            "more_callers": touched.more_callers,
            "more_importers": touched.more_importers,
            "notes": [*notes, *touched.notes],
        }

    def _difference(self, repo: str, commits: str | None) -> Difference:
        (repository,) = Registry(self._lake).get([repo])
        return between(self._settings, repository, commits) if commits else last_update(self._lake, repository)


def _events(life: dict[str, Any]) -> Iterator[dict[str, Any]]:
    what = {name: life[name] for name in ("kind", "source", "dst_repo", "target")}
    born = "added" if life["after_commit"] else "known from"
    yield {"commit": life["first_commit"], "at": _told(life["first_at"]), "change": born, **what}
    if life["removed_in"] is not None:
        yield {"commit": life["removed_in"], "at": _told(life["removed_at"]), "change": "removed", **what}


def _told(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).isoformat(timespec="seconds")


def _rows(table: pa.Table) -> list[dict[str, Any]]:
    return table.drop_columns(["repo", "from_commit", "to_commit"]).to_pylist()


def _with_id(row: dict[str, Any]) -> dict[str, Any]:
    """The id as text, as symbols have it: a JSON reader may not keep 64 bits of a number. What is gone has none."""
    told = {name: value for name, value in row.items() if name not in ("def_id", "old_def_id")}
    return {"id": None if row["change"] == "removed" else id_text(row["def_id"]), **told}


def _with_definitions(index: Index, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    numbers = [index.numbers.get((row["impacted_repo"], row["def_id"]), -1) for row in rows]
    known = iter(briefs(index, [number for number in numbers if number >= 0]))
    return [
        {
            **{name: value for name, value in row.items() if name not in ("repo", "def_id")},
            "definition": next(known) if number >= 0 else None,
        }
        for row, number in zip(rows, numbers, strict=True)
    ]
