"""When a sensor asks for a run of a stale repository, and when it holds back.

Invariant: a repository that is stale in the same way is asked for once, and after that only at growing intervals: its
run failed, and most likely will again. A new head, new code or new settings is another way, and asks at once.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from lakehouse_assets.core.hashing import json_fingerprint, json_text
from lakehouse_assets.plan.staleness import Staleness

FIRST_PAUSE_SECONDS = 600.0
LONGEST_PAUSE_SECONDS = 86_400.0


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a repository was asked for, how often, and when last."""

    state: str
    times: int
    at: float


@dataclass(frozen=True, kw_only=True)
class Watch:
    """What a sensor knows from its last look: by repository what was asked for, and where the next look begins."""

    asked: Mapping[str, Asked]
    after: str = ""

    @property
    def text(self) -> str:
        return json_text({"after": self.after, "asked": {name: asdict(each) for name, each in self.asked.items()}})


def read_watch(text: str | None) -> Watch:
    if not text:
        return Watch(asked={})
    stored = json.loads(text)
    return Watch(asked={name: Asked(**each) for name, each in stored["asked"].items()}, after=stored["after"])


def state_of(head: str, reasons: Iterable[Staleness]) -> str:
    """In which way a repository is stale: its head, and every part of a key that differs."""
    return json_fingerprint([head, sorted([reason.asset, reason.part, reason.new] for reason in reasons)])


def is_due(asked: Asked | None, state: str, now: float) -> bool:
    if asked is None or asked.state != state:
        return True
    return now >= asked.at + min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2 ** (asked.times - 1))


def asked_again(asked: Asked | None, state: str, now: float) -> Asked:
    times = asked.times + 1 if asked is not None and asked.state == state else 1
    return Asked(state=state, times=times, at=now)


def rotated(names: Iterable[str], after: str) -> list[str]:
    """The names, beginning behind the one that was looked at last."""
    ordered = sorted(names)
    return [*(name for name in ordered if name > after), *(name for name in ordered if name <= after)]
