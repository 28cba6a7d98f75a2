"""How an asset follows from others: when it has to be made anew, and how much of it.

Invariant: a partition is made from the content of its inputs, by the code of its derivation, and from nothing else.
So it is fresh while these are equal, whatever was written in between: an input that comes out equal stops the wave.
Its cursor tells how far each input's change feed was read; what changed since is found behind it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from lakehouse_assets.core.hashing import json_text
from lakehouse_assets.plan.cursors import Cursor, read_position
from lakehouse_assets.plan.makes import Makes
from lakehouse_assets.plan.staleness import MaterializationKey, Staleness, stale_because

_Made = TypeVar("_Made", bound=MaterializationKey)


@dataclass(frozen=True, kw_only=True)
class Derivation:
    """What makes an asset's rows: the inputs whose content counts, and the code."""

    asset: str
    inputs: tuple[str, ...]
    code_version: str
    policy_hash: str
    owner_columns: tuple[str, ...] = ("path",)
    """Columns of the inputs that name the owners whose rows a change there can change; none: it is made as a whole."""
    after: tuple[str, ...] = ()
    """Assets that have to be up to the inputs as well, though what they hold counts for no key."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """A partition that is stale: its key to be, why, and where to read on in the inputs' change feeds.

    `since` is None where the whole partition has to be made. The key gets its cursor when the inputs are read.
    """

    key: MaterializationKey
    reasons: tuple[Staleness, ...]
    since: Mapping[str, Cursor] | None


def wanted_key(derivation: Derivation, partition: str, inputs: Mapping[str, str | None]) -> MaterializationKey:
    """The key that the partition should have, but for its cursor; `inputs` has the data version of every input."""
    return MaterializationKey(
        asset=derivation.asset,
        partition=partition,
        cursor="",
        code_version=derivation.code_version,
        settings_hash="",
        policy_hash=derivation.policy_hash,
        input_versions=json_text({name: inputs[name] for name in derivation.inputs}),
    )


def task_for(wanted: MaterializationKey, stored: MaterializationKey | None) -> Task | None:
    """What is to be done for a partition; None if it is fresh."""
    if stored is None or not stored.cursor:
        return Task(key=wanted, reasons=tuple(stale_because(wanted, None)), since=None)
    reasons = stale_because(replace(wanted, cursor=stored.cursor), stored)
    if not reasons:
        return None
    position = read_position(stored.cursor)
    only_inputs = all(reason.part == "input_versions" for reason in reasons)
    since = position.cursors if position is not None and only_inputs else None
    return Task(key=wanted, reasons=tuple(reasons), since=since)


def sorted_out(
    wanted: Iterable[MaterializationKey], latest: Mapping[tuple[str, str], _Made], makes: Makes = "stale"
) -> tuple[list[Task], tuple[_Made, ...]]:
    """The tasks of the stale ones among partitions with these keys to be, and what `latest` has of the others.

    Where a run makes everything, the others are tasks too: without a reason, and as a whole.
    """
    tasks: list[Task] = []
    untouched: list[_Made] = []
    for key in wanted:
        stored = latest.get((key.asset, key.partition))
        task = task_for(key, stored)
        if task is not None:
            tasks.append(task)
        elif makes == "everything":
            tasks.append(Task(key=key, reasons=(), since=None))
        elif stored is not None:
            untouched.append(stored)
    return tasks, tuple(untouched)
