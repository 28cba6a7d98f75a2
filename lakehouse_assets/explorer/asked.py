"""Everything that can be asked of one lake, put together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from lakehouse_assets.core.settings import Settings
from lakehouse_assets.explorer.answers import Answers
from lakehouse_assets.explorer.changes import Changes
from lakehouse_assets.explorer.holder import Indexes, commit_ids
from lakehouse_assets.explorer.source import Sources
from lakehouse_assets.lake.registry import Registry
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.stories.records import Run, Story, as_json


@dataclass(frozen=True, kw_only=True)
class Runs:
    """How runs are looked up: by whoever knows the orchestrator."""

    latest: Callable[[], Sequence[Run]]
    story: Callable[[str], Story]


@dataclass(frozen=True, kw_only=True)
class Asked:
    settings: Settings
    lake: Lake
    answers: Answers
    sources: Sources
    changes: Changes
    runs: Runs

    def repositories(self) -> dict[str, Any]:
        return {
            "items": [
                {"name": name, "kind": repository.kind, "commits": commit_ids(self.lake, name)[:20]}
                for name, repository in Registry(self.lake).all().items()
            ]
        }

    def latest_runs(self) -> dict[str, Any]:
        return {
            "items": [
                {
                    "run_id": run.run_id,
                    "job": run.job,
                    "status": run.status,
                    "started": run.started,
                    "ended": run.ended,
                    "asked": dict(run.asked),
                }
                for run in self.runs.latest()
            ]
        }

    def story(self, run: str) -> dict[str, Any]:
        return as_json(self.runs.story(run))


def asked_of(settings: Settings, runs: Runs) -> Asked:
    lake = Lake(settings.lake)
    answers = Answers(Indexes(lake))
    return Asked(
        settings=settings,
        lake=lake,
        answers=answers,
        sources=Sources(answers),
        changes=Changes(settings, answers),
        runs=runs,
    )
