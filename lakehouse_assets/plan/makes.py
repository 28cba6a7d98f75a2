"""What a run makes of the partitions that it was asked for: the stale ones, or the fresh ones as well.

Rule: who launches a materialization by hand, in the UI or with `dagster asset materialize`, gets rows that were made
by it: a stale partition is brought up to date, a fresh one is made again as a whole. Jobs, sensors, schedules and the
command bring up to date: they say so by a tag, and what is fresh costs them nothing. The tag decides, so that a run
launched by hand can be told either.
"""

from collections.abc import Mapping
from typing import Literal

from lakehouse_assets.core.errors import BadInputError

Makes = Literal["stale", "everything"]

MAKES_TAG = "lakehouse/makes"

ONLY_STALE: Mapping[str, str] = {MAKES_TAG: "stale"}
"""The tags of runs that bring up to date."""


def makes_of(tags: Mapping[str, str]) -> Makes:
    """What the run with these tags makes."""
    match tags.get(MAKES_TAG, "everything"):
        case "stale":
            return "stale"
        case "everything":
            return "everything"
        case other:
            raise BadInputError(
                subject=f"tag {MAKES_TAG} of the run",
                seen=repr(other),
                why="it says what the run makes, and this is neither of its values",
                remedy="give it `stale`, or `everything` to make again what is fresh",
            )
