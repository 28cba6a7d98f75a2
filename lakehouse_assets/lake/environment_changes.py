"""Environments made, promoted, rolled back and dropped: each a new revision, none of which computes anything."""

import re
from dataclasses import replace
from datetime import UTC, date, datetime

from lakehouse_assets.contracts.catalog import CATALOG
from lakehouse_assets.core.errors import BadInputError, LakehouseError, LakeStateError
from lakehouse_assets.lake.environments import Environments, kept_meanings
from lakehouse_assets.lake.executions import PipelineExecution, begun, tell
from lakehouse_assets.lake.model_facts import built_tables
from lakehouse_assets.lake.model_tables import named
from lakehouse_assets.lake.pins import unvacuumed
from lakehouse_assets.lake.published import is_readable
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.models.environment import Action, Environment, Member, Members, inherited, known
from lakehouse_assets.models.intervals import intervals, merged
from lakehouse_assets.plan.scope import equal_scopes

_NAME = re.compile(r"[a-z][a-z0-9_-]*")


def create_environment(lake: Lake, wanted: Environment) -> Environment:
    """Make an environment; it begins with what its base has, without a row being copied."""
    store = Environments(lake)
    there = store.all()
    if not _NAME.fullmatch(wanted.name) or wanted.name in there:
        raise BadInputError(
            subject=f"environment {wanted.name!r}",
            seen="there is one of that name"
            if wanted.name in there
            else "a name has lower-case letters, digits, - and _",
            why="a name stands for one environment",
            remedy="choose another name",
        )
    if wanted.start and wanted.end and wanted.start >= wanted.end:
        raise BadInputError(
            subject=f"environment {wanted.name!r}",
            seen=f"it begins on {wanted.start} and ends before {wanted.end}",
            why="nothing would be built in it",
            remedy="let it begin before it ends",
        )
    base = known(there, wanted.base) if wanted.base is not None else None
    begun_with = replace(wanted, revision=store.newest_revision(wanted.name))
    made = begun_with.next("create", base.members if base else {}, execution="", now=datetime.now(UTC))
    store.put(made)
    return made


def drop_environment(lake: Lake, name: str) -> Environment:
    """Drop an environment; tables that no other refers to are freed by the next garbage collection."""
    store = Environments(lake)
    there = store.all()
    environment = known(there, name)
    children = [each.name for each in there.values() if each.base == name]
    if children:
        raise BadInputError(
            subject=f"environment {name!r}",
            seen=f"it is the base of {', '.join(children)}",
            why="what they leave open they have from it",
            remedy="drop them first",
        )
    dropped = environment.next("drop", {}, execution="", now=datetime.now(UTC))
    store.put(dropped)
    return dropped


def promote(lake: Lake, source: str, target: str, *, today: date | None = None) -> PipelineExecution:
    """Let the target show what the source shows, from one moment to the next; nothing is computed."""
    there = Environments(lake).all()
    begins, ends = known(there, source), known(there, target)
    if not begins.models:
        raise BadInputError(
            subject=f"environment {source!r}",
            seen="it has no models",
            why=f"{target} would lose all of its own",
            remedy=f"apply {source} first",
        )
    _check_newer(begins, ends)
    _check_intervals(lake, begins, inherited(there, ends), today or datetime.now(UTC).date())
    return _moved(lake, ends, "promote", begins.members)


def rollback(lake: Lake, name: str, *, to: int | None = None) -> PipelineExecution:
    """Let an environment show an earlier revision again: the one before, or the one of that number."""
    store = Environments(lake)
    environment = known(store.all(), name)
    earlier = [each for each in store.history(name) if each.revision != environment.revision]
    fit = [each for each in earlier if (each.revision == to if to else each.members != environment.members)]
    if not fit:
        raise BadInputError(
            subject=f"environment {name!r}",
            seen=f"it has no revision {to}" if to else "it has no earlier revision that differs",
            why="there is nothing to go back to",
            remedy=f"see `lakehouse env show {name}`",
        )
    return _moved(lake, environment, "rollback", fit[-1].members)


def check_readable(lake: Lake, environment: Environment) -> None:
    """Refuse an environment of which a vacuum or a garbage collection has taken something; call it `unvacuumed`."""
    gone = [name for name, each in environment.members.items() if each.table and not _is_there(lake, each)]
    if gone:
        raise LakeStateError(
            subject=f"environment {environment.name!r}",
            seen=f"rows that it is to show of {', '.join(gone)} have been cleared away",
            why="it could not be read",
            remedy="plan and apply again; what is missing will be built",
        )


def _moved(lake: Lake, environment: Environment, action: Action, members: Members) -> PipelineExecution:
    execution = begun(environment.name, action)
    skipped = {name: "nothing is computed" for name, member in members.items() if member.kind != "source"}
    after = environment.next(action, members, execution=execution.id, now=datetime.now(UTC))
    try:
        with unvacuumed(lake):
            check_readable(lake, after)
            Environments(lake).put(after)
    except LakehouseError as error:
        tell(lake, execution.ended("refused", failed={environment.name: str(error)}))
        raise
    ended = execution.ended("succeeded", skipped=skipped, revision=after.revision)
    tell(lake, ended)
    return ended


def _is_there(lake: Lake, member: Member) -> bool:
    contract = named(member.table)
    if not lake.exists(contract):
        return False
    own = {repo: version for repo, version in member.apart.items() if version >= 0}
    if not all(is_readable(lake, CATALOG[member.table], own[repo], equal_scopes("repo", [repo])) for repo in own):
        return False
    # The present version needs no look at its files: nothing removes those.
    return lake.open(contract).version() == member.table_version or is_readable(lake, contract, member.table_version)


def _check_newer(source: Environment, target: Environment) -> None:
    """Refuse to promote what would take the target back in time: earlier rows of a table that it shows."""
    pairs = [(name, each, source.members.get(name)) for name, each in target.members.items()]
    older = [
        name
        for name, shown, other in pairs
        if other is not None and other.table == shown.table and other.table_version < shown.table_version
    ]
    if older:
        raise BadInputError(
            subject=f"environment {source.name!r}",
            seen=f"its rows of {', '.join(older)} are from before those that {target.name} shows",
            why=f"{target.name} would go back to them",
            remedy=f"apply {source.name} first, which takes in what is new",
        )


def _check_intervals(lake: Lake, source: Environment, target: Environment, today: date) -> None:
    """Refuse to promote a model built for less time than the target shows."""
    for name, meaning in kept_meanings(lake, source.members).items():
        header = meaning.header
        if header.start is None:
            continue
        start, end = max(header.start, target.start or header.start), min(target.end or today, today)
        parts = built_tables(lake, [meaning.table])[meaning.table].parts
        gaps = [key for key in intervals(header.interval, start, end) if key not in parts]
        if gaps:
            raise BadInputError(
                subject=f"model {name}",
                seen=f"{source.name} has not built {', '.join(map(str, merged(header.interval, gaps)))}",
                why=f"{target.name} would no longer show these days",
                remedy=f"apply {target.name} instead, which builds them",
            )
