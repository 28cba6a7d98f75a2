"""Texts of contents that the lake has."""

from collections.abc import Sequence

from lakehouse_assets.contracts.blobs import BLOBS
from lakehouse_assets.lake.tables import Lake
from lakehouse_assets.plan.sql_text import in_list


def stored_texts(lake: Lake, shas: Sequence[str]) -> dict[str, str]:
    """By blob sha, as far as `blobs` has them; contents without text are left out."""
    blobs = in_list('"blob_sha"', shas, "datafusion")
    rows = lake.read(BLOBS, columns=["blob_sha", "text"], where=f"{blobs} AND text IS NOT NULL")
    return dict(zip(rows["blob_sha"].to_pylist(), rows["text"].to_pylist(), strict=True))
