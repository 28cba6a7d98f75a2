"""Which contents of some snapshots the table `blobs` does not have yet, found without a JVM."""

import pyarrow as pa

from lakehouse_assets.contracts.blobs import BLOBS
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.lake.local_engine import local_engine
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.relational_step import RelationalStep, over
from lakehouse_assets.plan.sql_text import in_list

_ASKED_BY_NAME = 5_000
_FEW = 30_000
_FEW_BYTES = 96 * 1024 * 1024
"""Up to here contents are read in this process, some 5,000 a second: starting a session would take longer."""


CONTENTS = RelationalStep(
    name="contents",
    sql="""
        SELECT blob_sha, min(repo) AS repo, any_value(size) AS size FROM {snapshots}
        WHERE kind IN ('file', 'executable') GROUP BY blob_sha ORDER BY blob_sha
    """,
    inputs=over(SNAPSHOTS),
    assets=(BLOBS.name,),
)
"""The contents of files, each once."""


def missing_contents(lake: Lake, snapshots: pa.Table) -> pa.Table:
    """Each missing content once, with its size and the first repository by name that has it, in the order of shas.

    Cost: few contents are asked for by name, so that files of `blobs` whose range has none of them are skipped;
    many are compared with all shas that are stored.
    """
    with local_engine() as engine:
        wanted = engine.ask_arrow(CONTENTS.text(engine.give({SNAPSHOTS.name: snapshots})))
    shas = wanted["blob_sha"].to_pylist()
    where = in_list('"blob_sha"', shas, "datafusion") if len(shas) <= _ASKED_BY_NAME else "TRUE"
    known = set(lake.read(BLOBS, columns=["blob_sha"], where=where)["blob_sha"].to_pylist()) if shas else set()
    return wanted.filter(pa.array([sha not in known for sha in shas], pa.bool_()))


def are_few(missing: pa.Table) -> bool:
    """Whether they can be read in this process."""
    return missing.num_rows <= _FEW and sum(missing["size"].to_pylist()) <= _FEW_BYTES
