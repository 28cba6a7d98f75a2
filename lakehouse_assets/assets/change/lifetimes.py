"""The assets `definition_lifetimes` and `edge_lifetimes`: when definitions and relationships came and went.

They follow the change feeds of `definitions` and `links`: an update writes rows for the files that it changed, and a
file whose definitions and relationships are the same gets none. What is made anew as a whole keeps what it knew.
"""

from collections.abc import Iterator, Mapping, Sequence

from dagster import AssetExecutionContext, Output, multi_asset

from lakehouse_assets.assets.derivations import Work, work_of
from lakehouse_assets.assets.options import table_assets
from lakehouse_assets.assets.run import RepositoryRun
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.batches import Batches, joined
from lakehouse_assets.lake.failed_partitions import FailedPartitions
from lakehouse_assets.lake.failures import explained
from lakehouse_assets.lake.ledger import Entry, EntryKey, Ledger
from lakehouse_assets.lake.lifetimes import Moment, previous_commit
from lakehouse_assets.lake.lifetimes import lifetimes as lifetime_rows
from lakehouse_assets.lake.resources import LakehouseResource, SparkResource
from lakehouse_assets.lake.step_engine import StepEngine
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.cursors import read_position
from lakehouse_assets.recipes.catalog import RECIPES
from lakehouse_assets.recipes.change import LIFETIMES_RECIPES

_Latest = Mapping[EntryKey, Entry]


@multi_asset(**table_assets(LIFETIMES_RECIPES))
def lifetimes(
    context: AssetExecutionContext, lakehouse: LakehouseResource, spark: SparkResource
) -> Iterator[Output[Batches]]:
    """When each definition, call, import, base and reference came and went."""
    run = RepositoryRun(context, lakehouse, spark)
    with run.steps() as engine:
        yield from run.handed_over(lived(run, engine).items())


@explained()
def lived(run: RepositoryRun, engine: StepEngine) -> dict[str, Batches]:
    """The lives of what the stale partitions' changed files have and had, by table that is asked for."""
    failed = FailedPartitions()
    made: dict[str, Batches] = {}
    much = run.engine.much_changed
    for name in run.selected(each.name for each in LIFETIMES_RECIPES):
        recipe = RECIPES[name]
        work, untouched = work_of(
            run.lakehouse, recipe.derivation, run.names, failed, much_changed=much, makes=run.makes
        )
        made[name] = _lived(run.lake, recipe.contract, work, untouched, engine, failed)
    return made


def _lived(
    lake: Lake,
    contract: TableContract,
    work: Sequence[Work],
    untouched: tuple[Entry, ...],
    engine: StepEngine,
    failed: FailedPartitions,
) -> Batches:
    latest = Ledger(lake).latest([contract, *RECIPES[contract.name].inputs])
    batches: list[Batch] = []
    for each in work:
        if each.owners is not None:
            with failed.alone(each.key.partition):
                batches.append(_batch(engine, lake, contract, [each], latest))
    whole = {each.key.partition: each for each in work if each.owners is None}
    batches += failed.in_parts(
        list(whole), lambda names: _batch(engine, lake, contract, [whole[name] for name in names], latest)
    )
    return Batches(batches=joined(batches), untouched=untouched, failed=failed)


def _batch(engine: StepEngine, lake: Lake, contract: TableContract, works: Sequence[Work], latest: _Latest) -> Batch:
    """One repository, or several that are made as a whole."""

    def part(names: Sequence[str]) -> Batch:
        return _batch(engine, lake, contract, [each for each in works if each.key.partition in names], latest)

    moments = [_moment(lake, contract, each.key.partition, latest) for each in works]
    owners = works[0].owners
    return Batch(
        rows=lifetime_rows(engine, lake, contract, moments, owners),
        keys=tuple(each.key for each in works),
        owners=owners,
        since={name: cursor for each in works for name, cursor in each.since.items()},
        part=part,
    )


def _moment(lake: Lake, contract: TableContract, repo: str, latest: _Latest) -> Moment:
    (followed,) = RECIPES[contract.name].inputs
    commit = _commit(latest[followed.name, repo])
    assert commit is not None, "work is only found for what its inputs were made for"
    known = latest.get((contract.name, repo))
    before = _commit(known) if known is not None else None
    # At the same commit the code has changed, not the repository; without a word from before everything was there.
    previous = before if before in (None, commit) else previous_commit(lake, repo, commit) or before
    return Moment(repo=repo, commit=commit, previous=previous)


def _commit(entry: Entry) -> str | None:
    position = read_position(entry.cursor)
    return None if position is None else position.commit
