"""Sensors that ask for what follows the graph; each is for one group, so that it can be turned on by itself."""

from collections.abc import Sequence

from dagster import AssetSelection, AutomationConditionSensorDefinition, DefaultSensorStatus

from lakehouse_assets.plan.makes import ONLY_STALE


def following(groups: Sequence[str]) -> list[AutomationConditionSensorDefinition]:
    """A sensor for each group, whose conditions (`assets/following.py`) say when."""
    return [
        AutomationConditionSensorDefinition(
            name=f"follow_with_{group}",
            target=AssetSelection.groups(group),
            default_status=DefaultSensorStatus.STOPPED,
            minimum_interval_seconds=30,
            run_tags=ONLY_STALE,
            description=f"Asks for the assets of the group {group} after what they read was made anew.",
        )
        for group in groups
    ]
