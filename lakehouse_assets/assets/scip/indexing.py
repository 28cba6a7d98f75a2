"""From a commit to the scip tables: check out, run the indexers that there are, import what they wrote."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from lakehouse_assets.core.diagnostics import report
from lakehouse_assets.core.errors import EnvironmentNotReadyError
from lakehouse_assets.core.settings import Settings
from lakehouse_assets.extract.scip.encoding import encode_metadata
from lakehouse_assets.extract.scip.model import Metadata
from lakehouse_assets.lake.scip_import import ImportReport, import_index
from lakehouse_assets.sources.indexers import INDEXERS, Indexer, check_out, run_indexer
from lakehouse_assets.sources.reads import Reading


@dataclass(frozen=True, kw_only=True)
class Indexing:
    """What was imported, and which indexers the machine lacks for languages that the repository has."""

    imports: tuple[ImportReport, ...]
    missing: tuple[str, ...]


def index_repository(settings: Settings, reading: Reading, run_id: str) -> Indexing:
    """Refused if the repository has files for an indexer, but the machine has none of these.

    An indexer whose languages the repository no longer has says so with an empty index.
    """
    imports: list[ImportReport] = []
    with tempfile.TemporaryDirectory(prefix="lakehouse-indexing-") as folder:
        checkout, own = Path(folder) / "checkout", Path(folder) / "own"
        checkout.mkdir()
        own.mkdir()
        languages = set(check_out(reading, checkout))
        wanted = [indexer for indexer in INDEXERS if indexer.languages & languages]
        missing = [indexer for indexer in wanted if indexer.program is None]
        if wanted and missing == wanted:
            raise _none_installed(reading, missing)
        for indexer in INDEXERS:
            output = own / f"{indexer.name}.scip"
            if indexer in missing:
                told = f"{indexer.name} is not installed, so its documents stay as they were"
                report("indexers", reading.repository.name, told, level="warning")
                continue
            if indexer in wanted and indexer.program is not None:
                run_indexer(indexer, indexer.program, reading, checkout, output, own)
            else:
                output.write_bytes(encode_metadata(Metadata(tool=indexer.name)))
            imports.append(
                import_index(
                    settings,
                    reading.repository,
                    output,
                    cursor=reading.head.commit_sha,
                    run_id=f"{run_id}-{indexer.name}",
                )
            )
    return Indexing(imports=tuple(imports), missing=tuple(indexer.name for indexer in missing))


def _none_installed(reading: Reading, missing: list[Indexer]) -> EnvironmentNotReadyError:
    return EnvironmentNotReadyError(
        subject=f"scip indexes of repository {reading.repository.name}",
        seen=f"{' and '.join(indexer.name for indexer in missing)} not on PATH",
        why="the scip tables are made from what these programs write; nothing else needs them",
        remedy="; ".join(indexer.remedy for indexer in missing)
        + "; or bring an index that was made elsewhere with `lakehouse scip import`",
    )
