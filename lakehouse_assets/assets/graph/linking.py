"""The assets that linking makes together: where imports, calls, bases and references of each file lead.

Invariant: the tables tell of one state of the repository. They are written one after the other; if a kill came
between, or somebody asked for some of them only, their positions differ, and the repository is linked anew as a whole;
so it is where the code of one of them changed.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from dagster import AssetExecutionContext, Output, multi_asset

from lakehouse_assets.assets.derivations import Work, work_of
from lakehouse_assets.assets.options import table_assets
from lakehouse_assets.assets.run import RepositoryRun
from lakehouse_assets.contracts.extracts import EXTRACTS
from lakehouse_assets.contracts.link_files import LINK_FILES
from lakehouse_assets.contracts.link_state import LINK_STATE
from lakehouse_assets.contracts.module_index import MODULE_INDEX
from lakehouse_assets.contracts.neighbour_reads import NEIGHBOUR_READS
from lakehouse_assets.contracts.schemas import arrow_rows
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.core.hashing import json_text
from lakehouse_assets.lake.batch import Batch
from lakehouse_assets.lake.batches import Batches
from lakehouse_assets.lake.failed_partitions import FailedPartitions
from lakehouse_assets.lake.failures import explained
from lakehouse_assets.lake.ledger import Entry
from lakehouse_assets.lake.link_job import LinkedOnSpark, link_on_spark
from lakehouse_assets.lake.link_shelf import Shelf, shelf
from lakehouse_assets.lake.link_store import (
    Others,
    Summaries,
    names_elsewhere,
    neighbour_reads,
    read_state,
    rows_by_table,
)
from lakehouse_assets.lake.neighbours import NEIGHBOURS, NeighbourVersions, Reads, version_of
from lakehouse_assets.lake.resources import LakehouseResource, SparkResource
from lakehouse_assets.link.repository import LinkResult, link_repository
from lakehouse_assets.plan.makes import Makes
from lakehouse_assets.plan.staleness import MaterializationKey
from lakehouse_assets.recipes.catalog import RECIPES
from lakehouse_assets.recipes.extractors import extractors
from lakehouse_assets.recipes.graph import LINKED, LINKING_RECIPES
from lakehouse_assets.recipes.recipe import Recipe

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@multi_asset(**table_assets(LINKING_RECIPES))
def linking(
    context: AssetExecutionContext, lakehouse: LakehouseResource, spark: SparkResource
) -> Iterator[Output[Batches]]:
    """Where imports, calls, bases and references of each file lead, and what the next update needs to know."""
    failed = FailedPartitions()
    run = RepositoryRun(context, lakehouse, spark)
    asked = run.selected(each.name for each in LINKED)
    with shelf(run.lake.root) as place:
        on_spark = _OnSpark(run.session, place) if run.engine.engine == "spark" else None
        results, untouched = linked(
            lakehouse, run.names, asked, failed, on_spark, much_changed=run.engine.much_changed, makes=run.makes
        )
        outputs = ((name, _batches(RECIPES[name], results, untouched[name], failed)) for name in asked)
        yield from run.handed_over(outputs)


class _OnSpark(NamedTuple):
    """Where what is linked from nothing is linked, if the run works on Spark."""

    session: "Callable[[], SparkSession]"
    place: Shelf


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


@dataclass(frozen=True, kw_only=True)
class _LinkedTogether:
    """The result of repositories that were linked on Spark: their keys but for the asset, and what they read."""

    keys: Mapping[str, MaterializationKey]
    rows: LinkedOnSpark
    reads: pa.Table
    """Rows of `neighbour_reads`."""

    def batch(self, recipe: Recipe, repos: Sequence[str]) -> Batch:
        contract = recipe.contract
        if contract is NEIGHBOUR_READS:
            rows = self.reads.filter(pc.field("repo").isin(list(repos)))
        else:
            rows = self.rows.rows(contract, repos)
        keys = tuple(_key_of(recipe, self.keys[repo]) for repo in repos)
        return Batch(rows=rows, keys=keys, part=partial(self.batch, recipe))


def _key_of(recipe: Recipe, key: MaterializationKey) -> MaterializationKey:
    wanted = recipe.derivation
    return replace(key, asset=recipe.name, code_version=wanted.code_version, policy_hash=wanted.policy_hash)


def _batches(
    recipe: Recipe,
    results: Sequence[_Linked | _LinkedTogether],
    untouched: tuple[Entry, ...],
    failed: FailedPartitions,
) -> Batches:
    """One write for all repositories that were linked as a whole, and one for each of the others."""
    together = [each for each in results if isinstance(each, _LinkedTogether)]
    alone = [each for each in results if isinstance(each, _Linked)]
    batches = [
        Batch(
            rows=each.rows.pop(recipe.name),
            keys=(_key_of(recipe, each.key),),
            owners=each.owners[recipe.name],
            reasons=each.reasons,
            since=each.since,
        )
        for each in alone
        if each.owners is not None
    ]
    batches += [each.batch(recipe, list(each.keys)) for each in together]
    whole = [each for each in alone if each.owners is None]
    if whole:
        rows = pa.concat_tables([each.rows.pop(recipe.name) for each in whole])
        batches.append(Batch(rows=rows, keys=tuple(_key_of(recipe, each.key) for each in whole)))
    return Batches(batches=tuple(batches), untouched=untouched, failed=failed)


@explained()
def linked(
    lakehouse: LakehouseResource,
    partitions: Sequence[str],
    asked: Sequence[str],
    failed: FailedPartitions,
    on_spark: _OnSpark | None = None,
    *,
    much_changed: bool = False,
    makes: Makes = "stale",
) -> tuple[list[_Linked | _LinkedTogether], dict[str, tuple[Entry, ...]]]:
    """The repositories in which a table that is asked for is stale, linked, and by table the entries of the others."""
    latest = lakehouse.ledger.latest(LINKED)
    whole = {name for name in partitions if not _is_of_one_linking([latest.get((c.name, name)) for c in LINKED])}
    left = [name for name in partitions if name not in whole]
    wanted = RECIPES[asked[0]].derivation
    work, fresh = work_of(lakehouse, wanted, left, failed, much_changed=much_changed, makes=makes)
    redone, _ = work_of(lakehouse, wanted, sorted(whole), failed, whole=True)
    names = [entry.partition for entry in fresh]
    untouched = {name: tuple(latest[name, repo] for repo in names) for name in asked}
    results: list[_Linked | _LinkedTogether] = []
    stale = [each.key.partition for each in (*work, *redone)]
    entries = lakehouse.ledger.latest([SNAPSHOTS, EXTRACTS])
    versions = NeighbourVersions(lakehouse.lake, entries, lakehouse.registry.all() if stale else (), stale)
    together = {each.key.partition: each for each in (*work, *redone) if on_spark is not None and each.owners is None}
    if on_spark is not None:
        results += failed.in_parts(
            list(together),
            lambda names: _link_on_spark(lakehouse, [together[name] for name in names], versions, on_spark),
        )
    for each in (*work, *redone):
        if each.key.partition in together:
            continue
        with failed.alone(each.key.partition):
            results.append(_link(lakehouse, each, versions))
    return results, untouched


def _is_of_one_linking(entries: Sequence[Entry | None]) -> bool:
    """Whether the tables of a repository were made together, by the present code, or none of them was ever made."""
    there = [entry for entry in entries if entry is not None and entry.cursor]
    positions = {(entry.cursor, entry.input_versions) for entry in there}
    wanted = [RECIPES[entry.asset].derivation for entry in there]
    present = all(
        (entry.key.code_version, entry.key.policy_hash) == (each.code_version, each.policy_hash)
        for entry, each in zip(there, wanted, strict=True)
    )
    return not there or (len(there) == len(entries) and len(positions) == 1 and present)


def _link(lakehouse: LakehouseResource, work: Work, versions: NeighbourVersions) -> _Linked:
    lake, repo = lakehouse.lake, work.key.partition
    summaries = Summaries(lake, repo, extractors())
    neighbours = Others(lake, repo, versions, extractors())
    owners: dict[str, tuple[str, ...]] | None = None
    names: set[str] = set()
    previous = None if work.owners is None else read_state(lake, repo)
    result = link_repository(
        repo=repo, files=summaries.blobs, load=summaries.load, neighbours=neighbours, previous=previous
    )
    rows, files = rows_by_table(repo, result), {*result.relinked, *result.gone}
    if previous is not None:
        owners = _owners(result)
        names = previous.names_elsewhere(without={*result.state.solved, *result.gone})
    reasons = result.relinked | dict.fromkeys(result.gone, "gone")
    report("linking", repo, "files linked", files=len(files), solves=result.solves, parts=1)
    reads = versions.now(repo, neighbour_reads(names | names_elsewhere(rows[LINK_STATE.name])))
    changed = _changed_reads(versions.read_by(repo), reads) if owners is not None else None
    if owners is not None and changed is not None:
        owners[NEIGHBOUR_READS.name] = changed
    rows[NEIGHBOUR_READS.name] = _read_rows(repo, reads, changed)
    return _Linked(key=_with(work.key, reads), rows=rows, owners=owners, reasons=reasons, since=work.since)


def _link_on_spark(
    lakehouse: LakehouseResource, work: Sequence[Work], versions: NeighbourVersions, on_spark: _OnSpark
) -> _LinkedTogether:
    """Repositories that are linked from nothing."""
    names = [each.key.partition for each in work]
    found = link_on_spark(on_spark.session(), lakehouse.lake, names, versions, extractors(), on_spark.place)
    reads = {repo: versions.now(repo, read) for repo, read in found.reads.items()}
    for repo in names:
        report(
            "linking",
            repo,
            "files linked",
            files=found.files[repo],
            solves=found.solves[repo],
            parts=found.pieces[repo],
        )
    return _LinkedTogether(
        keys={each.key.partition: _with(each.key, reads[each.key.partition]) for each in work},
        rows=found,
        reads=pa.concat_tables([_read_rows(repo, reads[repo], None) for repo in names]),
    )


def _with(key: MaterializationKey, reads: Reads) -> MaterializationKey:
    """The key with the version of what was read of other repositories."""
    return replace(key, input_versions=json_text(json.loads(key.input_versions) | {NEIGHBOURS: version_of(reads)}))


def _changed_reads(before: Reads, now: Reads) -> tuple[str, ...]:
    """Names of repositories and modules of which something else was read than before."""
    return tuple(sorted({key[1] for key in before.keys() | now.keys() if before.get(key) != now.get(key)}))


def _read_rows(repo: str, reads: Reads, names: Collection[str] | None) -> pa.Table:
    """Rows of `neighbour_reads`: those with one of the names, or all."""
    rows = [
        {"repo": repo, "kind": kind, "name": name, "version": reads[kind, name]}
        for kind, name in sorted(reads)
        if names is None or name in names
    ]
    return arrow_rows(NEIGHBOUR_READS.columns, rows)


def _owners(result: LinkResult) -> dict[str, tuple[str, ...]]:
    """By table the files whose rows are replaced."""
    owners = {contract.name: {*result.relinked, *result.gone} for contract in LINKED}
    owners[MODULE_INDEX.name] = {*result.modules, *result.gone}
    owners[LINK_FILES.name] = {*result.state.files["path"], *result.gone}
    owners[LINK_STATE.name] = {*result.state.solved, *result.gone}
    return {name: tuple(sorted(paths)) for name, paths in owners.items()}
