"""When an asset that follows others is asked for: Dagster's automation conditions, where these serve.

They serve where a run finds out by itself what of it is stale, by the stored keys, and leaves the rest as it is:
models, impact, Iceberg tables. Then all that Dagster has to know is when to look, and that is after something that they
read was made, or after a deployment with other code. What a condition compares with is kept in Dagster's database, so
that a restart misses nothing; what was made before it was first turned on does not count.

They don't serve for repositories, whose news are in git: see `automation/heads.py`. Nor for months, since a commit of
today can belong to any of them: see `automation/activity.py`.
"""

from typing import Any

from dagster import AutomationCondition


def _is_news() -> AutomationCondition[Any]:
    return AutomationCondition.any_deps_updated() | AutomationCondition.code_version_changed()


FOLLOWS: AutomationCondition[Any] = (
    _is_news()
    .since_last_handled()
    .with_label("something that it reads, or its code, is newer than what was last asked for")
    & ~AutomationCondition.any_deps_in_progress()  # one wave of updates is followed once, when it has ended
    & ~AutomationCondition.in_progress()
)
