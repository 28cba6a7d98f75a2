"""Everything that can be asked of one lake, put together."""

from dataclasses import dataclass
from typing import Any

from lakehouse_assets.core.settings import Settings
from lakehouse_assets.explorer.answers import Answers
from lakehouse_assets.explorer.changes import Changes
from lakehouse_assets.explorer.holder import Indexes, commit_ids
from lakehouse_assets.explorer.source import Sources
from lakehouse_assets.lake.registry import Registry
from lakehouse_assets.lake.tables import Lake


@dataclass(frozen=True, kw_only=True)
class Asked:
    settings: Settings
    lake: Lake
    answers: Answers
    sources: Sources
    changes: Changes

    def repositories(self) -> dict[str, Any]:
        return {
            "items": [
                {"name": name, "kind": repository.kind, "commits": commit_ids(self.lake, name)[:20]}
                for name, repository in Registry(self.lake).all().items()
            ]
        }


def asked_of(settings: Settings) -> Asked:
    lake = Lake(settings.lake)
    answers = Answers(Indexes(lake))
    return Asked(
        settings=settings,
        lake=lake,
        answers=answers,
        sources=Sources(answers),
        changes=Changes(settings, answers),
    )
