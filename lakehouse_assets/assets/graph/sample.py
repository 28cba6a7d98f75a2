"""Some files of a repository made clean, step by step, and compared with what the lake holds of them.

Invariant: each step is repeated from the rows that it was made from, so that a difference is shown where it arose:
contents are extracted again, files are linked again with what all others told, facts and links are placed again.
Cost: the files of the sample, what linking them reads, and the narrow columns of linking's state; no JVM, no write.
"""

from collections.abc import Sequence
from typing import Any, NoReturn

import pyarrow as pa

from lakehouse_assets.contracts.extracts import EXTRACTS
from lakehouse_assets.contracts.schemas import arrow_schema
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.core.hashing import fingerprint
from lakehouse_assets.extract.rows import extract_rows
from lakehouse_assets.lake.comparison import Difference, compare_rows
from lakehouse_assets.lake.graph_work import payload_work
from lakehouse_assets.lake.link_store import Others, Summaries, read_state
from lakehouse_assets.lake.neighbours import NeighbourVersions
from lakehouse_assets.lake.resources import LakehouseResource
from lakehouse_assets.lake.source_files import Selection, source_files, texts_here
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.link.repository import link_repository
from lakehouse_assets.plan.sql_text import in_list
from lakehouse_assets.recipes.catalog import RECIPES
from lakehouse_assets.recipes.extractors import extractors
from lakehouse_assets.recipes.graph import LINKED, PLACED_RECIPES, PlacedRecipe

SAMPLED_TABLES: tuple[TableContract, ...] = tuple(each.contract for each in RECIPES.values() if each.sampled)
_LINKED = tuple(each for each in LINKED if each in SAMPLED_TABLES)


def sample_of(lake: Lake, repo: str, *, files: int, seed: str) -> tuple[str, ...]:
    """Paths of some of the repository's source files; another seed gives others."""
    paths = source_files(lake, Selection(repos=(repo,)), extractors())["path"].to_pylist()
    return tuple(sorted(sorted(paths, key=lambda path: fingerprint([seed, path]))[:files]))


def compared_sample(lakehouse: LakehouseResource, repo: str, paths: Sequence[str]) -> list[Difference]:
    """How the rows of the files differ from clean ones, table by table."""
    selection = Selection(repos=(repo,), paths=tuple(paths))
    return [
        _extracted(lakehouse.lake, selection),
        *_linked(lakehouse, repo, paths),
        *(_placed(lakehouse.lake, recipe, selection) for recipe in PLACED_RECIPES),
    ]


def _extracted(lake: Lake, selection: Selection) -> Difference:
    keys = ["blob_sha", "language", "extractor"]
    contents = source_files(lake, selection, extractors()).group_by(keys).aggregate([])
    where = in_list('"blob_sha"', sorted(set(contents["blob_sha"].to_pylist())), "datafusion")
    held = lake.read(EXTRACTS, where=where)
    wanted = set(zip(*(contents[key].to_pylist() for key in keys), strict=True))
    held = held.filter(pa.array([key in wanted for key in zip(*(held[key].to_pylist() for key in keys), strict=True)]))
    texts = texts_here(lake, contents)
    clean = pa.Table.from_batches(extract_rows(iter(texts.to_batches())), schema=arrow_schema(EXTRACTS.columns))
    return compare_rows(EXTRACTS, held, clean)


def _linked(lakehouse: LakehouseResource, repo: str, paths: Sequence[str]) -> list[Difference]:
    """Also of files outside the sample, if linking it again would give them other rows."""
    lake = lakehouse.lake
    summaries = Summaries(lake, repo, extractors())
    latest = lakehouse.ledger.latest([SNAPSHOTS, EXTRACTS])
    versions = NeighbourVersions(lake, latest, lakehouse.registry.all(), [repo])
    result = link_repository(
        repo=repo,
        files=summaries.blobs,
        load=summaries.load,
        neighbours=Others(lake, repo, versions, extractors()),
        previous=read_state(lake, repo).doubting(paths),
    )
    linked = Selection(repos=(repo,), paths=tuple(sorted({*result.relinked, *result.gone})))
    return [
        compare_rows(
            contract,
            lake.read(contract, where=linked.predicate),
            pa.table(getattr(result, contract.name), schema=arrow_schema(contract.columns)),
        )
        for contract in _LINKED
    ]


def _placed(lake: Lake, recipe: PlacedRecipe, selection: Selection) -> Difference:
    contract = recipe.contract
    work: Any = payload_work(lake, _no_session, selection, extractors(), recipe.work, engine="local")
    clean = pa.Table.from_batches(recipe.place(iter(work.to_batches())), schema=arrow_schema(contract.columns))
    return compare_rows(contract, lake.read(contract, where=selection.predicate), clean)


def _no_session() -> NoReturn:
    raise AssertionError("a sample is made in this process")
