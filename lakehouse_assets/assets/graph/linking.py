"""The assets that linking makes together: where imports, calls, bases and references of each file lead.

Invariant: the tables tell of one state of the repository. They are written one after the other; if a kill came
between, their positions differ, and the repository is linked anew as a whole.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
from dagster import AssetExecutionContext, Output, multi_asset

from lakehouse_assets.assets.derivations import Work, work_of
from lakehouse_assets.assets.graph.derivation_list import LINKED, derivation, extractors
from lakehouse_assets.assets.handing_over import handed_over
from lakehouse_assets.assets.options import table_assets
from lakehouse_assets.contracts.imports_resolved import IMPORTS_RESOLVED
from lakehouse_assets.contracts.link_files import LINK_FILES
from lakehouse_assets.contracts.link_state import LINK_STATE
from lakehouse_assets.contracts.links import LINKS
from lakehouse_assets.contracts.module_index import MODULE_INDEX
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.core.hashing import json_text
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.batches import Batches
from lakehouse_assets.lake.failed_partitions import FailedPartitions
from lakehouse_assets.lake.failures import explained
from lakehouse_assets.lake.ledger import Entry
from lakehouse_assets.lake.link_pool import linked_in_parts, part_count
from lakehouse_assets.lake.link_store import Others, Summaries, read_state, rows_by_table
from lakehouse_assets.lake.neighbours import NEIGHBOURS, NeighbourVersions
from lakehouse_assets.lake.resources import LakehouseResource
from lakehouse_assets.link.repository import LinkResult, link_repository
from lakehouse_assets.plan.staleness import MaterializationKey


@multi_asset(
    name="linking",
    deps=["extracts"],
    **table_assets(
        {contract: derivation(contract).code_version for contract in LINKED},
        group="graph",
        kinds={"python", "deltalake"},
    ),
)
def linking(context: AssetExecutionContext, lakehouse: LakehouseResource) -> Iterator[Output[Batches]]:
    """Where imports, calls, bases and references of each file lead, and what the next update needs to know."""
    failed = FailedPartitions()
    results, untouched = linked(lakehouse, context.partition_keys, failed)
    outputs = ((each.name, _batches(each, results, untouched[each.name], failed)) for each in LINKED)
    yield from handed_over(outputs, of=len(context.partition_keys))


@dataclass(frozen=True, kw_only=True)
class _Linked:
    """One repository's result: rows by table, the files they are complete for, and the key but for its asset."""

    key: MaterializationKey
    rows: dict[str, pa.Table]
    """Those of a table are taken out when they are handed over: they are large."""
    owners: Mapping[str, tuple[str, ...]] | None
    """None if the rows are all of the repository's."""
    reasons: Mapping[str, str]
    since: Mapping[str, str]

    def key_of(self, contract: TableContract) -> MaterializationKey:
        wanted = derivation(contract)
        return replace(self.key, asset=contract.name, code_version=wanted.code_version, policy_hash=wanted.policy_hash)


def _batches(
    contract: TableContract, results: Sequence[_Linked], untouched: tuple[Entry, ...], failed: FailedPartitions
) -> Batches:
    """One write for all repositories that were linked as a whole, and one for each of the others."""
    batches = [
        Batch(
            rows=each.rows.pop(contract.name),
            keys=(each.key_of(contract),),
            owners=each.owners[contract.name],
            reasons=each.reasons,
            since=each.since,
        )
        for each in results
        if each.owners is not None
    ]
    whole = [each for each in results if each.owners is None]
    if whole:
        rows = pa.concat_tables([each.rows.pop(contract.name) for each in whole])
        batches.append(Batch(rows=rows, keys=tuple(each.key_of(contract) for each in whole)))
    return Batches(batches=tuple(batches), untouched=untouched, failed=failed)


@explained()
def linked(
    lakehouse: LakehouseResource, partitions: Sequence[str], failed: FailedPartitions
) -> tuple[list[_Linked], dict[str, tuple[Entry, ...]]]:
    """The stale repositories, linked, and by table the entries of the others."""
    latest = lakehouse.ledger.latest(LINKED)
    whole = {name for name in partitions if len({_position(latest.get((c.name, name))) for c in LINKED}) > 1}
    work, fresh = work_of(lakehouse, derivation(LINKS), [name for name in partitions if name not in whole], failed)
    redone, _ = work_of(lakehouse, derivation(LINKS), sorted(whole), failed, whole=True)
    names = [entry.partition for entry in fresh]
    untouched = {c.name: tuple(latest[c.name, name] for name in names) for c in LINKED}
    results: list[_Linked] = []
    registered = tuple(lakehouse.registry.all()) if work or redone else ()
    versions = NeighbourVersions(lakehouse.lake, lakehouse.ledger.latest([SNAPSHOTS]))
    for each in (*work, *redone):
        with failed.alone(each.key.partition):
            results.append(_link(lakehouse, each, registered, versions))
    return results, untouched


def _position(entry: Entry | None) -> tuple[str, str] | None:
    """What the tables of one linking have in common."""
    return (entry.cursor, entry.input_versions) if entry is not None and entry.cursor else None


def _link(lakehouse: LakehouseResource, work: Work, registered: Sequence[str], versions: NeighbourVersions) -> _Linked:
    lake, repo = lakehouse.lake, work.key.partition
    summaries = Summaries(lake, repo, extractors())
    neighbours = Others(lake, [name for name in registered if name != repo], extractors())
    parts = part_count(len(summaries.blobs), lakehouse.settings.cores)
    owners: dict[str, tuple[str, ...]] | None = None
    reasons: Mapping[str, str] = {}
    if work.owners is None and parts > 1:
        linked = linked_in_parts(
            repo=repo, files=summaries.blobs, load=summaries.load, neighbours=neighbours, parts=parts
        )
        rows, solves, files = linked.rows, linked.solves, {*summaries.blobs}
    else:
        result = link_repository(
            repo=repo,
            files=summaries.blobs,
            load=summaries.load,
            neighbours=neighbours,
            previous=None if work.owners is None else read_state(lake, repo),
        )
        rows, solves, files = rows_by_table(repo, result), result.solves, {*result.relinked, *result.gone}
        owners = None if work.owners is None else _owners(result)
        reasons = result.relinked | dict.fromkeys(result.gone, "gone")
    report("linking", repo, "files linked", files=len(files), solves=solves, parts=parts)
    seen = versions.after(repo, files, rows[IMPORTS_RESOLVED.name])
    inputs = json_text(json.loads(work.key.input_versions) | {NEIGHBOURS: seen})
    return _Linked(
        key=replace(work.key, input_versions=inputs), rows=rows, owners=owners, reasons=reasons, since=work.since
    )


def _owners(result: LinkResult) -> dict[str, tuple[str, ...]]:
    """By table the files whose rows are replaced."""
    owners = {contract.name: {*result.relinked, *result.gone} for contract in LINKED}
    owners[MODULE_INDEX.name] = {*result.modules, *result.gone}
    owners[LINK_FILES.name] = {*result.state.files["path"], *result.gone}
    owners[LINK_STATE.name] = {*result.state.solved, *result.gone}
    return {name: tuple(sorted(paths)) for name, paths in owners.items()}
