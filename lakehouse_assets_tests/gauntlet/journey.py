"""The way of each project: begun, run, run again for nothing, changed, run for what changed."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from lakehouse_assets_tests.support.command import lakehouse, lakehouse_json

Rows = list[tuple[Any, ...]]


@dataclass(frozen=True, kw_only=True)
class Ran:
    """What a run did: rows that came in, by table and only where there were any, and the models that were built."""

    landed: Mapping[str, int]
    models: tuple[str, ...]


@dataclass(kw_only=True)
class Journey:
    """One project in its folder."""

    folder: Path
    told: list[str] = field(default_factory=list[str])
    """All that its commands printed."""

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text).lstrip("\n"))

    def run(self) -> Ran:
        done = lakehouse("ingest", "--all", "--json")
        self.told.append(done.output)
        assert done.exit_code == 0, done.output
        applied = lakehouse("apply", "prod", "--json")
        self.told.append(applied.output)
        assert applied.exit_code == 0, applied.output
        return Ran(
            landed={each["name"]: rows for each in json.loads(done.stdout) if (rows := _rows(each))},
            models=tuple(json.loads(applied.stdout)["run"]),
        )

    def ask(self, query: str) -> Rows:
        """Rows of a query in the environment, in its order."""
        return [tuple(row.values()) for row in lakehouse_json("sql", query, "--env", "prod")]

    def commits(self) -> dict[str, int]:
        """How many commits each table of the lake has had."""
        logs = (self.folder / ".lakehouse" / "lake").glob("*/_delta_log")
        return {log.parent.name: len(list(log.glob("*.json"))) for log in logs}

    def goes(
        self,
        query: str,
        first: Rows,
        *,
        change: Callable[[], object],
        landed: Mapping[str, int],
        models: tuple[str, ...],
        then: Rows,
    ) -> None:
        """The whole way; `landed` and `models` are what is to come of the change, and nothing else."""
        assert self.run().models
        assert (rows := self.ask(query)) == first, rows
        self._does_nothing()
        change()
        done = self.run()
        assert (dict(done.landed), done.models) == (landed, models), done
        assert (rows := self.ask(query)) == then, rows
        self._does_nothing()

    def _does_nothing(self) -> None:
        before = self.commits()
        done = self.run()
        assert done == Ran(landed={}, models=()), done
        moved = {name: count for name, count in self.commits().items() if count != before.get(name)}
        assert not moved, f"{moved} had {before}"


def begin(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Journey:
    """A new project without what it comes with to be changed, and the environment that its models show in."""
    lakehouse("new", "project", str(folder))
    for sample in ("ingest/orders.yaml", "data/orders.csv", "models/definitions_by_kind.sql"):
        (folder / sample).unlink()
    (folder / "models/definitions_by_kind.test.yaml").unlink()
    monkeypatch.chdir(folder)
    for name in ("LAKEHOUSE_HOME", "DAGSTER_HOME"):  # the command sets them for Dagster; the next project has its own
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    lakehouse("env", "create", "prod")
    return Journey(folder=folder)


def _rows(told: Mapping[str, Any]) -> int:
    """Rows that a table gained, lost or changed."""
    names = ("inserted", "updated", "deleted")
    return sum(told.get(name, told.get(f"rows_{name}", 0)) for name in names)
