"""Which contents of some snapshots the table `blobs` does not have yet, found without a JVM."""

import duckdb
import pyarrow as pa

from lakehouse_assets.contracts.blobs import BLOBS
from lakehouse_assets.lake.tables import Lake

_FEW = 5_000
_FEW_BYTES = 32 * 1024 * 1024


def missing_contents(lake: Lake, snapshots: pa.Table) -> pa.Table:
    """Each missing content once, with its size and the first repository by name that has it, in the order of shas."""
    with duckdb.connect() as connection:
        connection.register("snapshots", snapshots)
        connection.register("known", lake.ensure(BLOBS).to_pyarrow_dataset())
        return connection.sql(
            "SELECT blob_sha, min(repo) AS repo, any_value(size) AS size FROM snapshots "
            "WHERE kind IN ('file', 'executable') AND blob_sha NOT IN (SELECT blob_sha FROM known) "
            "GROUP BY blob_sha ORDER BY blob_sha"
        ).to_arrow_table()


def are_few(missing: pa.Table) -> bool:
    """Whether they can be read in this process."""
    return missing.num_rows <= _FEW and sum(missing["size"].to_pylist()) <= _FEW_BYTES
