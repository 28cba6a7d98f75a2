"""The assets `definition_lifetimes` and `edge_lifetimes`: when definitions and relationships came and went.

They follow the change feeds of `definitions` and `links`: an update writes rows for the files that it changed, and a
file whose definitions and relationships are the same gets none. What is made anew as a whole keeps what it knew.
"""

from collections.abc import Iterator, Mapping, Sequence

from dagster import AssetExecutionContext, Output, multi_asset

from lakehouse_assets.assets.derivations import Work, work_of
from lakehouse_assets.assets.engine import steps_of_run
from lakehouse_assets.assets.graph.derivation_list import derivation
from lakehouse_assets.assets.handing_over import handed_over
from lakehouse_assets.assets.options import table_assets
from lakehouse_assets.assets.partitions import repositories_of
from lakehouse_assets.contracts.definition_lifetimes import DEFINITION_LIFETIMES
from lakehouse_assets.contracts.definitions import DEFINITIONS
from lakehouse_assets.contracts.edge_lifetimes import EDGE_LIFETIMES
from lakehouse_assets.contracts.links import LINKS
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

_Latest = Mapping[EntryKey, Entry]

FOLLOWED: Mapping[TableContract, TableContract] = {DEFINITION_LIFETIMES: DEFINITIONS, EDGE_LIFETIMES: LINKS}


@multi_asset(
    name="lifetimes",
    deps=["definitions", "links"],
    **table_assets(
        {contract: derivation(contract).code_version for contract in FOLLOWED},
        group="change",
        kinds={"sql", "deltalake"},
    ),
)
def lifetimes(
    context: AssetExecutionContext, lakehouse: LakehouseResource, spark: SparkResource
) -> Iterator[Output[Batches]]:
    """When each definition, call, import, base and reference came and went."""
    repositories = repositories_of(context)
    with steps_of_run(context, lakehouse, spark, repositories) as (engine, choice):
        made = lived(lakehouse, repositories, engine, much_changed=choice.much_changed)
        yield from handed_over(made.items(), of=len(context.partition_keys))


@explained()
def lived(
    lakehouse: LakehouseResource, repos: Sequence[str], engine: StepEngine, *, much_changed: bool = False
) -> dict[str, Batches]:
    """The lives of what the stale partitions' changed files have and had, by table."""
    failed = FailedPartitions()
    made: dict[str, Batches] = {}
    for contract in FOLLOWED:
        work, untouched = work_of(lakehouse, derivation(contract), repos, failed, much_changed=much_changed)
        made[contract.name] = _lived(lakehouse, contract, work, untouched, engine, failed)
    return made


def _lived(
    lakehouse: LakehouseResource,
    contract: TableContract,
    work: Sequence[Work],
    untouched: tuple[Entry, ...],
    engine: StepEngine,
    failed: FailedPartitions,
) -> Batches:
    lake = lakehouse.lake
    latest = Ledger(lake).latest([contract, FOLLOWED[contract]])
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
    commit = _commit(latest[FOLLOWED[contract].name, repo])
    assert commit is not None, "work is only found for what its inputs were made for"
    known = latest.get((contract.name, repo))
    before = _commit(known) if known is not None else None
    # At the same commit the code has changed, not the repository; without a word from before everything was there.
    previous = before if before in (None, commit) else previous_commit(lake, repo, commit) or before
    return Moment(repo=repo, commit=commit, previous=previous)


def _commit(entry: Entry) -> str | None:
    position = read_position(entry.cursor)
    return None if position is None else position.commit
