"""The assets `definition_lifetimes` and `edge_lifetimes`: when definitions and relationships came and went.

They follow the change feeds of `definitions` and `links`: an update writes rows for the files that it changed, and a
file whose definitions and relationships are the same gets none. What is made anew as a whole keeps what it knew.
"""

from collections.abc import Iterator, Mapping, Sequence

from dagster import AssetExecutionContext, Output, multi_asset

from lakehouse_assets.assets.derivations import Work, work_of
from lakehouse_assets.assets.graph.derivation_list import derivation
from lakehouse_assets.assets.handing_over import handed_over
from lakehouse_assets.assets.options import table_assets
from lakehouse_assets.contracts.definition_lifetimes import DEFINITION_LIFETIMES
from lakehouse_assets.contracts.definitions import DEFINITIONS
from lakehouse_assets.contracts.edge_lifetimes import EDGE_LIFETIMES
from lakehouse_assets.contracts.links import LINKS
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.batches import Batches, joined
from lakehouse_assets.lake.failed_partitions import FailedPartitions
from lakehouse_assets.lake.failures import explained
from lakehouse_assets.lake.ledger import Entry, EntryKey
from lakehouse_assets.lake.lifetimes import lifetimes as lifetime_rows
from lakehouse_assets.lake.lifetimes import previous_commit
from lakehouse_assets.lake.resources import LakehouseResource
from lakehouse_assets.plan.cursors import read_position

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
def lifetimes(context: AssetExecutionContext, lakehouse: LakehouseResource) -> Iterator[Output[Batches]]:
    """When each definition, call, import, base and reference came and went."""
    yield from handed_over(lived(lakehouse, context.partition_keys), of=len(context.partition_keys))


@explained()
def lived(lakehouse: LakehouseResource, repos: Sequence[str]) -> dict[str, Batches]:
    """The lives of what the stale partitions' changed files have and had, by table."""
    failed = FailedPartitions()
    made: dict[str, Batches] = {}
    for contract, followed in FOLLOWED.items():
        work, untouched = work_of(lakehouse, derivation(contract), repos, failed)
        latest = lakehouse.ledger.latest([contract, followed])
        batches: list[Batch] = []
        for each in work:
            with failed.alone(each.key.partition):
                batches.append(_batch(lakehouse, contract, each, latest))
        made[contract.name] = Batches(batches=joined(batches), untouched=untouched, failed=failed)
    return made


def _batch(
    lakehouse: LakehouseResource, contract: TableContract, work: Work, latest: Mapping[EntryKey, Entry]
) -> Batch:
    repo = work.key.partition
    commit = _commit(latest[FOLLOWED[contract].name, repo])
    assert commit is not None, "work is only found for what its inputs were made for"
    known = latest.get((contract.name, repo))
    before = _commit(known) if known is not None else None
    # At the same commit the code has changed, not the repository; without a word from before everything was there.
    previous = before if before in (None, commit) else previous_commit(lakehouse.lake, repo, commit) or before
    rows = lifetime_rows(lakehouse.lake, contract, repo, work.owners, commit=commit, previous=previous)
    return Batch(rows=rows, keys=(work.key,), owners=work.owners, since=work.since)


def _commit(entry: Entry) -> str | None:
    position = read_position(entry.cursor)
    return None if position is None else position.commit
