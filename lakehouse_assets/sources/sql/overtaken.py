"""The refusal of a delivery that another run was quicker with."""

from lakehouse_assets.core.errors import LakeStateError


def overtaken(delivery: str) -> LakeStateError:
    return LakeStateError(
        subject=f"delivery of {delivery}",
        seen="another run has delivered, or begun to, while this one was under way",
        why="the changes are those since a state that the target no longer has; nothing of them was written",
        remedy="run it again: it goes on from where the other run ended",
    )
