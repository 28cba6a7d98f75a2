"""The files of the head that have facts, and what was extracted from them.

Invariant: work is found without a JVM, from small columns; payloads are read where the rows are made.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from lakehouse_assets.contracts.blobs import BLOBS
from lakehouse_assets.contracts.extracts import EXTRACTS
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.core.errors import LakeStateError
from lakehouse_assets.lake.frames import frame_of
from lakehouse_assets.lake.local_sql import local_sql
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.sql_text import in_list

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Files of some repositories: all of them, or those at the given paths."""

    repos: tuple[str, ...]
    paths: tuple[str, ...] | None = None

    @property
    def predicate(self) -> str:
        parts = [in_list('"repo"', self.repos, "datafusion")]
        if self.paths is not None:
            parts.append(in_list('"path"', self.paths, "datafusion") if self.paths else "FALSE")
        return " AND ".join(parts)


def source_files(
    lake: Lake, selection: Selection, extractors: Mapping[str, str], *, version: int | None = None
) -> pa.Table:
    """Files in one of the languages that `extractors` has, each with the version of its extractor.

    They are those of the present, or of a version of `snapshots`.
    """
    languages = in_list('"language"', sorted(extractors), "datafusion")
    columns = ["repo", "path", "blob_sha", "language", "size"]
    where = f"{selection.predicate} AND kind IN ('file', 'executable') AND {languages}"
    files = lake.read(SNAPSHOTS, columns=columns, where=where, version=version)
    versions = [extractors[language] for language in files["language"].to_pylist()]
    return files.append_column("extractor", pa.array(versions, pa.string())).sort_by(
        [("repo", "ascending"), ("path", "ascending")]
    )


def missing_extracts(lake: Lake, files: pa.Table) -> pa.Table:
    """Each content and language of the files once that has not been extracted by this version."""
    known = lake.read(EXTRACTS, columns=["blob_sha", "language", "extractor"], where=_of_blobs(files))
    with local_sql() as connection:
        connection.register("files", files)
        connection.register("known", known)
        return connection.sql(
            "SELECT blob_sha, language, extractor, any_value(size) AS size FROM files "
            "ANTI JOIN known USING (blob_sha, language, extractor) GROUP BY ALL ORDER BY blob_sha, language"
        ).to_arrow_table()


def texts_here(lake: Lake, missing: pa.Table) -> pa.Table:
    """The contents with their text, read into this process."""
    blobs = lake.read(BLOBS, columns=["blob_sha", "text"], where=_of_blobs(missing))
    with local_sql() as connection:
        connection.register("missing", missing)
        connection.register("blobs", blobs)
        return connection.sql(
            "SELECT blob_sha, language, extractor, text FROM missing JOIN blobs USING (blob_sha)"
        ).to_arrow_table()


def texts_on_spark(spark: "SparkSession", lake: Lake, missing: pa.Table) -> "DataFrame":
    """The contents with their text."""
    wanted = frame_of(spark, missing.select(["blob_sha", "language", "extractor", "size"]))
    blobs = spark.read.format("delta").load(str(lake.path(BLOBS))).select("blob_sha", "text")
    return wanted.hint("broadcast").join(blobs, "blob_sha")


def extracts_here(lake: Lake, files: pa.Table, columns: Sequence[str]) -> pa.Table:
    """The files with these columns of their extracts; refused if one has none."""
    found = lake.read(EXTRACTS, columns=["blob_sha", "language", "extractor", *columns], where=_of_blobs(files))
    with local_sql() as connection:
        connection.register("files", files)
        connection.register("found", found)
        joined = connection.sql(
            "SELECT * FROM files JOIN found USING (blob_sha, language, extractor) ORDER BY repo, path"
        ).to_arrow_table()
    if joined.num_rows != files.num_rows:
        raise not_extracted(files.num_rows - joined.num_rows)
    return joined


def extracts_on_spark(spark: "SparkSession", lake: Lake, files: pa.Table, columns: Sequence[str]) -> "DataFrame":
    """The files with these columns of their extracts; refused if one has none."""
    missing = missing_extracts(lake, files)
    if missing.num_rows:
        raise not_extracted(missing.num_rows)
    keys = ["blob_sha", "language", "extractor"]
    extracts = spark.read.format("delta").load(str(lake.path(EXTRACTS))).select(*keys, *columns)
    return frame_of(spark, files).hint("broadcast").join(extracts, keys)


def not_extracted(files: int, of: str = "") -> LakeStateError:
    return LakeStateError(
        subject="table extracts",
        seen=f"{files:,} files of the head{of} have no row there for the present extractor",
        why="the graph would lack these files, and nobody would be told",
        remedy="materialize `extracts` for these repositories first, or run `lakehouse sync`",
    )


def _of_blobs(files: pa.Table) -> str:
    """Which rows of a table by content can matter."""
    shas = sorted(set(files["blob_sha"].to_pylist()))
    return in_list('"blob_sha"', shas, "datafusion") if shas else "FALSE"
